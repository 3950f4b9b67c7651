//! Workers that are stopped by a signal.

use std::time::Duration;

use serde_json::json;

use crate::support::kills::is_killed;
use crate::support::plans::bookings;
use crate::support::plans::bookings::{never_ending_wait, with_field};
use crate::support::plans::fetches::{env_with_fetch_tool, fetch_step, show_job, submit_detached, write_plan};
use crate::support::program::latch_command;
use crate::support::running_worker::{RunningWorker, send_sigterm};
use crate::support::servers::http::TestServer;
use crate::support::suspension::{continue_process, suspended};
use crate::support::test_env::{TestEnv, step};
use crate::support::waiting::wait_until;
use crate::support::{evidence, running_worker};
use crate::workers::{event_types, output_of_ended, start_worker, wait_until_stopping};

/// I97: stopping a worker loses nothing. Calls in flight end and are recorded, and the job is released. The stopped
/// attempt does not count as an attempt without progress.
#[test]
fn stopped_worker_ends_its_calls_and_releases_its_job() {
    let server = TestServer::start().hold_answers();
    let place = env_with_fetch_tool(&server, "max_attempts_without_progress = 1");
    write_plan(&place, &[fetch_step("a", &[], server.url("/a")), fetch_step("b", &["a"], server.url("/b"))]);
    let job = submit_detached(&place, &[]);
    let mut worker = RunningWorker::start(&place, running_worker::worker_command(&place, &[]));
    server.wait_for(1);
    send_sigterm(&worker.child);
    wait_until_stopping(&worker);
    assert_eq!(show_job(&place, &job)["state"], "RUNNING", "the call is not interrupted");
    server.release_answers();
    worker.wait_until_ended();
    let notes = worker.messages();
    let (code, tally) = worker.stop();
    assert_eq!((code, &tally["released"]), (Some(0), &json!(1)), "{tally} {notes}");
    let displayed = show_job(&place, &job);
    assert_eq!(displayed["state"], "PENDING", "{displayed:#}");
    let listed = event_types(&place, &job);
    assert_eq!(listed.last().map(String::as_str), Some("job_released"), "{listed:?}");
    assert!(listed.iter().any(|event| event == "tool_invocation_finished"), "{listed:?}");
    evidence::verify_offline(&place, &job, "given back");
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!((ran.code, &ran.json()["rested"]), (0, &json!({ "COMPLETED": 1 })), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(server.requests().len(), 2, "a recorded call is not repeated");
}

/// I97: a stopping worker does not wait for a compensation that is delayed by the limit of its operator.
#[test]
fn stopped_worker_does_not_wait_for_an_operator_limit() {
    let place = TestEnv::undo("atomic");
    let booked = |id: &str, depends_on: &[&str]| {
        let made = step(id, "Booking.Make", depends_on, json!({ "note": id }));
        with_field(made, "compensate_with", json!("Booking.Cancel"))
    };
    bookings::write_plan(&place, "keep", &[booked("a", &[]), booked("b", &["a"]), never_ending_wait("b")]);
    let ran = bookings::run_plan(&place, &["--approve", "a", "--approve", "b"]);
    let job = bookings::job_id(&ran.json());
    // Both commands die after the request is stored and before it is applied.
    let mut cancel = latch_command(&place.dir, &["job", "cancel", &job, "--actor", "bob"]);
    assert!(is_killed(cancel.env("LATCH_CRASH_AT", "inbox_insert:after:1")));
    let mut cancel = latch_command(&place.dir, &["job", "cancel", &job, "--actor", "bob"]);
    assert!(is_killed(cancel.env("LATCH_CRASH_AT", "claim_look:before:1")));
    let plain = std::fs::read_to_string(place.dir.join("latch.toml")).expect("the configuration was written");
    let limit = "[worker]\noperators = { \"Booking.Cancel\" = { rate = \"1/1h\" } }";
    std::fs::write(place.dir.join("latch.toml"), format!("{plain}\n{limit}\n")).expect("writable");
    let worker = start_worker(&place, &[]);
    wait_until("one call is undone", || event_types(&place, &job).iter().any(|event| event == "compensation_finished"));
    std::thread::sleep(Duration::from_millis(300));
    send_sigterm(&worker);
    let ran = output_of_ended(worker);
    assert_eq!((ran.code, &ran.json()["released"]), (0, &json!(1)), "{} {}", ran.stdout, ran.stderr);
    let listed = event_types(&place, &job);
    assert_eq!(listed.last().map(String::as_str), Some("job_released"), "{listed:?}");
    std::fs::write(place.dir.join("latch.toml"), plain).expect("writable");
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!((ran.code, &ran.json()["rested"]), (0, &json!({ "CANCELLED": 1 })), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(event_types(&place, &job).iter().filter(|event| *event == "compensation_finished").count(), 2);
}

/// I97: a worker that is stopped while it writes a barrier either executes the call or writes no barrier.
/// Stopping leaves no call in doubt.
#[test]
fn stopped_worker_leaves_no_barrier_without_its_call() {
    let template = TestEnv::witness("atomic").with_plan(&[
        step("o", "Effect.Opaque", &[], json!({ "note": 1 })),
        step("k", "Effect.Keyed", &["o"], json!({ "note": 2 })),
    ]);
    for nth in 1..=8 {
        let place = template.fresh_copy();
        submit_detached(&place, &["--approve", "o", "--approve", "k"]);
        let mut command = latch_command(&place.dir, &["worker", "--until-idle", "--json"]);
        command.env("LATCH_STOP_AT", format!("group_write:before:{nth}"));
        let Some(worker) = suspended(command) else { break };
        // The process receives SIGTERM when it continues.
        send_sigterm(&worker);
        continue_process(&worker);
        let ran = output_of_ended(worker);
        assert_eq!(ran.code, 0, "{nth}: {} {}", ran.stdout, ran.stderr);
        let ran = place.latch(&["worker", "--until-idle", "--json"]);
        let job = place.only_job();
        assert_eq!((ran.code, &job["state"]), (0, &json!("COMPLETED")), "{nth}: {} {}", ran.stdout, ran.stderr);
        let world = place.effect_counts();
        assert_eq!((world["o"], world["k"], world["applied k"]), (1, 1, 1), "{nth}: {world:?}");
    }
}

/// I97: after a second SIGTERM a worker ends immediately and names its open jobs. The next worker completes these jobs.
#[test]
fn second_signal_ends_the_worker_immediately() {
    let server = TestServer::start().hold_answers();
    let place = env_with_fetch_tool(&server, "");
    write_plan(&place, &[fetch_step("a", &[], server.url("/a"))]);
    let job = submit_detached(&place, &[]);
    let mut worker = RunningWorker::start(&place, running_worker::worker_command(&place, &[]));
    server.wait_for(1);
    send_sigterm(&worker.child);
    // The system delivers two pending SIGTERM signals as one. The second signal is therefore sent after the worker has
    // received the first.
    wait_until_stopping(&worker);
    send_sigterm(&worker.child);
    worker.wait_until_ended();
    let notes = worker.messages();
    let (code, summary) = worker.stop();
    assert_eq!((code, &summary["error"]["code"]), (Some(3), &json!("L0063")), "{summary} {notes}");
    assert!(summary["error"]["message"].to_string().contains(&job), "{summary}");
    // A worker whose calls do not end within the drain time also ends immediately and names its open jobs.
    let place = place.configure("[worker]\ndrain = \"300ms\"");
    let worker = start_worker(&place, &[]);
    server.wait_for(2);
    send_sigterm(&worker);
    let ran = output_of_ended(worker);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (3, &json!("L0063")), "{} {}", ran.stdout, ran.stderr);
    assert!(ran.json()["error"]["message"].to_string().contains(&job), "{}", ran.stdout);
    server.release_answers();
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(ran.json()["rested"], json!({ "COMPLETED": 1 }), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(show_job(&place, &job)["state"], "COMPLETED");
}
