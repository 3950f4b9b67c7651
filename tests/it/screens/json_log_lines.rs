//! `--log-format json`: every line of stderr is one JSON object.

use serde_json::{Value, json};

use crate::support::program::{command_output, latch_command};
use crate::support::test_env::{TestEnv, step};

/// Runs a command, checks time and level of each line of stderr, and returns the lines.
fn checked_lines(place: &TestEnv, args: &[&str], code: i32) -> Vec<Value> {
    let args = [&["--log-format", "json", "-v"], args].concat();
    let ran = command_output(latch_command(&place.dir, &args).output().unwrap());
    assert_eq!(ran.code, code, "{args:?}: {} {}", ran.stdout, ran.stderr);
    let line = |line: &str| -> Value {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{args:?}: {error}: {line:?}"));
        let time = value["time"].as_str().unwrap_or_default();
        assert!(time.len() == 27 && time.ends_with('Z'), "{args:?}: {line}");
        assert!(["ERROR", "WARN", "INFO"].contains(&value["level"].as_str().unwrap_or_default()), "{args:?}: {line}");
        assert!(value["message"].is_string(), "{args:?}: {line}");
        value
    };
    ran.stderr.lines().map(line).collect()
}

fn lines_about_jobs(lines: &[Value]) -> Vec<&Value> {
    lines.iter().filter(|line| line["job_id"].is_string()).collect()
}

/// I135: every line of stderr is a JSON object: progress, warnings, errors, log records, worker lines and
/// usage errors.
#[test]
fn every_line_of_stderr_is_an_object_with_time_and_level() {
    let mut place = TestEnv::witness("atomic").with_plan(&[
        step("r", "Effect.Read", &[], json!({ "note": 1 })),
        step("o", "Effect.Opaque", &["r"], json!({ "note": 2 })),
    ]);
    place.skip_replay_of_many_jobs();
    let ran = checked_lines(&place, &["run", "plan.json"], 3);
    let jobs = lines_about_jobs(&ran);
    assert!(
        jobs.iter().any(|line| line["message"].as_str().unwrap().contains("r  Effect.Read  succeeded")),
        "{ran:#?}"
    );
    for line in &jobs {
        assert_eq!(line["trace_id"].as_str().map(str::len), Some(32), "{line}");
    }
    let attached = checked_lines(&place, &["run", "plan.json", "--priority", "7"], 3);
    assert!(attached.iter().any(|line| line["level"] == "WARN"), "{attached:#?}");
    let line_with = |lines: &[Value], text: &str| -> Value {
        let line = lines.iter().find(|line| line["message"].as_str().unwrap().contains(text));
        line.unwrap_or_else(|| panic!("{text}: {lines:#?}")).clone()
    };
    assert_eq!(line_with(&attached, "attached to")["trace_id"].as_str().map(str::len), Some(32));
    let job = place.only_job()["job_id"].as_str().unwrap().to_owned();
    assert_eq!(place.latch(&["job", "approve", &job, "o"]).code, 0);
    let worker = checked_lines(&place, &["worker", "--until-idle"], 0);
    assert!(
        lines_about_jobs(&worker).iter().any(|line| line["message"].as_str().unwrap().contains("is COMPLETED")),
        "{worker:#?}"
    );
    assert_eq!(line_with(&worker, "continues, attempt 2")["trace_id"].as_str().map(str::len), Some(32));
    for args in [&["run", "nofile"][..], &["frobnicate"], &["job", "show", "job_00000000000000000000000000"]] {
        let printed = checked_lines(&place, args, 2);
        let error = printed.last().unwrap();
        assert_eq!((error["level"].as_str(), error["code"].is_string()), (Some("ERROR"), true), "{args:?}: {error}");
    }
}
