//! Processes that are suspended until their lease has expired. Each test suspends a process, lets another process
//! finish the job, and continues the suspended process. The continued process must detect the expired lease. Outside of
//! tests, a suspended machine, a debugger or a paused container has the same effect.
//!
//! A printed seed selects half of the statements, and with a database on a server a few of the points. With
//! `LATCH_TEST_SWEEP` every point is used.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use latchwork::runtime::EXECUTE_POINTS;
use latchwork_store::{POSTGRES_STATEMENTS, STATEMENTS};

use crate::support::database::blocking_database;
use crate::support::kills::{STATEMENTS_OF_COMMANDS, STATEMENTS_OF_FAULTS, check_single_job};
use crate::support::program::command_output;
use crate::support::running_worker::{RunningWorker, resolve_until_over, submit_detached, worker_command};
use crate::support::seed::{COMMITS, Half, half_of, is_sweep, run_seed, seeded_rng, shuffled};
use crate::support::suspension::{
    MAX_CHECKS, continue_process, env_with_short_lease, is_suspended, run_until_suspended,
};
use crate::support::test_env::TestEnv;

/// Number of points tried concurrently. Nearly all of the time is spent waiting for leases and deadlines.
const CONCURRENT_POINTS: usize = 8;

/// Suspends a run at the point, lets another process finish the job, and continues the run. Returns true if the other
/// process could take over. Returns false if the suspended run held the database's lock, which blocks all other
/// processes. Returns `None` if the run ended before the point.
fn take_over_suspended_run(template: &TestEnv, point: &str) -> Option<bool> {
    let place = template.fresh_copy();
    let child = run_until_suspended(&place, point)?;
    let taken_over = {
        let first = place.latch(&place.run_args());
        match first.code {
            0 | 3 => {
                place.finish_with_observed_effects();
                true
            }
            _ => {
                let code = first.json()["error"]["code"].clone();
                assert_eq!(code, "L0032", "{point}: {} {}", first.stdout, first.stderr);
                false
            }
        }
    };
    let before = settled_effects(&place, point);
    continue_process(&child);
    let late = command_output(child.wait_with_output().expect("it ends"));
    assert!(matches!(late.code, 0 | 1 | 3), "{point}: {} {} {}", late.code, late.stdout, late.stderr);
    if taken_over {
        let after = settled_effects(&place, point);
        assert_eq!(after, before, "{point}: the process executed a call after its lease had expired: {}", late.stderr);
    } else {
        place.finish_with_observed_effects();
    }
    check_single_job(&place, &format!("stopped at {point}"));
    Some(taken_over)
}

/// Returns the effects that must not change after the suspended process continues.
///
/// If the process is suspended at a statement of its heartbeat, the effects of keyed calls are left out. A call of the
/// process may then have passed the last check of the lease already, and may be executed late. A late execution of a
/// keyed call does no harm, because the effect of one key is applied only once.
fn settled_effects(place: &TestEnv, point: &str) -> BTreeMap<String, u32> {
    let mut world = place.effect_counts();
    if point.starts_with("heartbeat:") {
        let keyed: Vec<String> =
            world.keys().filter_map(|label| label.strip_prefix("applied ").map(str::to_owned)).collect();
        world.retain(|label, _| !keyed.contains(label));
    }
    world
}

/// Suspends a worker at the point, lets another worker finish the job, and continues the first worker. The database is
/// on a PostgreSQL server. The server ends the session of the first worker, so the locks of this session do not block
/// the other worker.
fn take_over_suspended_worker(template: &TestEnv, point: &str, commit: &str) -> Option<bool> {
    let place = template.fresh_copy().with_database(&blocking_database()?);
    submit_detached(&place);
    let mut command = worker_command(&place, &[]);
    command.env("LATCH_STOP_AT", point);
    let mut late = RunningWorker::start(&place, command);
    if !is_suspended_before_end(&place, &mut late) {
        return None;
    }
    // With another state directory, the next worker acts like a worker on another machine. It does not wait
    // for the owner locks of the first worker.
    let place = place.configure_first("state_dir = \".elsewhere\"");
    let other = RunningWorker::start(&place, worker_command(&place, &[]));
    resolve_until_over(&place, point);
    let (code, tally) = other.stop();
    assert_eq!((code, &tally["failed"]), (Some(0), &0.into()), "{point}: {tally}");
    let before = settled_effects(&place, point);
    continue_process(&late.child);
    late.wait_until_idle();
    let notes = late.messages();
    assert_eq!(late.stop().0, Some(0), "{point}: {notes}");
    assert_eq!(
        settled_effects(&place, point),
        before,
        "{point}: the worker executed a call after its lease had expired: {notes}"
    );
    check_single_job(&place, &format!("{commit}, a worker stopped at {point}"));
    Some(true)
}

/// Returns true if the worker was suspended at its point before the job ended.
fn is_suspended_before_end(place: &TestEnv, worker: &mut RunningWorker) -> bool {
    for look in 0..MAX_CHECKS {
        if is_suspended(&worker.child) {
            return true;
        }
        assert!(worker.child.try_wait().expect("our child").is_none(), "the worker ended: {}", worker.messages());
        // Reading the job's state starts a process, so the state is not read in each iteration.
        if look % 100 == 99 && place.only_job()["state"] == "COMPLETED" {
            // The job is complete, so the worker only polls. Within 500 ms the worker executes every statement of a
            // poll. A worker that is not suspended after this time does not reach its point.
            std::thread::sleep(Duration::from_millis(500));
            return is_suspended(&worker.child);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("neither stopped nor done: {}", worker.messages());
}

/// Tries points concurrently until `enough` were reached, and returns those points.
fn try_points<P: Ord + Send>(
    points: Vec<P>,
    enough: usize,
    overtaken: impl Fn(&P) -> Option<bool> + Sync,
) -> BTreeSet<(bool, P)> {
    let queue = Mutex::new(points.into_iter());
    let reached = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for _ in 0..CONCURRENT_POINTS {
            scope.spawn(|| {
                while reached.lock().unwrap().len() < enough {
                    let next = queue.lock().unwrap().next();
                    let Some(point) = next else { return };
                    if let Some(taken_over) = overtaken(&point) {
                        reached.lock().unwrap().insert((taken_over, point));
                    }
                }
            });
        }
    });
    reached.into_inner().unwrap()
}

