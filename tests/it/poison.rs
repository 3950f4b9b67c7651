//! Jobs that crash their processes.

use serde_json::{Value, json};

use crate::crash::killed;
use crate::evidence;
use crate::place::{Place, step};
use crate::postgres::live::a_database;
use crate::program::{Ran, latch, ran};
use crate::server::Server;
use crate::worker::{detached, fetch, fetching, plan, state};
use crate::workers::{self, events};

/// I100: a job that crashes its process is parked at the limit, with the calls that were in flight.
#[test]
fn a_poison_job_is_parked_with_its_cause() {
    let server = Server::start().slow();
    let place = fetching(&server, "max_attempts_without_progress = 3");
    plan(&place, &[fetch("a", &[], server.url("/a"))]);
    let job = detached(&place, &[]);
    // The first attempt records that the step began, so it counts as progress.
    for _ in 0..4 {
        let mut command = latch(&place.dir, &["worker", "--until-idle"]);
        let killed = command.env("LATCH_CRASH_AT", "execute:after:1").output().expect("latch runs");
        assert_eq!(killed.status.code(), None, "the process was killed: {killed:?}");
    }
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(ran.json()["rested"], json!({ "PARKED": 1 }), "{} {}", ran.stdout, ran.stderr);
    let shown = state(&place, &job);
    assert_eq!(shown["reason_code"], "ATTEMPTS_EXHAUSTED");
    let cause = "3 attempts in a row were cut off and brought nothing forward; a was under way when the last one ended";
    assert_eq!(shown["cause"], cause);
    assert!(place.latch(&["job", "show", &job]).stdout.contains(cause));
    assert_eq!(server.asked().len(), 4, "a read may be repeated, but a parked job makes no call");
    let go_on = place.latch(&["job", "resolve", &job, "--continue", "--reason", "mended"]);
    assert_eq!(go_on.code, 0, "{}", go_on.stderr);
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(ran.json()["rested"], json!({ "COMPLETED": 1 }), "{} {}", ran.stdout, ran.stderr);
}

/// Runs a worker that is killed when it has loaded a job. Returns true if it was killed.
fn dies_loading(place: &Place) -> bool {
    killed(latch(&place.dir, &["worker", "--until-idle"]).env("LATCH_CRASH_AT", "load:after:1"))
}

/// Runs a worker that would be killed before it loads a job, to show that it loads none.
fn loads_nothing(place: &Place) -> Ran {
    let mut worker = latch(&place.dir, &["worker", "--until-idle", "--json"]);
    ran(worker.env("LATCH_CRASH_AT", "load:before:1").output().expect("latch runs"))
}

fn names(place: &Place, job: &str) -> Vec<Value> {
    events(place, job).iter().map(|event| event["type"].clone()).collect()
}

fn lets_go_on(place: &Place, job: &str) -> Value {
    let go_on = place.latch(&["job", "resolve", job, "--continue", "--reason", "mended"]);
    assert_eq!(go_on.code, 0, "{} {}", go_on.stdout, go_on.stderr);
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    ran.json()["rested"].clone()
}

/// I123: a job whose processes die while they load it is parked without being loaded. Requests to the job are
/// kept, and the job is loaded again after `latch job resolve --continue`.
fn parked_unread(on_server: bool) {
    let server = Server::start();
    let mut place = fetching(&server, "max_attempts_without_progress = 3");
    if on_server {
        let Some(url) = a_database() else { return };
        place = place.on_server(&url);
    }
    plan(&place, &[fetch("a", &[], server.url("/a"))]);
    let job = detached(&place, &[]);
    let cause = "3 attempts in a row ended before anything of them was recorded";
    for round in 1..=2 {
        for attempt in 1..=3 {
            assert!(dies_loading(&place), "round {round}, attempt {attempt}");
        }
        if round == 2 {
            // Both commands die after the request is stored and before it is applied.
            let mut cancel = latch(&place.dir, &["job", "cancel", &job, "--actor", "bob"]);
            assert!(killed(cancel.env("LATCH_CRASH_AT", "inbox_insert:after:1")));
            let mut cancel = latch(&place.dir, &["job", "cancel", &job, "--actor", "bob"]);
            assert!(killed(cancel.env("LATCH_CRASH_AT", "claim_look:before:1")));
        }
        let ran = loads_nothing(&place);
        assert_eq!((ran.code, &ran.json()["rested"]), (0, &json!({ "PARKED": 1 })), "{} {}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(&format!("{job} is PARKED, ATTEMPTS_EXHAUSTED: {cause}")), "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("latch job resolve {job} --continue")), "{}", ran.stderr);
        let shown = state(&place, &job);
        let told = (&shown["state"], &shown["reason_code"], &shown["cause"]);
        assert_eq!(told, (&json!("PARKED"), &json!("ATTEMPTS_EXHAUSTED"), &json!(cause)));
        // A parked job is not claimed.
        assert_eq!(loads_nothing(&place).json()["rested"], json!({}));
        if round == 1 {
            let go_on = place.latch(&["job", "resolve", &job, "--continue", "--reason", "mended"]);
            assert_eq!(go_on.code, 0, "{}", go_on.stderr);
        }
    }
    assert_eq!(lets_go_on(&place, &job), json!({ "CANCELLED": 1 }), "the stored request was not lost");
    assert_eq!(server.asked().len(), 0);
    let told = names(&place, &job);
    assert_eq!(
        told[..4],
        ["intent_accepted", "plan_created", "job_claimed", "job_parked"].map(Value::from),
        "{told:?}"
    );
    assert_eq!(place.latch(&["job", "replay", &job]).code, 0);
    evidence::holds(&place, &job, "in the end");
}

