//! The database cannot be written to for a while. Recorded answers are not lost, and workers keep their jobs.

use std::fs::File;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::postgres::outages::server_failures::set_read_only;
use crate::support::database::blocking_database;
use crate::support::kills::is_killed;
use crate::support::program::latch_command;
use crate::support::running_worker::{
    RunningWorker, events_of, resolve_until_over, submit_detached, worker_command, worker_through,
};
use crate::support::seed::is_sweep;
use crate::support::servers::postgres::proxy::Proxy;
use crate::support::servers::postgres::server::{Server, sql};
use crate::support::suspension::{continue_process, is_suspended};
use crate::support::test_env::{TestEnv, step, wait};
use crate::support::waiting::{block_on, wait_until};

/// Configures a job whose opaque call performs its effect long before it returns. The call cannot be
/// reconciled.
fn with_opaque_call(place: TestEnv) -> TestEnv {
    let lease = "lease = \"2s\"\nheartbeat = \"300ms\"\nclock_margin = \"200ms\"";
    let step = step("o", "Effect.Opaque", &[], json!({ "note": 1, "after_ms": 1_500 }));
    place.with_approved(vec!["o"]).with_call_timeout("5s").configure_first(lease).with_plan(&[step])
}

/// I87, I127: if the server becomes read-only during a call, the answer is recorded once the server is writable again.
/// No call is in doubt and no decision is required.
#[test]
fn answer_is_recorded_after_the_server_was_read_only() {
    for commit in ["atomic", "staged"] {
        let Some(server) = Server::start() else { return };
        let place = with_opaque_call(TestEnv::witness(commit).with_database(&server.url()));
        let job = submit_detached(&place);
        let working = RunningWorker::start(&place, worker_command(&place, &[]));
        wait_until("the call is in flight", || place.effect_counts().contains_key("o"));
        block_on(set_read_only(&server.url(), true));
        // The server stays read-only until the call has ended and the lease has expired.
        std::thread::sleep(Duration::from_secs(4));
        block_on(set_read_only(&server.url(), false));
        assert_eq!(
            resolve_until_over(&place, "no writes for a while"),
            0,
            "{commit}: nothing was in doubt: {}",
            working.messages()
        );
        assert_eq!(place.effect_counts()["o"], 1);
        let state = place.latch(&["job", "show", &job, "--json"]).json()["state"].clone();
        assert_eq!(state, "COMPLETED", "{commit}: {}", working.messages());
    }
}

/// I127: if a worker has an answer but cannot reach the database, another worker claims the job and parks it. Once the
/// first worker reaches the database, the job receives the answer and completes, without a person's decision. With
/// `LATCH_TEST_SWEEP`, the outage lasts longer than the time for which the worker retries a commit.
#[test]
fn answer_of_a_worker_disconnected_from_the_database_reaches_the_next_lease_holder() {
    let Some(url) = blocking_database() else { return };
    let place = with_opaque_call(TestEnv::witness("atomic").with_database(&url));
    let is_away = Arc::new(AtomicBool::new(false));
    let away = is_away.clone();
    let proxy = Proxy::start(&url, move |_| away.load(Ordering::SeqCst));
    let job = submit_detached(&place);
    let disconnected = worker_through(&place, &proxy);
    wait_until("the call is in flight", || place.effect_counts().contains_key("o"));
    is_away.store(true, Ordering::SeqCst);
    proxy.redirect_to("postgres://latch@127.0.0.1:1/away");
    let _other = RunningWorker::start(&place, worker_command(&place, &[]));
    wait_until("the call is in doubt", || place.only_job()["state"] == "PARKED");
    if is_sweep() {
        std::thread::sleep(Duration::from_secs(30));
        wait_until("it is kept", || disconnected.messages().contains("keeping it and retrying"));
    }
    is_away.store(false, Ordering::SeqCst);
    proxy.redirect_to(&url);
    wait_until("the job completes by itself", || place.only_job()["state"] == "COMPLETED");
    assert_eq!(place.effect_counts()["o"], 1);
    let all = events_of(&place, &job);
    let by_whom: Vec<_> = all.iter().filter(|event| event["type"] == "job_claimed").collect();
    assert!(by_whom.len() >= 3, "{all:#?}");
    assert!(
        !all.iter().any(|event| event["type"] == "invocation_resolved"),
        "no call was resolved by a person: {all:#?}"
    );
}

