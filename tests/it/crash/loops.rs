//! Jobs whose processes crash repeatedly are parked.

use serde_json::{Value, json};

use crate::support::database::blocking_database;
use crate::support::kills::is_killed;
use crate::support::plans::fetches::{env_with_fetch_tool, fetch_step, show_job, submit_detached, write_plan};
use crate::support::program::{CommandOutput, command_output, latch_command};
use crate::support::running_worker::events_of;
use crate::support::servers::http::TestServer;
use crate::support::test_env::{TestEnv, step};
use crate::support::{evidence, running_worker};

/// I100, I192: a job that crashes its processes is parked at `max_attempts_without_progress`. The cause names the steps
/// that were in flight.
#[test]
fn crash_loop_parks_the_job_with_its_cause() {
    let server = TestServer::start().with_slow_answers();
    let place = env_with_fetch_tool(&server, "max_attempts_without_progress = 3");
    write_plan(&place, &[fetch_step("a", &[], server.url("/a"))]);
    let job = submit_detached(&place, &[]);
    // The record that the step began counts as progress, so the limit is reached one attempt later.
    for _ in 0..4 {
        let mut command = latch_command(&place.dir, &["worker", "--until-idle"]);
        let killed = command.env("LATCH_CRASH_AT", "execute:after:1").output().expect("latch runs");
        assert_eq!(killed.status.code(), None, "the process was killed: {killed:?}");
    }
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(ran.json()["rested"], json!({ "PARKED": 1 }), "{} {}", ran.stdout, ran.stderr);
    let displayed = show_job(&place, &job);
    assert_eq!(displayed["reason_code"], "ATTEMPTS_EXHAUSTED");
    let cause = "3 consecutive attempts ended without progress; a was in flight when the last one ended";
    assert_eq!(displayed["cause"], cause);
    assert!(place.latch(&["job", "show", &job]).stdout.contains(cause));
    assert_eq!(server.requests().len(), 4, "a read may be repeated, but a parked job makes no call");
    let go_on = place.latch(&["job", "resolve", &job, "--continue", "--reason", "mended"]);
    assert_eq!(go_on.code, 0, "{}", go_on.stderr);
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(ran.json()["rested"], json!({ "COMPLETED": 1 }), "{} {}", ran.stdout, ran.stderr);
}

/// Runs a worker that is killed immediately after it has loaded a job. Returns true if it was killed.
fn dies_loading(place: &TestEnv) -> bool {
    is_killed(latch_command(&place.dir, &["worker", "--until-idle"]).env("LATCH_CRASH_AT", "load:after:1"))
}

/// Runs a worker that is killed if it begins to load a job. A worker that ends by itself has loaded no job.
fn run_worker_without_loading(place: &TestEnv) -> CommandOutput {
    let mut worker = latch_command(&place.dir, &["worker", "--until-idle", "--json"]);
    command_output(worker.env("LATCH_CRASH_AT", "load:before:1").output().expect("latch runs"))
}

fn event_types(place: &TestEnv, job: &str) -> Vec<Value> {
    events_of(place, job).iter().map(|event| event["type"].clone()).collect()
}

fn continue_job(place: &TestEnv, job: &str) -> Value {
    let go_on = place.latch(&["job", "resolve", job, "--continue", "--reason", "mended"]);
    assert_eq!(go_on.code, 0, "{} {}", go_on.stdout, go_on.stderr);
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    ran.json()["rested"].clone()
}

/// I123: if processes die while they load a job, the job is parked without being loaded again. Requests to
/// the job are kept, and the job is loaded again after `latch job resolve --continue`.
fn check_parked_without_loading(on_server: bool) {
    let server = TestServer::start();
    let mut place = env_with_fetch_tool(&server, "max_attempts_without_progress = 3");
    if on_server {
        let Some(url) = blocking_database() else { return };
        place = place.with_database(&url);
    }
    write_plan(&place, &[fetch_step("a", &[], server.url("/a"))]);
    let job = submit_detached(&place, &[]);
    let cause = "3 attempts in a row ended before anything of them was recorded";
    for round in 1..=2 {
        for attempt in 1..=3 {
            assert!(dies_loading(&place), "round {round}, attempt {attempt}");
        }
        if round == 2 {
            // Both commands die after the request is stored and before it is applied.
            let mut cancel = latch_command(&place.dir, &["job", "cancel", &job, "--actor", "bob"]);
            assert!(is_killed(cancel.env("LATCH_CRASH_AT", "inbox_insert:after:1")));
            let mut cancel = latch_command(&place.dir, &["job", "cancel", &job, "--actor", "bob"]);
            assert!(is_killed(cancel.env("LATCH_CRASH_AT", "claim_look:before:1")));
        }
        let ran = run_worker_without_loading(&place);
        assert_eq!((ran.code, &ran.json()["rested"]), (0, &json!({ "PARKED": 1 })), "{} {}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(&format!("{job} is PARKED, ATTEMPTS_EXHAUSTED: {cause}")), "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("latch job resolve {job} --continue")), "{}", ran.stderr);
        let displayed = show_job(&place, &job);
        let reported = (&displayed["state"], &displayed["reason_code"], &displayed["cause"]);
        assert_eq!(reported, (&json!("PARKED"), &json!("ATTEMPTS_EXHAUSTED"), &json!(cause)));
        // A parked job is not claimed.
        assert_eq!(run_worker_without_loading(&place).json()["rested"], json!({}));
        if round == 1 {
            let go_on = place.latch(&["job", "resolve", &job, "--continue", "--reason", "mended"]);
            assert_eq!(go_on.code, 0, "{}", go_on.stderr);
        }
    }
    assert_eq!(continue_job(&place, &job), json!({ "CANCELLED": 1 }), "the stored request was not lost");
    assert_eq!(server.requests().len(), 0);
    let reported = event_types(&place, &job);
    assert_eq!(
        reported[..4],
        ["intent_accepted", "plan_created", "job_claimed", "job_parked"].map(Value::from),
        "{reported:?}"
    );
    assert_eq!(place.latch(&["job", "replay", &job]).code, 0);
    evidence::verify_offline(&place, &job, "in the end");
}

