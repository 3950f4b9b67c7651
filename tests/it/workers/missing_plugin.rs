//! Workers that lack a plugin, next to workers that have the plugin.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use latchwork_engine::os::clock::boot_us;

use crate::support::database::{alter_database, blocking_database};
use crate::support::program::latch_command;
use crate::support::running_worker::{RunningWorker, events_of, resolve_until_over};
use crate::support::test_env::{TestEnv, step};
use crate::support::waiting::wait_until;
use crate::support::{program, running_worker};

const JOBS: u32 = 6;

/// A lease that never expires during a test.
const LONG_LEASE: &str = "lease = \"10m\"\nheartbeat = \"1m\"";

/// Creates an environment with a second configuration that lacks the witness's opaque, keyed and read
/// operators.
fn env_with_two_configurations() -> TestEnv {
    let place = TestEnv::witness("atomic").with_approved(vec!["q", "o"]).fresh_copy().configure_first(LONG_LEASE);
    write_lacking_config(&place);
    place
}

/// Writes `lacking.toml`, which is `latch.toml` without the plugin `witness`.
fn write_lacking_config(place: &TestEnv) {
    let whole = std::fs::read_to_string(place.dir.join("latch.toml")).expect("the configuration was written");
    let is_other = |table: &&str| !table.starts_with("\nname = \"witness\"");
    let tables: Vec<&str> = whole.split("[[plugin]]").filter(is_other).collect();
    assert_eq!(tables.len(), 3, "{whole}");
    std::fs::write(place.dir.join("lacking.toml"), tables.join("[[plugin]]")).expect("writable");
}

/// Writes a plan of two calls: one that every worker can execute, and one that needs the plugin `witness`.
fn write_plan(place: &TestEnv, number: u32) {
    let called = |id: &str, name: &str, depends_on: &[&str]| {
        let mut step = step(id, name, depends_on, json!({ "note": number }));
        step["idempotency_template"] = json!(format!("{id}:{number}"));
        step
    };
    let steps = [called("q", "Effect.Queryable", &[]), called("o", "Effect.Opaque", &["q"])];
    let plan = json!({ "plan_id": "p", "schema_version": "1.0", "steps": steps });
    std::fs::write(place.dir.join("plan.json"), plan.to_string()).expect("writable");
}

fn submit_detached(place: &TestEnv, number: u32) -> String {
    write_plan(place, number);
    running_worker::submit_detached(place)
}

/// Returns the command of a worker in `dir` that lacks the plugin `witness`.
fn lacking_worker(dir: &Path, args: &[&str]) -> Command {
    latch_command(dir, &[&["worker", "--json", "--config", "lacking.toml"], args].concat())
}

/// Returns the number of claims and of releases of a job.
fn claims_and_releases(place: &TestEnv, job: &str) -> (usize, usize) {
    let events = events_of(place, job);
    let count = |what: &str| events.iter().filter(|event| event["type"] == what).count();
    assert_eq!(count("job_parked"), 0, "{job}: {events:#?}");
    (count("job_claimed"), count("job_released"))
}

fn job_state(place: &TestEnv, job: &str) -> Value {
    place.latch(&["job", "show", job, "--json"]).json()["state"].clone()
}

