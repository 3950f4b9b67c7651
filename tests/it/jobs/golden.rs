//! The golden flow as a user runs it: up to its gates, past its gates, and a second time. The golden flow is the plan
//! of `example-plugins/funding-outreach`, which records a request and sends a letter.

use serde_json::json;

use crate::support::test_env::TestEnv;

fn message_count(place: &TestEnv) -> usize {
    std::fs::read_dir(place.dir.join("outbox/new")).map_or(0, Iterator::count)
}

fn run_args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "plan.json", "--json", "--actor", "ada"], more].concat()
}

/// I2, I19, I20: nothing is sent before the approval. Afterwards exactly one message is sent, and the log
/// replays.
#[test]
fn golden_flow_stops_at_its_gates_and_sends_one_message() {
    let place = TestEnv::golden("atomic").fresh_copy();
    let first = place.latch(&run_args(&[]));
    assert_eq!(first.code, 3, "{}", first.stderr);
    let response = first.json();
    assert_eq!((&response["status"], &response["blocked_on"]["step_id"]), (&json!("partial"), &json!("s5")));
    assert_eq!(response["outcomes"].as_array().map(Vec::len), Some(4), "{response:#}");
    assert_eq!(message_count(&place), 0);
    let id = response["job_id"].as_str().expect("a job has an id");

    let wrong = "0".repeat(64);
    assert_eq!(place.latch(&["job", "approve", id, "s5", "--hash", &wrong]).code, 2, "for another call");
    assert_eq!(place.latch(&["job", "approve", id, "s6"]).code, 2, "a gate that is not open yet");
    for step in ["s5", "s6"] {
        assert_eq!(place.latch(&["job", "approve", id, step, "--actor", "bob"]).code, 0);
        assert_eq!(message_count(&place), 0, "approving executes nothing");
        place.latch(&["resume", id]);
    }
    let done = place.latch(&run_args(&[]));
    assert_eq!((done.code, &done.json()["status"]), (0, &json!("completed")), "{}", done.stderr);
    assert!(done.stderr.contains("attached to"), "the same request is the same job: {}", done.stderr);
    assert_eq!(message_count(&place), 1);

    let key = format!("Message-ID: <latch.{id}.s6.3@");
    let message = std::fs::read_dir(place.dir.join("outbox/new")).expect("there").next().expect("one").expect("read");
    let text = std::fs::read_to_string(message.path()).expect("text");
    assert!(text.contains(&key), "the external key is the Message-ID: {text}");

    let replay = place.latch(&["job", "replay", id, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &json!(null)), "{}", replay.stdout);
    assert!(replay.json()["step_runs"].as_u64() >= Some(4), "steps were run again: {}", replay.stdout);
    assert_eq!(message_count(&place), 1, "replay executes nothing");

    let again = place.latch(&run_args(&["--new", "--approve", "s5", "--approve", "s6"]));
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_ne!(again.json()["job_id"], json!(id), "another request is another job");
    assert_eq!(message_count(&place), 1, "the same message is not sent twice: its receipt is returned");
}

/// I17: concurrent submissions by several processes give one job and one message.
#[test]
fn concurrent_submissions_of_the_golden_flow_give_one_job() {
    use crate::support::program::{command_output, latch_command};
    let place = TestEnv::golden("atomic").fresh_copy();
    let spawn = |_| {
        let mut command = latch_command(&place.dir, &run_args(&["--approve", "s5", "--approve", "s6"]));
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().expect("latch runs")
    };
    let children: Vec<_> = (0..4).map(spawn).collect();
    let mut ids = std::collections::BTreeSet::new();
    for child in children {
        let ran = command_output(child.wait_with_output().expect("it ends"));
        assert_eq!((ran.code, &ran.json()["status"]), (0, &json!("completed")), "{} {}", ran.stdout, ran.stderr);
        ids.insert(ran.json()["job_id"].as_str().expect("an id").to_owned());
    }
    assert_eq!((ids.len(), message_count(&place)), (1, 1), "{ids:?}");
    assert_eq!(place.only_job()["job_id"], json!(ids.first()));
}

/// A rejected send keeps the drafts, and a dry run sends nothing.
#[test]
fn rejected_or_dry_run_flow_sends_nothing() {
    let place = TestEnv::golden("atomic").fresh_copy();
    let id = place.latch(&run_args(&["--approve", "s5"])).json()["job_id"].as_str().expect("an id").to_owned();
    let rejected = place.latch(&["job", "reject", &id, "s6", "--reason", "not today"]);
    assert_eq!(rejected.code, 0, "{}", rejected.stderr);
    let resumed = place.latch(&["resume", &id, "--json"]);
    let response = resumed.json();
    assert_eq!((resumed.code, &response["state"]), (3, &json!("PARTIAL")), "{response:#}");
    assert_eq!(response["failed"][0]["reason_code"], "GATE_REJECTED");
    assert!(response["outcomes"].as_array().is_some_and(|outcomes| outcomes.len() >= 4), "the drafts are kept");

    let place = TestEnv::golden("atomic").fresh_copy();
    let dry = place.latch(&run_args(&["--mode", "DRY_RUN"]));
    assert_eq!((dry.code, &dry.json()["status"]), (0, &json!("completed")), "{} {}", dry.stdout, dry.stderr);
    assert_eq!(message_count(&place), 0);
}