/// I123, I192.
#[test]
fn job_whose_loading_crashes_is_parked_without_loading() {
    check_parked_without_loading(false);
}

/// I123.
#[test]
fn job_whose_loading_crashes_is_parked_without_loading_on_postgres() {
    check_parked_without_loading(true);
}

/// I123: if processes die while they load an ended job for a retry, the job is parked, too. A later retry of the job
/// works.
#[test]
fn job_whose_retry_crashes_on_loading_is_parked() {
    let server = TestServer::start();
    let place = env_with_fetch_tool(&server, "max_attempts_without_progress = 3");
    server.set_resource("/a", 403, None);
    write_plan(&place, &[fetch_step("a", &[], server.url("/a"))]);
    let job = submit_detached(&place, &[]);
    let failed = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(failed.json()["rested"], json!({ "FAILED": 1 }), "{} {}", failed.stdout, failed.stderr);
    let asked = server.requests().len();
    let mut retry = latch_command(&place.dir, &["job", "retry", &job]);
    assert!(is_killed(retry.env("LATCH_CRASH_AT", "claim_look:before:1")));
    for _ in 1..=3 {
        assert!(dies_loading(&place));
    }
    // `latch resume` of all jobs reports the parked job and continues with the other jobs.
    write_plan(&place, &[fetch_step("b", &[], server.url("/b"))]);
    let other = submit_detached(&place, &[]);
    let resumed = place.latch(&["resume", "--json"]);
    let ended: Vec<_> =
        resumed.json()["jobs"].as_array().expect("a list").iter().map(|job| job["job_id"].clone()).collect();
    assert_eq!((resumed.code, ended), (3, vec![json!(other)]), "{} {}", resumed.stdout, resumed.stderr);
    assert!(resumed.stderr.contains(&format!("latch job resolve {job} --continue")), "{}", resumed.stderr);
    let asked = asked + 1;
    assert_eq!(run_worker_without_loading(&place).json()["rested"], json!({}));
    assert_eq!(show_job(&place, &job)["state"], "PARKED");
    // The job's log now contains the event that reopened the job. Processes die again while they load this log.
    assert_eq!(place.latch(&["job", "resolve", &job, "--continue"]).code, 0);
    for _ in 1..=3 {
        assert!(dies_loading(&place));
    }
    assert_eq!(run_worker_without_loading(&place).json()["rested"], json!({ "PARKED": 1 }));
    assert_eq!(continue_job(&place, &job), json!({ "FAILED": 1 }), "the job fails as before");
    assert_eq!(server.requests().len(), asked, "only the other job made another request");
    server.set_resource("/a", 200, None);
    let retried = place.latch(&["job", "retry", &job]);
    assert_eq!(retried.code, 0, "{} {}", retried.stdout, retried.stderr);
    assert_eq!(show_job(&place, &job)["state"], "COMPLETED");
    evidence::verify_offline(&place, &job, "in the end");
}

/// I100, I123: if each process of a job dies at the job's first call, the job is parked. The cause names the step of
/// this call. After the first crash, every write is flushed immediately, so the start of the step is durable before the
/// process dies.
#[test]
fn job_that_kills_its_process_immediately_is_parked_with_the_running_call() {
    let server = TestServer::start();
    let place = env_with_fetch_tool(&server, "max_attempts_without_progress = 3");
    write_plan(&place, &[fetch_step("boom", &[], server.url("/a"))]);
    let job = submit_detached(&place, &[]);
    let mut ended = 0;
    while show_job(&place, &job)["state"] != "PARKED" {
        assert!(ended < 6, "the job is never parked");
        let mut command = latch_command(&place.dir, &["worker", "--until-idle"]);
        ended += u32::from(is_killed(command.env("LATCH_CRASH_AT", "execute:before:1")));
    }
    let displayed = show_job(&place, &job);
    let cause = "3 consecutive attempts ended without progress; boom was in flight when the last one ended";
    assert_eq!((&displayed["reason_code"], &displayed["cause"]), (&json!("ATTEMPTS_EXHAUSTED"), &json!(cause)));
    assert_eq!(server.requests().len(), 0);
}