#[test]
fn a_job_that_nobody_survives_loading_is_parked_unread() {
    parked_unread(false);
}

#[test]
fn a_job_that_nobody_survives_loading_is_parked_unread_on_a_server() {
    parked_unread(true);
}

/// I123: an ended job whose retry cannot be loaded is parked, too. A later retry of that job works.
#[test]
fn a_job_that_nobody_survives_trying_again_is_parked_unread() {
    let server = Server::start();
    let place = fetching(&server, "max_attempts_without_progress = 3");
    server.put("/a", 403, None);
    plan(&place, &[fetch("a", &[], server.url("/a"))]);
    let job = detached(&place, &[]);
    let failed = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(failed.json()["rested"], json!({ "FAILED": 1 }), "{} {}", failed.stdout, failed.stderr);
    let asked = server.asked().len();
    let mut retry = latch(&place.dir, &["job", "retry", &job]);
    assert!(killed(retry.env("LATCH_CRASH_AT", "claim_look:before:1")));
    for _ in 1..=3 {
        assert!(dies_loading(&place));
    }
    // `latch resume` of all jobs reports the parked job and continues with the others.
    plan(&place, &[fetch("b", &[], server.url("/b"))]);
    let other = detached(&place, &[]);
    let resumed = place.latch(&["resume", "--json"]);
    let ended: Vec<_> =
        resumed.json()["jobs"].as_array().expect("a list").iter().map(|job| job["job_id"].clone()).collect();
    assert_eq!((resumed.code, ended), (3, vec![json!(other)]), "{} {}", resumed.stdout, resumed.stderr);
    assert!(resumed.stderr.contains(&format!("latch job resolve {job} --continue")), "{}", resumed.stderr);
    let asked = asked + 1;
    assert_eq!(loads_nothing(&place).json()["rested"], json!({}));
    assert_eq!(state(&place, &job)["state"], "PARKED");
    // The second round: the log now contains the reopening.
    assert_eq!(place.latch(&["job", "resolve", &job, "--continue"]).code, 0);
    for _ in 1..=3 {
        assert!(dies_loading(&place));
    }
    assert_eq!(loads_nothing(&place).json()["rested"], json!({ "PARKED": 1 }));
    assert_eq!(lets_go_on(&place, &job), json!({ "FAILED": 1 }), "the job fails as before");
    assert_eq!(server.asked().len(), asked, "only the other job made another request");
    server.put("/a", 200, None);
    let retried = place.latch(&["job", "retry", &job]);
    assert_eq!(retried.code, 0, "{} {}", retried.stdout, retried.stderr);
    assert_eq!(state(&place, &job)["state"], "COMPLETED");
    evidence::holds(&place, &job, "in the end");
}

/// I100, I123: a job that ends its process immediately is parked with the name of the call that was in
/// flight. That name is recorded from the second attempt on.
#[test]
fn a_job_that_ends_its_process_at_once_is_parked_with_what_ran() {
    let server = Server::start();
    let place = fetching(&server, "max_attempts_without_progress = 3");
    plan(&place, &[fetch("boom", &[], server.url("/a"))]);
    let job = detached(&place, &[]);
    let mut ended = 0;
    while state(&place, &job)["state"] != "PARKED" {
        assert!(ended < 6, "the job is never parked");
        let mut command = latch(&place.dir, &["worker", "--until-idle"]);
        ended += u32::from(killed(command.env("LATCH_CRASH_AT", "execute:before:1")));
    }
    let shown = state(&place, &job);
    let cause =
        "3 attempts in a row were cut off and brought nothing forward; boom was under way when the last one ended";
    assert_eq!((&shown["reason_code"], &shown["cause"]), (&json!("ATTEMPTS_EXHAUSTED"), &json!(cause)));
    assert_eq!(server.asked().len(), 0);
}