/// Starts a worker without the plugin in the folder `other`, and waits until it has claimed and released
/// every job. Then starts a worker with the plugin, and checks that it completes all jobs.
fn check_two_kinds_of_workers(place: &TestEnv, other: &Path) {
    let jobs: Vec<String> = (0..JOBS).map(|number| submit_detached(place, number)).collect();
    let without = RunningWorker::start(place, lacking_worker(other, &[]));
    for job in &jobs {
        wait_until("the job is left to other workers", || {
            without.messages().contains(&format!("{job} is left to workers that have its plugin"))
        });
    }
    for job in &jobs {
        assert_eq!((job_state(place, job), claims_and_releases(place, job)), (json!("PENDING"), (1, 1)), "{job}");
    }
    let with = RunningWorker::start(place, running_worker::worker_command(place, &[]));
    assert_eq!(resolve_until_over(place, "two kinds of workers"), 0, "no call needs a resolution");
    for job in &jobs {
        let (claimed, released) = claims_and_releases(place, job);
        assert_eq!((job_state(place, job), claimed - released), (json!("COMPLETED"), 1), "{job}");
        // Without delays, each job is claimed twice: by the worker without the plugin and by the worker with the
        // plugin. On a slow machine the first worker may claim a job a second time, so up to three claims are accepted.
        assert!(claimed <= 3, "{job} was claimed {claimed} times");
    }
    for (worker, rested, left) in [(without, json!({}), JOBS), (with, json!({ "COMPLETED": JOBS }), 0)] {
        let notes = worker.messages();
        let (code, summary) = worker.stop();
        assert_eq!((code, &summary["rested"], &summary["failed"]), (Some(0), &rested, &json!(0)), "{summary} {notes}");
        assert!(summary["left"].as_u64() >= Some(u64::from(left)), "{summary} {notes}");
    }
}

/// I121: a worker that lacks a job's plugin releases the job unchanged. The attempt does not count. A worker
/// that has the plugin can claim the job without waiting for a lease to expire.
#[test]
fn job_is_left_to_a_worker_that_has_its_plugin() {
    let place = env_with_two_configurations();
    check_two_kinds_of_workers(&place, &place.dir);
    let world = place.effect_counts();
    assert_eq!((world["q"], world["o"]), (JOBS, JOBS), "{world:?}");
}

/// I121: a worker on a machine that lacks a job's plugin leaves the job to a machine that has the plugin. Both machines
/// use one database on a server.
#[test]
fn job_is_left_to_a_machine_that_has_its_plugin() {
    let Some(url) = blocking_database() else { return };
    let place = env_with_two_configurations().with_database(&url);
    write_lacking_config(&place);
    let mut other = place.fresh_copy();
    // A replay requires the plugins of the first machine. The environment of the other machine therefore does not
    // replay the jobs when it is dropped.
    other.skip_replay_of_many_jobs();
    check_two_kinds_of_workers(&place, &other.dir);
    assert_eq!((place.effect_counts().get("o"), other.effect_counts().get("o")), (Some(&JOBS), None));
    assert_eq!((place.effect_counts().get("q"), other.effect_counts().get("q")), (None, Some(&JOBS)));
}

/// I121: a worker without a job's plugin claims the job repeatedly and reports the missing plugin. The job is never
/// parked.
#[test]
fn worker_without_the_plugin_leaves_the_job_unchanged() {
    let place = env_with_two_configurations().configure_first("max_attempts_without_progress = 2");
    write_lacking_config(&place);
    let job = submit_detached(&place, 0);
    for nth in 1..=6 {
        let ran = program::command_output(lacking_worker(&place.dir, &["--until-idle"]).output().expect("latch runs"));
        let summary = ran.json();
        assert_eq!(
            (ran.code, &summary["left"], &summary["failed"]),
            (1, &json!(1), &json!(0)),
            "{summary} {}",
            ran.stderr
        );
        for message in [&job[..], "needs the plugin version for Effect.Opaque", "configure the plugin here"] {
            assert!(ran.stderr.contains(message), "{message}: {}", ran.stderr);
        }
        assert_eq!((job_state(&place, &job), claims_and_releases(&place, &job)), (json!("PENDING"), (nth, nth)));
    }
    // `latch resume` leaves the job unchanged, too, and reports the missing plugin.
    let mut resume = latch_command(&place.dir, &["resume", &job, "--json", "--config", "lacking.toml"]);
    let ran = program::command_output(resume.output().expect("latch runs"));
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (2, &json!("L0020")), "{} {}", ran.stdout, ran.stderr);
    assert_eq!((job_state(&place, &job), claims_and_releases(&place, &job)), (json!("PENDING"), (7, 7)));
    // The worker continues with other jobs. It claims the job whose plugin is missing again, but only later.
    let without = RunningWorker::start(&place, lacking_worker(&place.dir, &["--jobs", "1"]));
    let left = || without.messages().matches(&format!("{job} is left to workers")).count();
    wait_until("the job is left to other workers", || left() == 1);
    let since_us = boot_us();
    let others: Vec<String> = (1..=3).map(|number| submit_detached(&place, number)).collect();
    for other in &others {
        wait_until("the next job is left to other workers", || {
            without.messages().contains(&format!("{other} is left to workers"))
        });
    }
    // The worker skips the job for 30 s after the first failure.
    if boot_us() - since_us < 25_000_000 {
        assert_eq!((left(), claims_and_releases(&place, &job)), (1, (8, 8)), "{}", without.messages());
    }
    assert_eq!(without.stop().0, Some(0));
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!((ran.code, &ran.json()["rested"]), (0, &json!({ "COMPLETED": 4 })), "{} {}", ran.stdout, ran.stderr);
}

