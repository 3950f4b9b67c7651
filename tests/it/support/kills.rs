//! Kills a process at a crash point, and checks the effects of the jobs that it left.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use latchwork::runtime::EXECUTE_POINTS;

use crate::support::evidence;
use crate::support::program::latch_command;
use crate::support::running_worker::events_of;
use crate::support::seed::is_sweep;
use crate::support::test_env::TestEnv;

/// Statements that a worker never executes for the job of these tests. Only reading commands, a queue limit, and steps
/// that may be reused or cost money cause these statements.
pub(crate) const STATEMENTS_OF_COMMANDS: &[&str] = &[
    "submit_count",
    "jobs_read",
    "recover",
    "reusable_read",
    "payload_read",
    "costs_read",
    "spent_read",
    "kv_get",
    "kv_find",
    "kv_set",
    "kv_delete",
    "kv_shared",
    "quick_check",
];

/// Statements that only faults and other processes cause. The store's own tests kill the process at these
/// statements.
pub(crate) const STATEMENTS_OF_FAULTS: &[&str] = &["rollback", "reread", "outline", "inbox_find", "inbox_insert"];

/// Statements that only a long-running worker with a database on a server executes. The store's own tests
/// kill the process at these statements.
pub(crate) const STATEMENTS_OF_WORKERS: &[&str] = &["heartbeat", "commit", "job_read", "schema"];

/// Returns true if `latch run` of one job never executes the statement.
pub(crate) fn is_never_reached_by_run(name: &str) -> bool {
    [STATEMENTS_OF_COMMANDS, STATEMENTS_OF_FAULTS, STATEMENTS_OF_WORKERS].iter().any(|names| names.contains(&name))
}

/// One kill: the name of the crash point, the side (`before` or `after`), and the pass at which the process
/// is killed. A pass is one arrival at the crash point. Passes are counted from 1.
pub(crate) type KillPoint = (String, &'static str, u32);

/// Returns the sides on which the process is killed at a pass of a crash point. Returns both sides in three cases: in a
/// sweep, at the first pass, and at a crash point around a call. Otherwise returns one side, which alternates from pass
/// to pass.
pub(crate) fn sides(name: &str, nth: u32) -> &'static [&'static str] {
    const BOTH: [&str; 2] = ["before", "after"];
    let first = name.len() + nth as usize;
    if is_sweep() || nth == 1 || EXECUTE_POINTS.contains(&name) { &BOTH } else { &BOTH[first % 2..=first % 2] }
}

/// Returns the sides on which the process is killed in a test that covers both commit modes. Returns both sides in a
/// sweep, and at a crash point around a call. Otherwise returns one side, and the other commit mode gets the other
/// side.
pub(crate) fn sides_in_mode(name: &str, nth: u32, commit: &str) -> &'static [&'static str] {
    const BOTH: [&str; 2] = ["before", "after"];
    let first = name.len() + nth as usize + usize::from(commit == "staged");
    if is_sweep() || EXECUTE_POINTS.contains(&name) { &BOTH } else { &BOTH[first % 2..=first % 2] }
}

/// Returns the passes of the crash point at which a process is killed. Returns all passes in a sweep, and at a crash
/// point around a call. Otherwise returns passes 1, 2, 5, 14 and so on.
pub(crate) fn passes(name: &str) -> impl Iterator<Item = u32> {
    let all = is_sweep() || EXECUTE_POINTS.contains(&name);
    std::iter::successors(Some(1), move |nth| Some(if all { nth + 1 } else { nth * 3 - 1 }))
}

/// Runs the plan with a kill at this crash point. Returns false if the point was not reached.
pub(crate) fn run_killed(place: &TestEnv, point: &KillPoint) -> bool {
    let mut command = latch_command(&place.dir, &place.run_args());
    is_killed(command.env("LATCH_CRASH_AT", format!("{}:{}:{}", point.0, point.1, point.2)))
}

