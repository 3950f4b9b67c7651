//! A process is suspended past its lease and continues after another process has finished its job: a
//! suspended machine, a debugger or a paused container. The process must detect that its lease has expired.
//!
//! On a server, workers are suspended at points that a printed seed selects. With `LATCH_TEST_SWEEP` every
//! point is used.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use latchwork::worker::EXECUTE_POINTS;
use latchwork_store::{POSTGRES_STATEMENTS, STATEMENTS};

use crate::crash::{ASKED_BY_COMMANDS, ASKED_BY_FAULTS, check_world};
use crate::place::Place;
use crate::postgres::live::a_database;
use crate::program::{latch, ran};
use crate::seed::{COMMITS, dice, seed, shuffled, sweeps};
use crate::workers::{Working, detached, until_over, worker};

/// Number of points tried concurrently. Nearly all of the time is spent waiting for leases and deadlines.
const AT_ONCE: usize = 8;
/// Number of checks of a process, 5 ms apart: at least two minutes.
const LOOKS: u32 = 24_000;

/// Creates an environment with short leases and short call timeouts.
pub(crate) fn hasty(commit: &str) -> Place {
    let place = Place::witness(commit);
    let file = place.dir.join("latch.toml");
    let config = std::fs::read_to_string(&file).expect("the configuration was written");
    let config = config.replace("grants =", "limits = { timeout = \"5s\" }\ngrants =");
    let lease = "lease = \"1s\"\nheartbeat = \"200ms\"\nclock_margin = \"200ms\"\n";
    std::fs::write(file, format!("{lease}{config}")).expect("writable");
    place
}

/// Starts a run that is suspended at the point. Returns `None` if the run ended without reaching it.
pub(crate) fn stopped_at(place: &Place, point: &str) -> Option<Child> {
    let mut command = latch(&place.dir, &place.run_args());
    command.env("LATCH_STOP_AT", point);
    stopped(command)
}

/// Starts the command and returns the process once it is suspended. Returns `None` if it ended first.
pub(crate) fn stopped(mut command: Command) -> Option<Child> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("latch runs");
    for _ in 0..LOOKS {
        if is_stopped(&child) {
            return Some(child);
        }
        if child.try_wait().expect("our child").is_some() {
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{command:?}: neither stopped nor done");
}

pub(crate) fn is_stopped(child: &Child) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    // The state follows the process name, which is in parentheses and may contain any character.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

pub(crate) fn go_on(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).expect("the process exists");
}

/// Suspends a run at the point, lets another process finish the job, and continues the first one. Returns
/// true if the other process could take over. Returns false if the suspended process holds the database's
/// lock, which blocks all others until it continues.
fn run_overtaken(template: &Place, point: &str) -> Option<bool> {
    let place = template.again();
    let child = stopped_at(&place, point)?;
    let taken_over = {
        let first = place.latch(&place.run_args());
        match first.code {
            0 | 3 => {
                place.finish_with_the_truth();
                true
            }
            _ => {
                let code = first.json()["error"]["code"].clone();
                assert_eq!(code, "L0032", "{point}: {} {}", first.stdout, first.stderr);
                false
            }
        }
    };
    let before = world(&place, point);
    go_on(&child);
    let late = ran(child.wait_with_output().expect("it ends"));
    assert!(matches!(late.code, 0 | 1 | 3), "{point}: {} {} {}", late.code, late.stdout, late.stderr);
    if taken_over {
        let after = world(&place, point);
        assert_eq!(after, before, "{point}: the process executed a call after its lease had expired: {}", late.stderr);
    } else {
        place.finish_with_the_truth();
    }
    check_world(&place, &format!("stopped at {point}"));
    Some(taken_over)
}

/// Returns the effects, without those that may be applied late. The heartbeat's statement may suspend the
/// process while a call has passed its last check. A keyed call is still applied only once.
fn world(place: &Place, point: &str) -> BTreeMap<String, u32> {
    let mut world = place.world();
    if point.starts_with("heartbeat:") {
        let keyed: Vec<String> =
            world.keys().filter_map(|label| label.strip_prefix("applied ").map(str::to_owned)).collect();
        world.retain(|label, _| !keyed.contains(label));
    }
    world
}

/// Suspends a worker on a server at the point, lets another worker finish the job, and continues the first
/// one. Its locks do not block the other worker, because the server ends its session.
fn worker_overtaken(template: &Place, point: &str, commit: &str) -> Option<bool> {
    let place = template.again().on_server(&a_database()?);
    detached(&place);
    let mut command = worker(&place, &[]);
    command.env("LATCH_STOP_AT", point);
    let mut late = Working::start(&place, command);
    if !stands_still(&place, &mut late) {
        return None;
    }
    // The next worker is on another machine, so it does not wait for this machine's owner locks.
    let place = place.configure_first("state_dir = \".elsewhere\"");
    let other = Working::start(&place, worker(&place, &[]));
    until_over(&place, point);
    let (code, tally) = other.stop();
    assert_eq!((code, &tally["failed"]), (Some(0), &0.into()), "{point}: {tally}");
    let before = world(&place, point);
    go_on(&late.child);
    late.until_idle();
    let notes = late.notes();
    assert_eq!(late.stop().0, Some(0), "{point}: {notes}");
    assert_eq!(
        world(&place, point),
        before,
        "{point}: the worker executed a call after its lease had expired: {notes}"
    );
    check_world(&place, &format!("{commit}, a worker stopped at {point}"));
    Some(true)
}

