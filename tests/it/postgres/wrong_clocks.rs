//! Workers on two machines: one clock is five minutes ahead, the other clock is five minutes behind.

use std::path::Path;
use std::process::Command;

use serde_json::json;
use sqlx::Row;

use crate::support::database::blocking_database;
use crate::support::program::command_output;
use crate::support::running_worker::{
    RunningWorker, events_of, open_jobs, resolve_until_over, submit_detached, worker_command,
};
use crate::support::servers::postgres::server::sql;
use crate::support::test_env::{TestEnv, step, wait};
use crate::support::{program, shims};

const FIVE_MINUTES_S: i64 = 300;
/// Timeout of the wait. The clocks are wrong by five minutes, which is more than this timeout. On the clock that is
/// ahead, the timeout is therefore over as soon as the wait begins.
const TIMEOUT: &str = "4m";

/// Runs the command with a clock that is wrong by this number of seconds.
fn with_wrong_clock(mut command: Command, shim: &Path, seconds: i64) -> Command {
    command.env("LD_PRELOAD", shim).env("CLOCK_SHIFT", seconds.to_string());
    command
}

fn server_now_us(url: &str) -> i64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let now = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT";
    runtime.block_on(sql(url, now))[0].get::<i64, _>(0)
}

/// Submits a job that calls, waits for a timer and calls again. Returns the job id.
fn submit_calls(place: &TestEnv, n: u32) -> String {
    let call = |id: &str, operator: &str, after: &[&str], note| {
        let mut call = step(id, operator, after, note);
        call["idempotency_template"] = json!(format!("{id}:{n}"));
        call
    };
    let steps = [
        // The call takes long enough that a worker with a wrong clock would consider the lease expired.
        call("o", "Effect.Opaque", &[], json!({ "note": n, "after_ms": 1500 })),
        wait("w", json!({ "wait_kind": "timer", "duration": "700ms" })),
        call("k", "Effect.Keyed", &["o", "w"], json!({ "note": n })),
    ];
    submitted(place, json!(steps))
}

fn submitted(place: &TestEnv, steps: serde_json::Value) -> String {
    let plan = json!({ "plan_id": "p", "schema_version": "1.0", "steps": steps });
    std::fs::write(place.dir.join("plan.json"), plan.to_string()).expect("writable");
    submit_detached(place)
}

/// I90, I113: leases, timers, timeouts and event times use the server's clock, whatever the workers' clocks
/// show. No job is taken over, no timer fires early, and no wait ends early.
#[test]
fn workers_with_wrong_clocks_take_over_nothing_and_fire_nothing_early() {
    let Some(url) = blocking_database() else { return };
    let place = TestEnv::witness("atomic").with_approved(vec!["o", "k"]).with_database(&url);
    let shim = shims::compile_shim("clock", &place.dir);
    let before_us = server_now_us(&url);
    let patient = json!({ "wait_kind": "signal", "correlation_key": "reply", "timeout": TIMEOUT });
    let waiting = submitted(&place.fresh_copy().with_approved(vec![]), json!([wait("s", patient)]));
    let workers: Vec<RunningWorker> = [FIVE_MINUTES_S, -FIVE_MINUTES_S]
        .map(|seconds| {
            RunningWorker::start(&place, with_wrong_clock(worker_command(&place, &["--jobs", "3"]), &shim, seconds))
        })
        .into();
    let jobs: Vec<String> = (0..6).map(|n| submit_calls(&place, n)).collect();
    // Waits until only the job with the signal wait is open.
    while open_jobs(&place).iter().any(|job| job["job_id"] != json!(waiting)) {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(open_jobs(&place)[0]["job_id"], json!(waiting), "the wait has not timed out");
    let signalled = place.latch(&["job", "signal", &waiting, "reply", "--payload", "1"]);
    assert_eq!(signalled.code, 0, "{}", signalled.stderr);
    assert_eq!(resolve_until_over(&place, "wrong clocks"), 0, "nothing was in doubt");
    for worker in workers {
        let notes = worker.messages();
        let (code, tally) = worker.stop();
        assert_eq!((code, &tally["failed"], &tally["lost"]), (Some(0), &json!(0), &json!(0)), "{tally} {notes}");
        assert!(notes.contains(" begins"), "both workers have work: {notes}");
    }
    let after_us = server_now_us(&url);
    for id in jobs.iter().chain([&waiting]) {
        let events = events_of(&place, id);
        let mut last_us = before_us;
        for event in &events {
            let time_us = event["time_us"].as_i64().expect("a time");
            assert!((last_us..=after_us).contains(&time_us), "{id}: {last_us} to {after_us}: {event:#}");
            last_us = time_us;
            if event["type"] == "timer_fired" {
                assert!(event["due_us"].as_i64() <= Some(time_us), "the timer does not fire early: {event:#}");
            }
        }
        let claims = events.iter().filter(|event| event["type"] == "job_claimed");
        let lost = events.iter().filter(|event| event["type"] == "job_lease_lost").count();
        assert!(claims.count() >= 1 && lost == 0, "{id}: {events:#?}");
    }
    let world = place.effect_counts();
    assert_eq!((world["o"], world["k"], world["applied k"]), (6, 6, 6), "{world:?}");
}

/// Checks the shim. A database file uses the machine's time, so a wrong clock must change the times of its events.
#[test]
fn wrong_clock_is_visible_in_a_database_file() {
    let place =
        TestEnv::witness("atomic").with_approved(vec!["o"]).with_plan(&[step("o", "Effect.Opaque", &[], json!({}))]);
    let shim = shims::compile_shim("clock", &place.dir);
    let mut times = Vec::new();
    for seconds in [-FIVE_MINUTES_S, 0, FIVE_MINUTES_S] {
        let place = place.fresh_copy();
        let command = program::latch_command(&place.dir, &place.run_args());
        let ran = command_output(with_wrong_clock(command, &shim, seconds).output().expect("latch runs"));
        assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
        let id = ran.json()["job_id"].as_str().expect("an id").to_owned();
        times.push(events_of(&place, &id)[0]["time_us"].as_i64().expect("a time"));
    }
    // The first run has the clock that is behind, and the last run has the clock that is ahead. The recorded time of a
    // run is therefore later than that of the previous run, by at least the difference between their clocks.
    let least_us = FIVE_MINUTES_S * 1_000_000;
    assert!(times[1] - times[0] >= least_us && times[2] - times[1] >= least_us, "{times:?}");
}