/// I125: while the effect database of a job is unreachable, every worker that claims the job releases it again. Once
/// the effect database is reachable, the job completes. The released attempts do not count as attempts without
/// progress.
#[test]
fn job_is_released_while_its_effect_database_is_unreachable() {
    let Some(server) = Server::start() else { return };
    let place = with_separate_effect_database(&server);
    let pause = wait("w", json!({ "wait_kind": "timer", "duration": "4s" }));
    let place = place.with_plan(&[pause, step("o", "Effect.Opaque", &["w"], json!({ "note": 1 }))]);
    let job = submit_detached(&place);
    let working = RunningWorker::start(&place, worker_command(&place, &["--jobs", "1"]));
    wait_until("the job waits", || place.only_job()["state"] == "WAITING");
    set_effects_unreachable(&server, true);
    wait_until("the job is released three times", || {
        working.messages().matches(&format!("{job} is released")).count() >= 3
    });
    set_effects_unreachable(&server, false);
    assert_eq!(
        resolve_until_over(&place, "effects were away"),
        0,
        "no call was resolved by a person: {}",
        working.messages()
    );
    let released = events_of(&place, &job).iter().filter(|event| event["type"] == "job_released").count();
    assert!(released >= 3, "{released}");
    let (code, tally) = working.stop();
    assert_eq!((code, &tally["rested"]["COMPLETED"]), (Some(0), &json!(1)), "{tally}");
    assert_eq!(place.effect_counts()["o"], 1);
}

/// I125: a retry of a finished job is requested, and then the effect database becomes unreachable. A worker that claims
/// the job releases it. Once the effect database is reachable again, the retry is carried out.
#[test]
fn retry_is_carried_out_after_the_effect_database_was_unreachable() {
    let Some(server) = Server::start() else { return };
    // The call fails for good, because its argument is not a number.
    let wrong = json!({ "note": 1, "before_ms": "x" });
    let place = with_separate_effect_database(&server).with_plan(&[step("o", "Effect.Opaque", &[], wrong)]);
    let job = submit_detached(&place);
    assert_eq!(place.latch(&["worker", "--until-idle"]).code, 0);
    // The worker opens the effect database and is then suspended. The worker continues once the retry is requested and
    // the effect database is unreachable.
    let working = RunningWorker::start(&place, worker_command(&place, &["--jobs", "1"]));
    wait_until("the worker works", || working.messages().contains("working, "));
    suspend(&place, &working.child);
    let mut retry = latch_command(&place.dir, &["job", "retry", &job]);
    assert!(
        is_killed(retry.env("LATCH_CRASH_AT", "claim_look:before:1")),
        "the retry is requested, and its process is killed"
    );
    set_effects_unreachable(&server, true);
    continue_process(&working.child);
    wait_until("the job is released three times", || {
        working.messages().matches(&format!("{job} is released")).count() >= 3
    });
    set_effects_unreachable(&server, false);
    wait_until("the job fails again", || place.only_job()["state"] == "FAILED");
    let all = events_of(&place, &job);
    let reopened: Vec<_> = all.iter().filter(|event| event["type"] == "job_reopened").collect();
    assert_eq!((reopened.len(), &reopened[0]["steps"]), (1, &json!(["o"])), "{all:#?}");
    let tried = all.iter().filter(|event| event["type"] == "tool_invocation_finished").count();
    assert!(tried == 2, "the call was tried again: {all:#?}");
    assert!(!all.iter().any(|event| event["type"] == "job_parked"), "the attempts do not count: {all:#?}");
}