/// I123: if processes die while they read the job's inbox, the inbox is not read again. Its requests are kept
/// and are applied after `latch job resolve --continue`.
#[test]
fn a_job_whose_inbox_nobody_survives_is_parked_unread() {
    let server = Server::start();
    let place = fetching(&server, "max_attempts_without_progress = 2");
    plan(&place, &[fetch("a", &[], server.url("/a"))]);
    let job = detached(&place, &[]);
    let dies = || killed(latch(&place.dir, &["worker", "--until-idle"]).env("LATCH_CRASH_AT", "inbox_read:before:1"));
    for round in 1..=2 {
        if round == 1 {
            let mut cancel = latch(&place.dir, &["job", "cancel", &job]);
            assert!(
                killed(cancel.env("LATCH_CRASH_AT", "claim_look:before:1")),
                "the request is stored but not applied"
            );
        } else {
            assert_eq!(place.latch(&["job", "resolve", &job, "--continue"]).code, 0);
        }
        for _ in 1..=3 {
            assert!(dies(), "round {round}");
        }
        assert!(!dies(), "round {round}: the inbox is not read");
        let shown = state(&place, &job);
        assert_eq!(
            (&shown["state"], &shown["reason_code"]),
            (&json!("PARKED"), &json!("ATTEMPTS_EXHAUSTED")),
            "{shown:#}"
        );
        assert!(shown["cause"].as_str().is_some_and(|cause| cause.starts_with("3 attempts in a row")), "{shown:#}");
        let next = shown["next_actions"].as_array().expect("a list");
        assert!(shown["pending"].as_array().is_some_and(|pending| !pending.is_empty()), "{shown:#}");
        if round == 1 {
            assert_eq!(
                next[0],
                format!("latch job resolve {job} --continue"),
                "the first next action has an effect: {shown:#}"
            );
        }
    }
    assert_eq!(lets_go_on(&place, &job), json!({ "CANCELLED": 1 }), "the stored request is applied");
    assert_eq!(server.asked().len(), 0);
    evidence::holds(&place, &job, "in the end");
}

/// I100: a cancelled job that crashes its processes is parked, too. The cancellation takes effect once the
/// job continues.
#[test]
fn a_cancelled_job_that_ends_its_processes_is_parked() {
    let lease = "max_attempts_without_progress = 2\nlease = \"1s\"\nheartbeat = \"200ms\"\nclock_margin = \"100ms\"";
    let place = Place::witness("atomic").approved(vec!["q"]).configure_first(lease);
    let place = place.plan(&[step("q", "Effect.Queryable", &[], json!({ "note": 1 }))]);
    let job = workers::detached(&place);
    let dies = |at: &str| killed(latch(&place.dir, &["worker", "--until-idle"]).env("LATCH_CRASH_AT", at));
    assert!(dies("execute:after:1"));
    let mut cancel = latch(&place.dir, &["job", "cancel", &job]);
    assert!(killed(cancel.env("LATCH_CRASH_AT", "claim_look:before:1")), "the request is stored but not applied");
    let mut ended = 0;
    while dies("reconcile:before:1") {
        ended += 1;
        assert!(ended < 6, "the job is never parked");
    }
    let shown = state(&place, &job);
    let cause = "2 attempts in a row were cut off and brought nothing forward; q was under way when the last one ended";
    assert_eq!((&shown["state"], &shown["cause"]), (&json!("PARKED"), &json!(cause)), "{shown:#}");
    assert_eq!(lets_go_on(&place, &job), json!({ "CANCELLED": 1 }));
    assert_eq!(place.world()["q"], 1);
    evidence::holds(&place, &job, "in the end");
}

/// I100: a job parked after crashes can be cancelled.
#[test]
fn a_job_that_was_parked_as_poison_can_be_cancelled() {
    let server = Server::start();
    let place = fetching(&server, "max_attempts_without_progress = 2");
    plan(&place, &[fetch("boom", &[], server.url("/a"))]);
    let job = detached(&place, &[]);
    let mut ended = 0;
    while killed(latch(&place.dir, &["worker", "--until-idle"]).env("LATCH_CRASH_AT", "execute:before:1")) {
        ended += 1;
        assert!(ended < 6, "the job is never parked");
    }
    assert_eq!(state(&place, &job)["state"], "PARKED");
    place.latch(&["job", "cancel", &job]);
    place.latch(&["worker", "--until-idle"]);
    assert_eq!(state(&place, &job)["state"], "CANCELLED");
}
