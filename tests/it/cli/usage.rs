//! Command line: answers, errors and exit codes as a user and a script see them.

use std::process::Stdio;

use crate::support::plugins::built_guests::guest;
use crate::support::program::{command_output, latch_command, run_latch};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn help_and_version_print_to_stdout() {
    let folder = folder();
    let version = run_latch(folder.path(), &["--version"]);
    assert_eq!((version.code, version.stdout.trim()), (0, concat!("latch ", env!("CARGO_PKG_VERSION"))));
    let help = run_latch(folder.path(), &["help"]);
    assert_eq!(help.code, 0);
    for verb in ["run", "resume", "job", "plan", "plugin", "verify", "key", "explain", "doctor", "completions", "man"] {
        assert!(help.stdout.lines().any(|line| line.trim_start().starts_with(verb)), "{verb}: {}", help.stdout);
    }
}

#[test]
fn usage_errors_exit_with_2_and_are_json_on_request() {
    let folder = folder();
    let plain = run_latch(folder.path(), &["explian"]);
    assert_eq!((plain.code, plain.stdout.as_str()), (2, ""));
    assert!(plain.stderr.contains("'explain'"), "the nearest verb is named: {}", plain.stderr);
    assert!(plain.stderr.starts_with("error[L0010]:"), "{}", plain.stderr);
    let tenant = run_latch(folder.path(), &["run", "plan.json", "--tenant", ""]);
    assert!(tenant.code == 2 && tenant.stderr.contains("the name of a tenant"), "{}", tenant.stderr);
    for args in [
        &["--json", "rnu"][..],
        &["job", "show", "--json"],
        &["--json", "job", "resolve", "job_1", "s1"],
        &["--json", "job", "resolve", "job_1", "s1", "--applied", "f", "--abort"],
        &["--json", "job", "resolve", "job_1", "--not-applied"],
        &["--json", "job", "resolve", "job_1", "s1", "--continue"],
        &["--json", "run", "plan.json", "--mode", "SOMEHOW"],
        &["--json", "run", "plan.json", "--approve", "not a step"],
        &["--json", "job", "show", "1234"],
    ] {
        let ran = run_latch(folder.path(), args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert_eq!(ran.json()["error"]["code"], "L0010", "{args:?}");
        assert_eq!(ran.stderr, "", "{args:?}");
    }
}

#[test]
fn all_configuration_problems_are_reported_with_exit_code_2() {
    let folder = folder();
    std::fs::write(folder.path().join("latch.toml"), "databse = 1\nlease = 2\n").unwrap();
    let plain = run_latch(folder.path(), &["plugin", "list"]);
    assert_eq!((plain.code, plain.stdout.as_str()), (2, ""));
    for part in ["latch.toml:1:1", "did you mean `database`?", "latch.toml:2:9", "L0003", "L0005", "latch explain"] {
        assert!(plain.stderr.contains(part), "{part}: {}", plain.stderr);
    }
    let json = run_latch(folder.path(), &["plugin", "list", "--json"]).json();
    assert_eq!(json["error"]["code"], "L0003");
    assert_eq!(json["error"]["problems"][0]["line"], 1);
    assert_eq!(json["error"]["problems"][1]["key"], "lease");
    assert_eq!(json["error"]["problems"][1]["column"], 9);
}

#[test]
fn every_code_is_explained() {
    let folder = folder();
    let page = run_latch(folder.path(), &["explain", "indeterminate_effect"]);
    assert_eq!(page.code, 0);
    for section in ["What happened", "Usual cause", "What to do", "latch job resolve"] {
        assert!(page.stdout.contains(section), "{section}: {}", page.stdout);
    }
    let all = run_latch(folder.path(), &["--json", "explain"]).json();
    let codes: Vec<_> = all["codes"].as_array().unwrap().iter().map(|code| code["code"].as_str().unwrap()).collect();
    assert!(codes.len() > 60 && codes.contains(&"L0001") && codes.contains(&"RATE_LIMIT"), "{codes:?}");

    let unknown = run_latch(folder.path(), &["explain", "RATE_LIMITS"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("did you mean RATE_LIMIT?"), "{}", unknown.stderr);
}

#[test]
fn closed_output_pipe_is_not_an_error() {
    let folder = folder();
    let mut child =
        latch_command(folder.path(), &["explain"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = command_output(child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

#[test]
fn unwritable_output_is_an_error() {
    for command in ["explain", "--help", "--version"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended = command_output(
            latch_command(folder().path(), &[command]).stdout(full).stderr(Stdio::piped()).output().unwrap(),
        );
        assert_eq!(ended.code, 1, "{command}");
        assert!(ended.stderr.contains("L0040"), "{command}: {}", ended.stderr);
    }
}

#[test]
fn completions_and_man_pages_are_complete() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish"] {
        let script = run_latch(folder.path(), &["completions", shell]);
        assert_eq!(script.code, 0);
        assert!(script.stdout.contains("every-prefix"), "{shell}");
    }
    let man = run_latch(folder.path(), &["--json", "man", "pages"]);
    assert_eq!(man.code, 0, "{}", man.stderr);
    let pages = man.json();
    for page in ["pages/latch.1", "pages/latch-run.1", "pages/latch-job-resolve.1"] {
        assert!(pages["pages"].as_array().unwrap().contains(&page.into()), "{pages}");
        assert!(std::fs::metadata(folder.path().join(page)).unwrap().len() > 200);
    }
}

#[test]
fn colours_are_used_only_on_terminals() {
    let folder = folder();
    let ran = run_latch(folder.path(), &["explain", "nonsense"]);
    assert!(!ran.stderr.contains('\u{1b}'), "{:?}", ran.stderr);
}

#[test]
fn log_lines_go_to_stderr_in_the_requested_format() {
    let folder = folder();
    let ran = command_output(
        latch_command(folder.path(), &["explain", "--log-format", "json"])
            .env("LATCH_LOG", "=/=nonsense")
            .output()
            .unwrap(),
    );
    assert_eq!(ran.code, 0);
    let line: serde_json::Value = serde_json::from_str(ran.stderr.lines().next().expect("a warning")).unwrap();
    assert_eq!(line["level"], "WARN");
}

/// A plan of three steps with ten mistakes of different kinds.
const TEN_MISTAKES: &str = r#"{
  "plan_id": "ten",
  "schema_version": "7.0",
  "colour": "blue",
  "steps": [
    {
      "step_id": "s 1", "kind": "operator", "name": "Page.Read", "payload": {}, "depends_on": ["s9"],
      "effects": ["read_only", "read_only"], "policy_tags": [], "cache_policy": "sometimes",
      "idempotency_template": "page:{url"
    },
    {
      "step_id": "s2", "kind": "operator", "name": "Page.Read", "payload": {"text": {"$ref": "s3#/text"}},
      "depends_on": [], "policy_tags": [], "cache_policy": "never", "idempotency_template": "page:{nobody}"
    },
    {
      "step_id": "s3", "kind": "operator", "name": "Page.Read", "payload": {}, "depends_on": ["s3"],
      "effects": ["read_only"], "policy_tags": [], "cache_policy": "never", "idempotency_template": "x",
      "timeout": "soon"
    }
  ]
}"#;

#[test]
fn ten_mistakes_in_a_plan_give_ten_located_errors() {
    let folder = folder();
    std::fs::write(folder.path().join("plan.json"), TEN_MISTAKES).unwrap();
    let ran = run_latch(folder.path(), &["--json", "plan", "check", "plan.json", "--no-plugins"]);
    assert_eq!(ran.code, 2);
    let json = ran.json();
    assert_eq!(json["error"]["code"], "L0012");
    let problems = json["error"]["problems"].as_array().unwrap();
    let kinds: std::collections::BTreeSet<_> = problems.iter().map(|p| p["code"].as_str().unwrap()).collect();
    assert!(kinds.len() >= 10, "{kinds:?} of {problems:#?}");
    for problem in problems {
        assert!(problem["line"].as_u64().unwrap() >= 1 && problem["column"].as_u64().unwrap() >= 1, "{problem}");
        assert!(problem["pointer"].is_string() && problem["message"].as_str().unwrap().len() > 10, "{problem}");
        let code = problem["code"].as_str().unwrap();
        assert_eq!(run_latch(folder.path(), &["explain", code]).code, 0, "{code} is explained");
    }
    let plain = run_latch(folder.path(), &["plan", "check", "plan.json", "--no-plugins"]);
    assert_eq!(plain.stderr.lines().filter(|line| line.starts_with("  ")).count(), problems.len(), "{}", plain.stderr);
}

#[test]
fn plan_schema_is_json_with_and_without_the_json_flag() {
    let folder = folder();
    for args in [&["plan", "schema"][..], &["--json", "plan", "schema"]] {
        let schema = run_latch(folder.path(), args).json();
        assert!(schema["$schema"].is_string(), "{schema}");
    }
}

#[test]
fn missing_file_is_named_in_the_error() {
    let folder = folder();
    for args in [&["--json", "plan", "check", "gone.json"][..], &["--json", "plugin", "inspect", "gone.json"]] {
        let ran = run_latch(folder.path(), args);
        assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (2, Some("L0011")), "{args:?}");
        assert!(ran.json()["error"]["message"].as_str().unwrap().contains("gone.json"));
    }
}

#[test]
fn damaged_database_is_reported_and_not_changed() {
    let folder = folder();
    let damage = b"SQLite format 3\0 and then something else".repeat(200);
    std::fs::write(folder.path().join("latch.db"), &damage).unwrap();
    let ran = run_latch(folder.path(), &["--json", "job", "list"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert_eq!(ran.json()["error"]["code"], "L0030", "{}", ran.stdout);
    assert_eq!(std::fs::read(folder.path().join("latch.db")).unwrap(), damage, "the damaged file is unchanged");
    let doctor = run_latch(folder.path(), &["--json", "doctor"]);
    assert_eq!(doctor.code, 1);
    let json = doctor.json();
    let database = json["checks"].as_array().unwrap().iter().find(|check| check["check"] == "database").unwrap();
    assert_eq!(database["verdict"], "fail");
    assert!(database["fix"].as_str().unwrap().contains("L0030"), "{database}");
}

#[test]
fn unusable_database_folder_is_named_in_the_error() {
    let folder = folder();
    let ran = run_latch(folder.path(), &["--json", "--db", "sqlite://no/such/folder/latch.db", "job", "list"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert_eq!(ran.json()["error"]["code"], "L0032", "{}", ran.stdout);
    assert!(ran.json()["error"]["message"].as_str().unwrap().contains("no/such/folder"), "{}", ran.stdout);
}

#[test]
fn unwritable_output_path_is_a_usage_error() {
    let folder = folder();
    for args in [&["key", "new", "no/such/key.pem"][..], &["man", "/dev/null/pages"]] {
        let ran = run_latch(folder.path(), &[args, &["--json"]].concat());
        assert_eq!((ran.code, &ran.json()["error"]["code"]), (2, &"L0040".into()), "{args:?} {}", ran.stdout);
    }
}

#[test]
fn missing_job_is_a_usage_error() {
    let folder = folder();
    std::fs::write(folder.path().join("latch.toml"), "").unwrap();
    let ran = run_latch(folder.path(), &["--json", "job", "show", "job_01ARZ3NDEKTSV4RRFFQ69G5FAV"]);
    assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (2, Some("L0014")), "{}", ran.stdout);
}

#[test]
fn doctor_passes_in_an_empty_folder_and_creates_no_database() {
    let folder = folder();
    let ran = run_latch(folder.path(), &["--json", "doctor"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let json = ran.json();
    let names: Vec<_> = json["checks"].as_array().unwrap().iter().map(|c| c["check"].as_str().unwrap()).collect();
    for name in ["configuration", "database", "state directory", "plugins", "toolchain", "clock"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(!folder.path().join("latch.db").exists(), "looking makes no database");
}

#[test]
fn missing_plugin_and_wrong_digest_are_reported() {
    let folder = folder();
    let config = folder.path().join("latch.toml");
    std::fs::write(&config, "[[plugin]]\nname = \"gone\"\nsource = \"gone.wasm\"\n").unwrap();
    let missing = run_latch(folder.path(), &["--json", "plugin", "list"]);
    assert_eq!(missing.code, 2, "{}", missing.stdout);
    assert_eq!(missing.json()["error"]["problems"][0]["code"], "L0020");
    assert_eq!(missing.json()["error"]["problems"][0]["plugin"], "gone");

    let guest = guest("chatty-step");
    let digest = "0".repeat(64);
    let text = format!("[[plugin]]\nname = \"other\"\nsource = {guest:?}\ndigest = \"sha256:{digest}\"\n");
    std::fs::write(&config, text).unwrap();
    let wrong = run_latch(folder.path(), &["--json", "plugin", "list"]);
    assert_eq!(wrong.code, 2, "{}", wrong.stdout);
    assert_eq!(wrong.json()["error"]["problems"][0]["code"], "L0021");
    assert!(wrong.json()["error"]["problems"][0]["message"].as_str().unwrap().contains(&digest), "{}", wrong.stdout);
}

#[test]
fn plugin_inspect_shows_imports_operators_and_limits_of_access() {
    let folder = folder();
    let file = guest("hostile-step");
    let file = file.to_str().unwrap();
    let ran = run_latch(folder.path(), &["--json", "plugin", "inspect", file]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let json = ran.json();
    assert_eq!((json["verdict"].as_str(), json["loads"].as_bool()), (Some("step"), Some(true)));
    assert!(json["digest"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(json["bytes"].as_u64().unwrap(), std::fs::metadata(file).unwrap().len());
    let host = |import: &serde_json::Value| {
        import["class"] == "host" && import["name"].as_str().unwrap().contains("latchwork:")
    };
    assert!(json["imports"].as_array().unwrap().iter().all(host));
    assert!(json["operators"][0]["input_schema"].is_object() || json["operators"][0]["input_schema"].is_boolean());
    assert!(!json["may_not_reach"].as_array().unwrap().is_empty());

    let entry = format!("[[plugin]]\nname = \"w\"\nsource = {:?}\n", guest("wasi-step"));
    std::fs::write(folder.path().join("wasi.toml"), entry).unwrap();
    let file = guest("wasi-step");
    let refused =
        run_latch(folder.path(), &["--json", "--config", "wasi.toml", "plugin", "inspect", file.to_str().unwrap()]);
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    let json = refused.json();
    assert_eq!((&json["verdict"], &json["configured_as"]), (&"neither".into(), &"w".into()));
    let differences = json["difference"]["here"].as_array().unwrap();
    let imports = json["imports"].as_array().unwrap().iter().map(|import| import["name"].as_str().unwrap());
    let wasi: Vec<_> = imports.filter(|import| import.starts_with("wasi:")).collect();
    assert!(!wasi.is_empty());
    for import in wasi {
        assert!(differences.iter().any(|it| it["interface"] == import), "{import} is named: {differences:?}");
    }

    std::fs::write(folder.path().join("text.wasm"), "not a component").unwrap();
    let text = run_latch(folder.path(), &["--json", "plugin", "inspect", "text.wasm"]);
    assert_eq!((text.code, text.json()["form"].as_str()), (1, Some("text")), "{}", text.stdout);
}