/// Suspends the worker at a moment when it does not hold the generation lock. Every other process of the environment
/// needs this lock.
fn suspend(place: &TestEnv, worker: &Child) {
    let servers = std::fs::read_dir(place.dir.join(".latch/servers")).expect("the worker created the directory");
    let locks: Vec<_> = servers.map(|entry| entry.expect("readable").path().join("generation.lock")).collect();
    wait_until("the worker is suspended without the lock", || {
        kill_process(Pid::from_child(worker), Signal::STOP).expect("the setting exists");
        wait_until("the worker is suspended", || is_suspended(worker));
        let is_free = |path: &PathBuf| match File::open(path) {
            Ok(file) => flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok(),
            // The lock file exists only if a process has used the server for work. Without the file, the worker does
            // not hold the lock.
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        let suspended = locks.iter().all(is_free);
        if !suspended {
            continue_process(worker);
        }
        suspended
    });
}

/// Returns an environment whose effects are in a separate database on the same server.
fn with_separate_effect_database(server: &Server) -> TestEnv {
    block_on(sql(&server.url(), "CREATE DATABASE effects"));
    let (base, parameters) = server
        .url()
        .split_once('?')
        .map_or((server.url(), String::new()), |(base, rest)| (base.to_owned(), format!("?{rest}")));
    let effects = format!("{}/effects{parameters}", base.rsplit_once('/').expect("it names a database").0);
    let place = TestEnv::witness("staged").with_database(&server.url()).with_approved(vec!["o"]);
    place.configure_first(&format!("effect_store = {effects:?}\nmax_attempts_without_progress = 2"))
}

fn set_effects_unreachable(server: &Server, away: bool) {
    let allow = format!("ALTER DATABASE effects ALLOW_CONNECTIONS {}", !away);
    block_on(sql(&server.url(), &allow));
    if away {
        let ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'effects'";
        block_on(sql(&server.url(), ended));
    }
}

/// I120: if loading a job takes longer than a lease, the job stays with the worker that loads it.
#[test]
fn lease_is_renewed_while_a_job_is_loaded() {
    let Some(server) = Server::start() else { return };
    let place = with_opaque_call(TestEnv::witness("atomic").with_database(&server.url()));
    let lease = "lease = \"1500ms\"\nheartbeat = \"200ms\"\nclock_margin = \"100ms\"";
    let file = place.dir.join("latch.toml");
    let config = std::fs::read_to_string(&file)
        .expect("the configuration exists")
        .split_once("margin = \"200ms\"")
        .expect("the setting exists")
        .1
        .to_owned();
    std::fs::write(&file, format!("{lease}{config}")).expect("writable");
    let job = submit_detached(&place);
    let locked = std::thread::scope(|scope| {
        let locks = scope.spawn(|| {
            let text = "DO $$ BEGIN LOCK TABLE payloads IN ACCESS EXCLUSIVE MODE; PERFORM pg_sleep(4); END $$";
            block_on(sql(&server.url(), text));
        });
        std::thread::sleep(Duration::from_millis(300));
        let working: Vec<RunningWorker> =
            (0..2).map(|_| RunningWorker::start(&place, worker_command(&place, &[]))).collect();
        locks.join().expect("the lock is released");
        working
    });
    assert_eq!(resolve_until_over(&place, "loading took long"), 0);
    for working in locked {
        let notes = working.messages();
        let (code, tally) = working.stop();
        assert_eq!((code, &tally["lost"], &tally["failed"]), (Some(0), &json!(0), &json!(0)), "{notes}");
    }
    let claims: Vec<Value> =
        events_of(&place, &job).into_iter().filter(|event| event["type"] == "job_claimed").collect();
    assert_eq!(claims.len(), 1, "{claims:#?}");
    assert_eq!(claims[0]["attempt"], 1);
}
