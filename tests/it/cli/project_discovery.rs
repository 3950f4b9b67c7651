//! Project discovery: in a subfolder, in a folder without a project, and with a plan of another project.

use std::path::Path;

use serde_json::json;

use crate::support::program::{command_output, latch_command, run_latch};
use crate::support::test_env::wait;

/// Returns a plan that needs no plugin and waits for a signal.
fn waiting_plan() -> String {
    let payload = json!({ "wait_kind": "signal", "correlation_key": "go" });
    json!({ "plan_id": "p", "schema_version": "1.0", "steps": [wait("w", payload)] }).to_string()
}

/// Returns a project with one waiting job, and the job's id.
fn project_with_waiting_job() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("latch.toml"), "database = \"sqlite://data/jobs.db\"\n").unwrap();
    std::fs::write(folder.path().join("plan.json"), waiting_plan()).unwrap();
    std::fs::create_dir_all(folder.path().join("data")).unwrap();
    std::fs::create_dir_all(folder.path().join("docs/deep")).unwrap();
    let ran = run_latch(folder.path(), &["run", "plan.json", "--json"]);
    assert_eq!(ran.code, 3, "{} {}", ran.stdout, ran.stderr);
    let job = ran.json()["job_id"].as_str().unwrap().to_owned();
    (folder, job)
}

fn file_names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// I165: relative paths in a configuration start at the folder of the configuration, not at the current folder.
#[test]
fn subfolder_finds_the_configuration_above_it() {
    let (folder, job) = project_with_waiting_job();
    let deep = folder.path().join("docs/deep");
    let run =
        |args: &[&str]| command_output(latch_command(&deep, args).env("LATCH_TRUST_CONFIG", "1").output().unwrap());
    let listed = run(&["job", "list", "--json"]);
    assert_eq!(listed.code, 0, "{} {}", listed.stdout, listed.stderr);
    assert_eq!(listed.json()["jobs"][0]["job_id"], job.as_str());
    let displayed = run(&["job", "show", &job, "--json"]).json();
    let next = displayed["next_actions"][0].as_str().unwrap();
    assert!(next.contains("--config"), "the next command works without the variable: {next}");
    assert_eq!(run(&["plugin", "list"]).code, 0);
    let ran = run(&["run", "../../plan.json", "--json"]);
    assert_eq!(ran.json()["job_id"], job.as_str(), "a plan above runs in the same project: {}", ran.stderr);
    assert!(file_names(&deep).is_empty(), "nothing is made below: {:?}", file_names(&deep));
}

/// I165: a command that needs a project fails outside of a project. The error names the folder that was searched, and
/// the command creates nothing.
#[test]
fn command_outside_of_a_project_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let job = "job_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    for args in [
        &["job", "list"][..],
        &["job", "show", job],
        &["job", "events", job],
        &["job", "costs"],
        &["job", "export", job],
        &["job", "replay", job],
        &["job", "retry", job],
        &["job", "cancel", job],
        &["resume"],
        &["worker", "--until-idle"],
        &["plugin", "list"],
        &["plugin", "build"],
        &["plugin", "prune"],
        &["doctor", "--accept-restore"],
    ] {
        let ran = run_latch(folder.path(), &[args, &["--json"]].concat());
        assert_eq!((ran.code, &ran.json()["error"]["code"]), (2, &json!("L0110")), "{args:?} {}", ran.stdout);
        let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
        let here = folder.path().canonicalize().unwrap();
        for part in ["latch.toml", here.to_str().unwrap(), "--config"] {
            assert!(message.contains(part), "{args:?}: {message}");
        }
        assert!(file_names(folder.path()).is_empty(), "{args:?} makes nothing: {:?}", file_names(folder.path()));
    }
}

#[test]
fn database_without_a_configuration_is_found() {
    let (folder, job) = project_with_waiting_job();
    std::fs::remove_file(folder.path().join("latch.toml")).unwrap();
    std::fs::rename(folder.path().join("data/jobs.db"), folder.path().join("data/latch.db")).unwrap();
    let listed = run_latch(&folder.path().join("data"), &["job", "list", "--json"]);
    assert_eq!(listed.json()["jobs"][0]["job_id"], job.as_str(), "{}", listed.stderr);
}

#[test]
fn project_without_a_database_has_no_jobs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("latch.toml"), "").unwrap();
    let listed = run_latch(folder.path(), &["job", "list", "--json"]);
    assert_eq!((listed.code, &listed.json()["jobs"]), (0, &json!([])), "{}", listed.stderr);
    assert!(listed.stderr.contains("latch.db does not exist yet"), "{}", listed.stderr);
    let named = run_latch(folder.path(), &["job", "list", "--db", "sqlite://typo.db", "--json"]);
    assert_eq!((named.code, &named.json()["error"]["code"]), (2, &json!("L0110")), "{}", named.stdout);
    assert!(named.json()["error"]["message"].as_str().unwrap().contains("typo.db, which --db names"));
    assert_eq!(file_names(folder.path()), ["latch.toml"]);
}

/// A hint names the configuration if `latch` would not find it from the current folder.
#[test]
fn hint_names_a_configuration_found_elsewhere() {
    let (folder, job) = project_with_waiting_job();
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("latch.toml"), "").unwrap();
    let config = folder.path().join("latch.toml");
    let ran = run_latch(other.path(), &["job", "show", &job, "--json", "--config", config.to_str().unwrap()]);
    assert!(ran.json()["next_actions"][0].as_str().unwrap().contains("--config"), "{}", ran.stdout);
    let gone = "job_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let ran = run_latch(other.path(), &["job", "show", gone, "--config", config.to_str().unwrap()]);
    let hint = format!("`latch job list --config {}`", config.display());
    assert!(ran.code == 2 && ran.stderr.contains(&hint), "{}", ran.stderr);
    // From a folder without a project, the hint must name the plan's configuration.
    let nowhere = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.json");
    let ran = run_latch(nowhere.path(), &["run", plan.to_str().unwrap(), "--json"]);
    assert!(ran.json()["next_actions"][0].as_str().unwrap().contains("--config"), "{}", ran.stdout);
    // The hint must also name the plan's configuration if `latch` would find another configuration in the working
    // folder.
    std::fs::create_dir(other.path().join("inner")).unwrap();
    let ran = run_latch(&other.path().join("inner"), &["run", plan.to_str().unwrap(), "--json"]);
    assert!(ran.json()["next_actions"][0].as_str().unwrap().contains("--config"), "{}", ran.stdout);
}