/// Returns the points before and after the first execution of each statement.
fn first_passes(names: &[&str]) -> Vec<String> {
    names.iter().flat_map(|name| passes(name, [1])).collect()
}

fn passes(name: &str, times: impl IntoIterator<Item = u32>) -> Vec<String> {
    let known = STATEMENTS.iter().chain(POSTGRES_STATEMENTS).chain(EXECUTE_POINTS);
    assert!(known.copied().any(|known| known == name), "{name} is not a crash point");
    let both = |n: u32| ["before", "after"].map(|side| format!("{name}:{side}:{n}"));
    times.into_iter().flat_map(both).collect()
}

/// I1, I14, I111: a process that is suspended until its lease has expired executes and writes nothing more.
#[test]
fn suspended_process_cannot_execute_or_write_after_lease_expiry() {
    let template = env_with_short_lease("atomic");
    // Runs are suspended before and after each call, and before and after the first execution of a statement.
    let points: Vec<String> = first_passes(&half_of(STATEMENTS.iter().copied(), Half::First))
        .into_iter()
        .chain(EXECUTE_POINTS.iter().flat_map(|name| passes(name, 1..=9)))
        .collect();
    let reached = try_points(points, usize::MAX, |point| take_over_suspended_run(&template, point));
    let taken_over: Vec<_> = reached.iter().filter(|(taken, _)| *taken).map(|(_, point)| point).collect();
    assert!(reached.len() >= if is_sweep() { 40 } else { 25 }, "few points were reached: {reached:?}");
    assert!(taken_over.len() >= 15, "few jobs could be taken over: {taken_over:?}");
    let calls = taken_over.iter().filter(|point| point.starts_with("execute:")).count();
    assert!(calls >= 14, "the process is suspended before and after every call: {taken_over:?}");
}

/// Number of points at which one run of the suite suspends a worker.
const SAMPLE_SIZE: usize = 8;

/// Statements that no worker executes for the job of this test with a database on a server. Statements that only
/// commands execute or only faults cause are in two other lists.
const STATEMENTS_BESIDE_WORKERS: &[&str] =
    &["migrate", "submit_find", "submit_insert", "owner_read", "owners_named", "outcome", "reconcile"];

/// I1, I14, I111: a worker that uses PostgreSQL is suspended within a transaction or a call until its lease has
/// expired. Another worker takes over the job despite the locks of the suspended worker. When the suspended worker
/// continues, it executes nothing more.
#[test]
#[ignore = "waits for leases; run by .ci/long"]
fn suspended_worker_on_postgres_cannot_execute_or_write_after_lease_expiry() {
    if blocking_database().is_none() {
        return;
    }
    let points: Vec<String> = first_passes(STATEMENTS)
        .into_iter()
        .chain(first_passes(POSTGRES_STATEMENTS))
        .chain(EXECUTE_POINTS.iter().flat_map(|name| passes(name, 1..=9)))
        .chain(["begin", "commit", "group_read", "group_write"].iter().flat_map(|name| passes(name, 2..=12)))
        .collect();
    let (sweeps, templates) = (is_sweep(), COMMITS.map(|commit| (commit, env_with_short_lease(commit))));
    let [atomic, staged] = if sweeps {
        [points.clone(), points]
    } else {
        let mut dice = seeded_rng(run_seed());
        [shuffled(points.clone(), &mut dice), shuffled(points, &mut dice)]
    };
    // The points of both commit modes alternate, so a sample contains about as many points of one mode as of the other
    // mode.
    let points = atomic.into_iter().zip(staged).flat_map(|(atomic, staged)| [(0, atomic), (1, staged)]).collect();
    let reached = try_points(points, if sweeps { usize::MAX } else { SAMPLE_SIZE }, |(mode, point)| {
        let (commit, template) = &templates[*mode];
        take_over_suspended_worker(template, point, commit)
    });
    assert!(reached.len() >= SAMPLE_SIZE, "few points were reached: {reached:?}");
    if sweeps {
        for (mode, commit) in COMMITS.into_iter().enumerate() {
            let of_mode = reached.iter().filter(|(_, (of, _))| *of == mode);
            let names: BTreeSet<&str> = of_mode.filter_map(|(_, (_, point))| point.split(':').next()).collect();
            let all = STATEMENTS.iter().chain(POSTGRES_STATEMENTS).chain(EXECUTE_POINTS).copied();
            let left: BTreeSet<&str> = all.filter(|name| !names.contains(name)).collect();
            // With atomic commit, the statements for effects are not used, because effects are written with
            // their events.
            let effects: &[&str] = if commit == "staged" { &[] } else { &["effects_find", "effects_insert"] };
            let beside = [STATEMENTS_BESIDE_WORKERS, STATEMENTS_OF_COMMANDS, STATEMENTS_OF_FAULTS, effects];
            let expected: BTreeSet<&str> = beside.into_iter().flatten().copied().collect();
            assert_eq!(left, expected, "{commit}: workers were suspended at every other statement");
        }
    }
}
