//! Plugins that cannot be loaded. The tests show which commands work without these plugins, which commands are refused,
//! and which refusals come before any compilation.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::plugins::built_guests::guest;
use crate::support::program::{CommandOutput, command_output, latch_command};
use crate::support::test_env::{TestEnv, step};

/// Creates an environment with the witness tools and a plugin whose component is missing.
fn env_with_missing_plugin() -> TestEnv {
    TestEnv::witness("atomic").configure("[[plugin]]\nname = \"gone\"\nsource = \"gone.wasm\"")
}

/// Returns steps that use only tools of loadable plugins.
fn tool_steps() -> [Value; 2] {
    [step("o", "Effect.Opaque", &[], json!({ "note": 1 })), step("k", "Effect.Keyed", &["o"], json!({ "note": 2 }))]
}

/// Checks for an error with this code that names the plugin, and returns its message.
fn assert_plugin_refused(ran: &CommandOutput, code: &str, plugin: &str) -> String {
    let error = ran.json()["error"].clone();
    assert_eq!((ran.code, error["code"].as_str()), (2, Some(code)), "{} {}", ran.stdout, ran.stderr);
    let problems = error["problems"].as_array().expect("a list");
    assert!(problems.iter().any(|problem| problem["plugin"] == plugin), "{error:#}");
    error["message"].as_str().expect("a sentence").to_owned()
}

/// I160: with an unloadable plugin configured, a plan that uses only loadable tools runs, and jobs can be
/// inspected.
#[test]
fn plan_of_loadable_tools_runs_with_a_broken_plugin_configured() {
    let place = env_with_missing_plugin().with_plan(&tool_steps()).with_approved(vec!["o", "k"]);
    let done = place.latch(&place.run_args());
    assert_eq!((done.code, &done.json()["state"]), (0, &json!("COMPLETED")), "{} {}", done.stdout, done.stderr);
    assert!(done.stderr.contains("\"gone\" cannot be loaded"), "{}", done.stderr);
    let id = place.only_job()["job_id"].as_str().expect("an id").to_owned();
    for args in [&["job", "show", &id][..], &["job", "events", &id], &["job", "costs"], &["job", "replay", &id]] {
        let looked = place.latch(args);
        assert_eq!(looked.code, 0, "{args:?} {} {}", looked.stdout, looked.stderr);
    }
    // A worker reports the missing plugin and continues to work.
    std::fs::write(place.dir.join("plan.json"), plan_text(&[step("p", "Effect.Opaque", &[], json!({ "note": 9 }))]))
        .unwrap();
    let left = place.latch(&[&place.run_args()[..3], &["--actor", "ada", "--approve", "p", "--detach"]].concat()[..]);
    assert_eq!(left.code, 0, "{} {}", left.stdout, left.stderr);
    let worker = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!((worker.code, &worker.json()["rested"]["COMPLETED"]), (0, &json!(1)), "{}", worker.stderr);
    assert!(worker.stderr.contains("\"gone\" cannot be loaded"), "{}", worker.stderr);
}

fn plan_text(steps: &[Value]) -> String {
    json!({ "plan_id": "p", "schema_version": "1.0", "steps": steps }).to_string()
}

/// I160: while a plugin is broken, a plan with a step plugin is refused, because the step plugin may call any
/// operator. The error names the broken plugin.
#[test]
fn plan_with_a_step_plugin_is_refused_while_a_plugin_is_broken() {
    let place = env_with_missing_plugin();
    for command in ["run", "plan check"] {
        let args: Vec<&str> = command.split(' ').chain(["plan.json", "--json"]).collect();
        let message = assert_plugin_refused(&place.latch(&args), "L0020", "gone");
        assert!(message.contains("Driver.Run") && message.contains("gone"), "{message}");
    }
    assert_eq!(place.only_job(), Value::Null);

    // An operator that no loaded plugin serves may belong to the broken plugin.
    let place = place.with_plan(&[step("g", "Gone.Do", &[], json!({}))]);
    let ran = place.latch(&["run", "plan.json", "--json"]);
    let message = assert_plugin_refused(&ran, "L0020", "gone");
    assert!(message.starts_with("Gone.Do belongs to") && message.contains("or to no loaded plugin"), "{message}");
}

/// I160: the list shows the loadable plugins next to the broken plugin, and the exit code is 2.
#[test]
fn broken_plugin_is_listed_with_its_reason() {
    let place = env_with_missing_plugin();
    let listed = place.latch(&["plugin", "list", "--json"]);
    assert_plugin_refused(&listed, "L0020", "gone");
    let names: Vec<_> = listed.json()["plugins"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["witness", "witness-queryable", "witness-step"]);
    let listed = place.latch(&["plugin", "list"]);
    assert_eq!(listed.code, 2);
    assert!(
        listed.stdout.contains("witness-step") && listed.stderr.contains("gone.wasm"),
        "{} {}",
        listed.stdout,
        listed.stderr
    );
}

