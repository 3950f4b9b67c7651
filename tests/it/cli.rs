//! The command line: answers, errors and exit codes as a person and a script see them.

use std::process::Stdio;

use crate::program::{latch, ran, run};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn help_and_version_are_answers() {
    let folder = folder();
    let version = run(folder.path(), &["--version"]);
    assert_eq!((version.code, version.stdout.trim()), (0, concat!("latch ", env!("CARGO_PKG_VERSION"))));
    let help = run(folder.path(), &["help"]);
    assert_eq!(help.code, 0);
    for verb in ["run", "resume", "job", "plan", "plugin", "explain", "doctor", "bench", "completions", "man"] {
        assert!(help.stdout.lines().any(|line| line.trim_start().starts_with(verb)), "{verb}: {}", help.stdout);
    }
}

#[test]
fn errors_of_usage_end_with_2_and_are_json_where_json_is_wanted() {
    let folder = folder();
    let plain = run(folder.path(), &["explian"]);
    assert_eq!((plain.code, plain.stdout.as_str()), (2, ""));
    assert!(plain.stderr.contains("'explain'"), "the nearest verb is named: {}", plain.stderr);
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
        let ran = run(folder.path(), args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert_eq!(ran.json()["error"]["code"], "L0010", "{args:?}");
        assert_eq!(ran.stderr, "", "{args:?}");
    }
}

#[test]
fn problems_of_the_configuration_are_all_shown_with_exit_2() {
    let folder = folder();
    std::fs::write(folder.path().join("latch.toml"), "databse = 1\nlease = 2\n").unwrap();
    let plain = run(folder.path(), &["plugin", "list"]);
    assert_eq!((plain.code, plain.stdout.as_str()), (2, ""));
    for part in ["latch.toml:1:1", "did you mean `database`?", "latch.toml:2:9", "L0003", "L0005", "latch explain"] {
        assert!(plain.stderr.contains(part), "{part}: {}", plain.stderr);
    }
    let json = run(folder.path(), &["plugin", "list", "--json"]).json();
    assert_eq!(json["error"]["code"], "L0003");
    assert_eq!(json["error"]["problems"][0]["line"], 1);
    assert_eq!(json["error"]["problems"][1]["key"], "lease");
    assert_eq!(json["error"]["problems"][1]["column"], 9);
}

#[test]
fn every_code_is_explained() {
    let folder = folder();
    let page = run(folder.path(), &["explain", "indeterminate_effect"]);
    assert_eq!(page.code, 0);
    for section in ["What happened", "Usual cause", "What to do", "latch job resolve"] {
        assert!(page.stdout.contains(section), "{section}: {}", page.stdout);
    }
    let all = run(folder.path(), &["--json", "explain"]).json();
    let codes: Vec<_> = all["codes"].as_array().unwrap().iter().map(|code| code["code"].as_str().unwrap()).collect();
    assert!(codes.len() > 60 && codes.contains(&"L0001") && codes.contains(&"RATE_LIMIT"), "{codes:?}");

    let unknown = run(folder.path(), &["explain", "RATE_LIMITS"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("did you mean RATE_LIMIT?"), "{}", unknown.stderr);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = folder();
    let mut child = latch(folder.path(), &["explain"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = ran(child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ended = ran(latch(folder().path(), &["explain"]).stdout(full).stderr(Stdio::piped()).output().unwrap());
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("L0040"), "{}", ended.stderr);
}

#[test]
fn completions_and_pages_are_complete() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish"] {
        let script = run(folder.path(), &["completions", shell]);
        assert_eq!(script.code, 0);
        assert!(script.stdout.contains("every-prefix"), "{shell}");
    }
    let man = run(folder.path(), &["--json", "man", "pages"]);
    assert_eq!(man.code, 0, "{}", man.stderr);
    let pages = man.json();
    for page in ["pages/latch.1", "pages/latch-run.1", "pages/latch-job-resolve.1"] {
        assert!(pages["pages"].as_array().unwrap().contains(&page.into()), "{pages}");
        assert!(std::fs::metadata(folder.path().join(page)).unwrap().len() > 200);
    }
}

#[test]
fn colours_are_for_terminals() {
    let folder = folder();
    let ran = run(folder.path(), &["explain", "nonsense"]);
    assert!(!ran.stderr.contains('\u{1b}'), "{:?}", ran.stderr);
}

#[test]
fn log_lines_go_to_stderr_in_the_form_asked_for() {
    let folder = folder();
    let ran = ran(latch(folder.path(), &["explain", "--log-format", "json"])
        .env("LATCH_LOG", "=/=nonsense")
        .output()
        .unwrap());
    assert_eq!(ran.code, 0);
    let line: serde_json::Value = serde_json::from_str(ran.stderr.lines().next().expect("a warning")).unwrap();
    assert_eq!(line["level"], "WARN");
}