pub(crate) fn is_killed(command: &mut std::process::Command) -> bool {
    use std::os::unix::process::ExitStatusExt;
    let output = command.output().expect("latch runs");
    let signal = output.status.signal();
    assert!(
        signal == Some(9) || matches!(output.status.code(), Some(0 | 3)),
        "neither killed nor done: {:?} {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    signal == Some(9)
}

/// For each of these crash points, for each of its [`passes`], and for each of the [`sides`] of the pass, kills a
/// separate run. If a run ends before the pass, continues with the next point. Calls `check` after each kill. Returns
/// the names of the points that were reached.
pub(crate) fn for_each_point<'a>(
    template: &TestEnv,
    points: impl IntoIterator<Item = &'a &'a str>,
    mut check: impl FnMut(&TestEnv, &KillPoint),
) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    for name in points {
        'passes: for nth in passes(name) {
            for side in sides(name, nth) {
                let point = ((*name).to_owned(), *side, nth);
                let place = template.fresh_copy();
                if !run_killed(&place, &point) {
                    break 'passes;
                }
                reached.insert((*name).to_owned());
                check(&place, &point);
            }
        }
    }
    reached
}

/// Checks that the only job of the environment is completed and that its effects are correct. Returns the job's id.
pub(crate) fn check_single_job(place: &TestEnv, when: &str) -> String {
    let job = place.only_job();
    let id = job["job_id"].as_str().expect("a job has an id").to_owned();
    check_listed_jobs(place, &BTreeMap::from([(id.clone(), job)]), when);
    id
}

/// Checks that exactly these jobs exist, are completed, and that their effects are correct.
pub(crate) fn check_jobs(place: &TestEnv, jobs: &[String], when: &str) {
    let listed = place.latch(&["job", "list", "--limit", "100000", "--json"]);
    assert_eq!(listed.code, 0, "{when}: {}", listed.stderr);
    let id = |job: &Value| job["job_id"].as_str().expect("a job has an id").to_owned();
    let all = listed.json()["jobs"].as_array().expect("a list").clone();
    let all: BTreeMap<_, _> = all.into_iter().map(|job| (id(&job), job)).collect();
    assert!(all.keys().eq(&BTreeSet::from_iter(jobs.iter().cloned())), "{when}: {all:#?}");
    check_listed_jobs(place, &all, when);
}

/// Checks jobs by their entries in the list of jobs. Each job is completed. Opaque and queryable calls of each job
/// happened exactly once. Keyed calls happened at least once under one key, and were applied once.
fn check_listed_jobs(place: &TestEnv, jobs: &BTreeMap<String, Value>, when: &str) {
    let worlds = place.effect_counts_by_job();
    for (job, listed) in jobs {
        assert_eq!(listed["state"], "COMPLETED", "{when}: {listed:#}");
        let times = |slot: &str| worlds.get(&(job.clone(), slot.to_owned())).copied().unwrap_or(0);
        let description = || format!("{worlds:?}\n{:?}", events_of(place, job));
        for slot in ["o", "q", "d/0", "d/1"] {
            assert_eq!(times(slot), 1, "{when}: {slot} of {job} in {}", description());
        }
        for slot in ["k", "d/2"] {
            assert!(times(slot) >= 1, "{when}: {slot} of {job} in {}", description());
            assert_eq!(times(&format!("applied {slot}")), 1, "{when}: {slot} of {job} in {}", description());
        }
        if !place.is_replayed_on_drop() {
            let replay = place.latch(&["job", "replay", job, "--json"]);
            assert_eq!(replay.code, 0, "{when}: {} {}", replay.stdout, replay.stderr);
        }
        evidence::verify_offline(place, job, when);
    }
    assert_eq!(worlds.len(), jobs.len() * 8, "{when}: nothing else happened: {worlds:?}");
}

pub(crate) fn run_until_killed(place: &TestEnv, args: &[&str], point: &str) {
    use std::os::unix::process::ExitStatusExt;
    let output = latch_command(&place.dir, args).env("LATCH_CRASH_AT", point).output().expect("latch runs");
    assert_eq!(output.status.signal(), Some(9), "{point}: {}", String::from_utf8_lossy(&output.stderr));
}