/// I121: `latch resume` finds a job whose plugin is missing and a job that cannot be read. It reports these jobs and
/// continues with the other jobs.
#[test]
fn resume_continues_past_jobs_that_cannot_be_loaded() {
    let mut place = env_with_two_configurations();
    place.skip_replay_of_damaged_jobs();
    let damaged = submit_detached(&place, 0);
    alter_database(&place.dir.join("latch.db"), "UPDATE events SET bytes = replace(bytes, 'ada', 'eve')");
    let lacking = submit_detached(&place, 1);
    let reads = step("r", "Effect.Queryable", &[], json!({ "note": 9 }));
    let place = place.with_approved(vec!["r"]).with_plan(&[reads]);
    let good = running_worker::submit_detached(&place);
    let resumed = place.latch(&["resume", "--json", "--config", "lacking.toml"]);
    let summary = resumed.json();
    assert_eq!((resumed.code, job_state(&place, &good)), (2, json!("COMPLETED")), "{summary:#} {}", resumed.stderr);
    let codes = [&damaged, &lacking].map(|job| summary["left"][job]["code"].clone());
    assert_eq!(codes, [json!("L0030"), json!("L0020")], "{summary:#}");
    for job in [&damaged, &lacking] {
        assert!(resumed.stderr.contains(&format!("{job} cannot continue here: ")), "{}", resumed.stderr);
    }
}

/// A worker that cannot load a damaged job reports the job once. It does not claim the job again after the lease of the
/// first claim has expired.
#[test]
fn damaged_job_is_skipped_by_the_worker() {
    let lease = "lease = \"600ms\"\nheartbeat = \"100ms\"\nclock_margin = \"50ms\"";
    let mut place = TestEnv::witness("atomic").with_approved(vec!["q", "o"]).fresh_copy().configure_first(lease);
    place.skip_replay_of_damaged_jobs();
    let job = submit_detached(&place, 0);
    alter_database(&place.dir.join("latch.db"), "UPDATE events SET bytes = replace(bytes, 'ada', 'eve')");
    let good = submit_detached(&place, 1);
    let worker = RunningWorker::start(&place, running_worker::worker_command(&place, &[]));
    wait_until("the other one is done", || job_state(&place, &good) == json!("COMPLETED"));
    wait_until("the damaged job is reported", || worker.messages().contains(&format!("{job} is skipped")));
    // Waits for five leases, to show that the job is not claimed again.
    std::thread::sleep(Duration::from_secs(3));
    let notes = worker.messages();
    // Only this job is counted, because the other job may have lost its lease on a busy machine.
    let count = |what: &str| notes.matches(&format!("{job} {what}")).count();
    assert_eq!((count("begins"), count("continues")), (1, 0), "{notes}");
    assert!(notes.contains("L0030"), "{notes}");
    assert_eq!(worker.stop().0, Some(0));
}