/// I160: an operator that two plugins declare is served by neither plugin. The first plugin still serves its other
/// operators.
#[test]
fn operator_of_two_plugins_is_served_by_neither() {
    let place = TestEnv::witness("atomic").fresh_copy();
    let config = std::fs::read_to_string(place.dir.join("latch.toml")).unwrap();
    let first = config.split("[[plugin]]").nth(1).expect("a plugin").replace("\"witness\"", "\"again\"");
    let place = place.configure(&format!("[[plugin]]{first}")).with_plan(&tool_steps()[..1]);
    let message = assert_plugin_refused(&place.latch(&["run", "plan.json", "--json"]), "L0024", "again");
    assert!(message.contains("could not be loaded"), "{message}");
    // No loaded plugin serves this operator. The refused plugin may serve it, so the error names the refused plugin and
    // does not report an unknown operator.
    let place = place.with_plan(&[step("n", "Nobody.Does", &[], json!({}))]);
    for command in ["run", "plan check"] {
        let args: Vec<&str> = command.split(' ').chain(["plan.json", "--json"]).collect();
        let ran = place.latch(&args);
        assert_plugin_refused(&ran, "L0024", "again");
        assert!(!ran.stdout.contains("P012"), "{command}: {}", ran.stdout);
    }
    let place = place.with_plan(&[step("q", "Effect.Queryable", &[], json!({ "note": 1 }))]).with_approved(vec!["q"]);
    assert_eq!(place.latch(&place.run_args()).code, 0);
}

/// Runs a command with an empty cache of its own, and returns the number of components that it compiled.
fn run_with_empty_cache(place: &TestEnv, args: &[&str]) -> (CommandOutput, usize) {
    let cache = tempfile::tempdir().expect("a temporary folder");
    let mut command = latch_command(&place.dir, args);
    let ran =
        command_output(command.env("LATCH_CACHE_DIR", cache.path().join("compiled")).output().expect("latch runs"));
    (ran, compiled_files(&cache.path().join("compiled")).len())
}

fn compiled_files(cache: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(cache) else { return vec![] };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|kind| kind == "aot")).collect()
}

/// I161: an error that needs no compilation is reported before anything is compiled, and no database is
/// created.
#[test]
fn errors_known_without_compiling_are_reported_before_compiling() {
    let place = || TestEnv::witness("atomic").fresh_copy();
    let tool = guest("hostile-tool");
    let entry = |more: &str| format!("[[plugin]]\nname = \"late\"\nsource = {tool:?}\n{more}");
    let digest = format!("digest = \"sha256:{}\"", "0".repeat(64));
    let reads = "grants = { http = [\"https://a.example:443\"], tcp = [\"b.example:25\"], dirs = [{ host = \"none\", guest = \"/n\" }] }";
    for (more, code) in [("", "L0022"), (&digest[..], "L0021"), (reads, "L0020")] {
        let place = place().configure(&entry(more));
        for command in ["run", "plan check"] {
            let args: Vec<&str> = command.split(' ').chain(["plan.json", "--json"]).collect();
            let (ran, compiled) = run_with_empty_cache(&place, &args);
            assert_plugin_refused(&ran, code, "late");
            assert_eq!(compiled, 0, "{command} {code}: compiled before it was refused");
        }
        assert!(!place.dir.join("latch.db").exists(), "{code}: no database is created");
    }
    // The plan names only an operator of the refused plugin.
    let place = place().configure(&entry("")).with_plan(&[step("w", "World.Look", &[], json!({}))]);
    let (ran, count) = run_with_empty_cache(&place, &["run", "plan.json", "--json"]);
    assert_plugin_refused(&ran, "L0022", "late");
    assert!(ran.stdout.contains("grants = { http"), "the line to add: {}", ran.stdout);
    assert_eq!(count, 0);
    // This plan is invalid, no matter which plugins are configured.
    let place = place.with_plan(&[json!({ "step_id": "a b" })]);
    let (ran, count) = run_with_empty_cache(&place, &["run", "plan.json", "--json"]);
    assert_eq!((ran.code, &ran.json()["error"]["code"], count), (2, &json!("L0012"), 0), "{}", ran.stdout);
}

/// I160: plugins without a known error are compiled, and a plan that does not need the refused plugin runs.
#[test]
fn plan_without_the_refused_plugin_is_compiled_and_run() {
    let entry = format!("[[plugin]]\nname = \"late\"\nsource = {:?}", guest("hostile-tool"));
    let place = TestEnv::witness("atomic")
        .fresh_copy()
        .configure(&entry)
        .with_plan(&tool_steps())
        .with_approved(vec!["o", "k"]);
    let (ran, compiled) = run_with_empty_cache(&place, &place.run_args());
    assert_eq!((ran.code, compiled), (0, 3), "{} {}", ran.stdout, ran.stderr);
}

/// I161: a file that is not a component is recognized by its first bytes and refused before anything is
/// compiled.
#[test]
fn file_that_is_not_a_component_is_refused_before_compiling() {
    let place = TestEnv::configured("[[plugin]]\nname = \"g\"\nsource = \"g.wasm\"\n", vec![]);
    std::fs::write(place.dir.join("g.wasm"), "not it\n").unwrap();
    let listed = place.latch(&["plugin", "list", "--json"]);
    let error = listed.json()["error"].clone();
    assert_eq!((listed.code, error["code"].as_str()), (2, Some("L0023")), "{} {}", listed.stdout, listed.stderr);
    assert!(error["problems"][0]["message"].as_str().unwrap().contains("text, not WebAssembly"), "{error:#}");
    assert!(!listed.stderr.contains("compiling"), "{}", listed.stderr);
}