/// I123: if processes die while they read the inbox of a job, the job is parked and its inbox is not read
/// again. The requests in the inbox are kept, and are applied after `latch job resolve --continue`.
#[test]
fn job_whose_inbox_crashes_processes_is_parked_without_reading_it() {
    let server = TestServer::start();
    let place = env_with_fetch_tool(&server, "max_attempts_without_progress = 2");
    write_plan(&place, &[fetch_step("a", &[], server.url("/a"))]);
    let job = submit_detached(&place, &[]);
    let dies = || {
        is_killed(latch_command(&place.dir, &["worker", "--until-idle"]).env("LATCH_CRASH_AT", "inbox_read:before:1"))
    };
    for round in 1..=2 {
        if round == 1 {
            let mut cancel = latch_command(&place.dir, &["job", "cancel", &job]);
            assert!(
                is_killed(cancel.env("LATCH_CRASH_AT", "claim_look:before:1")),
                "the request is stored but not applied"
            );
        } else {
            assert_eq!(place.latch(&["job", "resolve", &job, "--continue"]).code, 0);
        }
        for _ in 1..=3 {
            assert!(dies(), "round {round}");
        }
        assert!(!dies(), "round {round}: the inbox is not read");
        let displayed = show_job(&place, &job);
        assert_eq!(
            (&displayed["state"], &displayed["reason_code"]),
            (&json!("PARKED"), &json!("ATTEMPTS_EXHAUSTED")),
            "{displayed:#}"
        );
        assert!(
            displayed["cause"].as_str().is_some_and(|cause| cause.starts_with("3 attempts in a row")),
            "{displayed:#}"
        );
        let next = displayed["next_actions"].as_array().expect("a list");
        assert!(displayed["pending"].as_array().is_some_and(|pending| !pending.is_empty()), "{displayed:#}");
        if round == 1 {
            assert_eq!(
                next[0],
                format!("latch job resolve {job} --continue"),
                "the first next action has an effect: {displayed:#}"
            );
        }
    }
    assert_eq!(continue_job(&place, &job), json!({ "CANCELLED": 1 }), "the stored request is applied");
    assert_eq!(server.requests().len(), 0);
    evidence::verify_offline(&place, &job, "in the end");
}

/// I100: a cancelled job that crashes its processes is parked, too. The cancellation takes effect once the
/// job continues.
#[test]
fn cancelled_job_in_a_crash_loop_is_parked() {
    let lease = "max_attempts_without_progress = 2\nlease = \"1s\"\nheartbeat = \"200ms\"\nclock_margin = \"100ms\"";
    let place = TestEnv::witness("atomic").with_approved(vec!["q"]).configure_first(lease);
    let place = place.with_plan(&[step("q", "Effect.Queryable", &[], json!({ "note": 1 }))]);
    let job = running_worker::submit_detached(&place);
    let dies = |at: &str| is_killed(latch_command(&place.dir, &["worker", "--until-idle"]).env("LATCH_CRASH_AT", at));
    assert!(dies("execute:after:1"));
    let mut cancel = latch_command(&place.dir, &["job", "cancel", &job]);
    assert!(is_killed(cancel.env("LATCH_CRASH_AT", "claim_look:before:1")), "the request is stored but not applied");
    let mut ended = 0;
    while dies("reconcile:before:1") {
        ended += 1;
        assert!(ended < 6, "the job is never parked");
    }
    let displayed = show_job(&place, &job);
    let cause = "2 consecutive attempts ended without progress; q was in flight when the last one ended";
    assert_eq!((&displayed["state"], &displayed["cause"]), (&json!("PARKED"), &json!(cause)), "{displayed:#}");
    assert_eq!(continue_job(&place, &job), json!({ "CANCELLED": 1 }));
    assert_eq!(place.effect_counts()["q"], 1);
    evidence::verify_offline(&place, &job, "in the end");
}

/// I100: a job parked after crashes can be cancelled.
#[test]
fn job_parked_after_a_crash_loop_can_be_cancelled() {
    let server = TestServer::start();
    let place = env_with_fetch_tool(&server, "max_attempts_without_progress = 2");
    write_plan(&place, &[fetch_step("boom", &[], server.url("/a"))]);
    let job = submit_detached(&place, &[]);
    let mut ended = 0;
    while is_killed(latch_command(&place.dir, &["worker", "--until-idle"]).env("LATCH_CRASH_AT", "execute:before:1")) {
        ended += 1;
        assert!(ended < 6, "the job is never parked");
    }
    assert_eq!(show_job(&place, &job)["state"], "PARKED");
    place.latch(&["job", "cancel", &job]);
    place.latch(&["worker", "--until-idle"]);
    assert_eq!(show_job(&place, &job)["state"], "CANCELLED");
}
