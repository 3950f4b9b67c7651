//! Projects created by `latch plugin new`.

use std::process::Command;

use serde_json::json;

use crate::sdk::{LANGS, folder_with_plan, outputs_checked_by_replay, step_with_effect};
use crate::support::plugins::sdk_tools;
use crate::support::plugins::sdk_tools::{built_project, run_latch};

/// I53: a new project contains tests, and these tests pass before the first build.
#[test]
fn new_project_passes_its_own_tests() {
    let parent = tempfile::tempdir().unwrap();
    // The build of a Go plugin finds or installs Go, which runs the tests as well.
    built_project("go", "step", None);
    for lang in LANGS {
        for kind in ["step", "tool"] {
            let name = format!("{lang}-{kind}");
            let new = run_latch(parent.path(), &["plugin", "new", &name, "--lang", lang, "--kind", kind]);
            assert_eq!(new.code, 0, "{}", new.stderr);
            let dir = parent.path().join(name);
            let (program, args): (&str, &[&str]) = match lang {
                "js" => ("node", &["--test"]),
                "c" => ("sh", &["-c", "cc -Ilatchwork -o test test_plugin.c -lm && ./test"]),
                "go" => ("go", &["test", "-v", "./..."]),
                _ => ("python3", &["-B", "-m", "unittest"]),
            };
            let mut command = if program == "go" { super::go_command() } else { Command::new(program) };
            let tested = command.args(args).current_dir(&dir).output().unwrap();
            let printed =
                format!("{}{}", String::from_utf8_lossy(&tested.stdout), String::from_utf8_lossy(&tested.stderr));
            assert!(tested.status.success(), "{lang} {kind}: {printed}");
            assert!(
                [
                    "# pass 2",
                    "Ran 2 tests",
                    "2 tests passed",
                    "--- PASS: TestRejectsAnEmptyName",
                    "--- PASS: TestWithoutAGrantTheToolIsDenied"
                ]
                .iter()
                .any(|passed| printed.contains(passed)),
                "{lang} {kind}: {printed}"
            );
        }
    }
}

/// I52, I53: a step and a tool of each language run in one plan. The greetings differ between jobs and are the
/// same when a job is replayed. Python is left out, because its components take the longest to compile.
#[test]
fn new_projects_run_and_replay() {
    run_new_projects(&["js", "c", "go"]);
}

/// I52, I53: a step and a tool of each language, Python included, run in one plan and replay.
#[test]
#[ignore = "compiles two components in each language; run by .ci/long"]
fn new_projects_in_all_languages_run_and_replay() {
    run_new_projects(&LANGS);
}

/// Runs a step and a tool in each of the languages in one plan.
fn run_new_projects(langs: &[&str]) {
    let mut plugins = Vec::new();
    let mut steps = Vec::new();
    for &lang in langs {
        let noun = format!("Made{}{}", lang[..1].to_uppercase(), &lang[1..]);
        plugins.push((built_project(lang, "step", None), String::new()));
        steps.push(step_with_effect(
            &format!("{lang}-step"),
            &format!("{noun}Step.Greet"),
            "read_only",
            json!({ "name": "Ada" }),
        ));
        plugins.push((built_project(lang, "tool", None), format!("grants = {{ kv = {lang:?} }}")));
        steps.push(step_with_effect(
            &format!("{lang}-tool"),
            &format!("{noun}Tool.Keep"),
            "internal_write",
            json!({ "text": lang }),
        ));
    }
    let plugins: Vec<_> = plugins.iter().map(|(dir, more)| (dir.as_path(), more.as_str())).collect();
    let place = folder_with_plan(&plugins, &steps);
    let jobs: Vec<_> = (0..2)
        .map(|_| {
            // The step in C returns the time in whole seconds, and the jobs must differ in it.
            std::thread::sleep(std::time::Duration::from_millis(1_100));
            let ran = run_latch(place.path(), &["run", "plan.json", "--new", "--json"]);
            assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
            outputs_checked_by_replay(place.path(), &ran.json())
        })
        .collect();
    for lang in langs {
        let greetings: Vec<_> = jobs.iter().map(|outputs| &outputs[&format!("{lang}-step")]).collect();
        assert_eq!(greetings[0]["greeting"], "Hello, Ada!");
        assert_ne!(greetings[0]["id"], greetings[1]["id"], "{lang}");
        assert_ne!(greetings[0]["at"], greetings[1]["at"], "{lang}");
    }
}

/// After a crash between the effect and its record, the queryable tool is asked to reconcile the call.
#[test]
fn killed_call_of_a_new_tool_in_c_is_reconciled_and_not_repeated() {
    kill_call_of_new_tools(&["c"]);
}

/// If the process crashes between the effect of a call and the record of the effect, the queryable tool of each
/// language is asked to reconcile the call.
#[test]
#[ignore = "compiles a component in each language; run by .ci/long"]
fn killed_call_of_a_new_tool_is_reconciled_and_not_repeated() {
    kill_call_of_new_tools(&LANGS);
}

fn kill_call_of_new_tools(langs: &[&str]) {
    for lang in langs.iter().copied() {
        let noun = format!("Made{}{}", lang[..1].to_uppercase(), &lang[1..]);
        let tool = built_project(lang, "tool", None);
        let keep = step_with_effect("k", &format!("{noun}Tool.Keep"), "internal_write", json!({ "text": "once" }));
        let place = folder_with_plan(&[(&tool, "grants = { kv = \"k\" }")], &[keep]);
        let killed = sdk_tools::latch_command(place.path(), &["run", "plan.json"])
            .env("LATCH_CRASH_AT", "execute:after:1")
            .output();
        assert_eq!(killed.unwrap().status.code(), None, "{lang}: killed after the call");
        let resumed = run_latch(place.path(), &["resume", "--json"]);
        assert_eq!(resumed.code, 0, "{lang}: {} {}", resumed.stdout, resumed.stderr);
        let job = &resumed.json()["jobs"][0];
        assert_eq!(job["state"], "COMPLETED", "{lang}: {job:#}");
        let events = run_latch(place.path(), &["job", "events", job["job_id"].as_str().unwrap(), "--json"]);
        assert!(events.stdout.contains("reconciled"), "{lang}: the call was reconciled: {}", events.stdout);
        // The job also replays from every prefix of its log.
        outputs_checked_by_replay(place.path(), job);
    }
}