/// Returns true if the worker was suspended at its point before the job ended.
fn stands_still(place: &Place, worker: &mut Working) -> bool {
    for look in 0..LOOKS {
        if is_stopped(&worker.child) {
            return true;
        }
        assert!(worker.child.try_wait().expect("our child").is_none(), "the worker ended: {}", worker.notes());
        // Asking for the job starts a process, so it is not done in each iteration.
        if look % 100 == 99 && place.the_job()["state"] == "COMPLETED" {
            // A worker without a job only polls, so it soon has executed all its statements.
            std::thread::sleep(Duration::from_millis(500));
            return is_stopped(&worker.child);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("neither stopped nor done: {}", worker.notes());
}

/// Tries points concurrently until `enough` were reached, and returns those points.
fn each<P: Ord + Send>(
    points: Vec<P>,
    enough: usize,
    overtaken: impl Fn(&P) -> Option<bool> + Sync,
) -> BTreeSet<(bool, P)> {
    let queue = Mutex::new(points.into_iter());
    let reached = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
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

/// Returns the first pass of each statement, before and after it.
fn statements(names: &[&str]) -> Vec<String> {
    names.iter().flat_map(|name| passings(name, [1])).collect()
}

fn passings(name: &str, times: impl IntoIterator<Item = u32>) -> Vec<String> {
    let known = STATEMENTS.iter().chain(POSTGRES_STATEMENTS).chain(EXECUTE_POINTS);
    assert!(known.copied().any(|known| known == name), "{name} is not a crash point");
    let both = |n: u32| ["before", "after"].map(|side| format!("{name}:{side}:{n}"));
    times.into_iter().flat_map(both).collect()
}

/// I1, I14: a process suspended past its lease executes and writes nothing more.
#[test]
fn who_stands_still_past_the_lease_changes_nothing_when_it_goes_on() {
    let template = hasty("atomic");
    // Every pass of calls, so that some calls are done and others follow. Otherwise only the first pass.
    let points: Vec<String> = statements(STATEMENTS)
        .into_iter()
        .chain(EXECUTE_POINTS.iter().flat_map(|name| passings(name, 1..=9)))
        .collect();
    let reached = each(points, usize::MAX, |point| run_overtaken(&template, point));
    let taken_over: Vec<_> = reached.iter().filter(|(taken, _)| *taken).map(|(_, point)| point).collect();
    assert!(reached.len() >= 40, "few points were reached: {reached:?}");
    assert!(taken_over.len() >= 15, "few jobs could be taken over: {taken_over:?}");
    let calls = taken_over.iter().filter(|point| point.starts_with("execute:")).count();
    assert!(calls >= 14, "the process is suspended before and after every call: {taken_over:?}");
}

/// Number of a worker's points that one run of the suite tries.
const SAMPLE: usize = 12;

/// Statements that no worker executes for this job on a server, in addition to those of commands and faults.
/// They accept jobs or settle a call in doubt.
const BESIDE_WORKERS: &[&str] =
    &["migrate", "submit_find", "submit_insert", "owner_read", "owners_named", "outcome", "reconcile"];

/// I1, I14, I111: a worker on a server is suspended past its lease within a transaction or a call. After
/// continuing it executes nothing more, and its locks did not block its job.
#[test]
fn a_worker_that_stands_still_is_overtaken_on_a_server() {
    if a_database().is_none() {
        return;
    }
    let points: Vec<String> = statements(STATEMENTS)
        .into_iter()
        .chain(statements(POSTGRES_STATEMENTS))
        .chain(EXECUTE_POINTS.iter().flat_map(|name| passings(name, 1..=9)))
        .chain(["begin", "commit", "group_read", "group_write"].iter().flat_map(|name| passings(name, 2..=12)))
        .collect();
    let (sweeps, templates) = (sweeps(), COMMITS.map(|commit| (commit, hasty(commit))));
    let [atomic, staged] = if sweeps {
        [points.clone(), points]
    } else {
        let mut dice = dice(seed());
        [shuffled(points.clone(), &mut dice), shuffled(points, &mut dice)]
    };
    // The modes alternate, so that each has half of a sample.
    let points = atomic.into_iter().zip(staged).flat_map(|(atomic, staged)| [(0, atomic), (1, staged)]).collect();
    let reached = each(points, if sweeps { usize::MAX } else { SAMPLE }, |(mode, point)| {
        let (commit, template) = &templates[*mode];
        worker_overtaken(template, point, commit)
    });
    assert!(reached.len() >= SAMPLE, "few points were reached: {reached:?}");
    if sweeps {
        for (mode, commit) in COMMITS.into_iter().enumerate() {
            let of_mode = reached.iter().filter(|(_, (of, _))| *of == mode);
            let names: BTreeSet<&str> = of_mode.filter_map(|(_, (_, point))| point.split(':').next()).collect();
            let all = STATEMENTS.iter().chain(POSTGRES_STATEMENTS).chain(EXECUTE_POINTS).copied();
            let left: BTreeSet<&str> = all.filter(|name| !names.contains(name)).collect();
            // An atomic commit writes effects together with the events that mention them.
            let effects: &[&str] = if commit == "staged" { &[] } else { &["effects_find", "effects_insert"] };
            let beside = [BESIDE_WORKERS, ASKED_BY_COMMANDS, ASKED_BY_FAULTS, effects];
            let expected: BTreeSet<&str> = beside.into_iter().flatten().copied().collect();
            assert_eq!(left, expected, "{commit}: workers were suspended at every other statement");
        }
    }
}
