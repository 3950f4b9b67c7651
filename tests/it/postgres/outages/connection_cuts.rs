//! `latch worker` behind a proxy that cuts its connections. The proxy cuts before a commit, before the answer
//! to a commit, inside a message, or on the notification connection.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use crate::support::database::blocking_database;
use crate::support::kills::{check_jobs, check_single_job};
use crate::support::program::{command_output, latch_command};
use crate::support::running_worker::{
    RunningWorker, events_of, resolve_until_over, submit_detached, worker_command, worker_through,
};
use crate::support::seed::{COMMITS, is_sweep, number_from_env, run_seed, seeded_rng, shuffled};
use crate::support::servers::postgres::proxy::{CutPoint, Proxy};
use crate::support::test_env::{TestEnv, step, witness_plan_of};
use crate::support::waiting::wait_until;

/// Number of cuts of each kind that one run of the suite selects at random. With `LATCH_TEST_SWEEP`, the
/// suite makes all cuts.
const CUTS_PER_KIND: usize = 3;
fn candidates(point: CutPoint) -> u32 {
    // Few notifications are sent for one job, so few cuts of the notification connection are possible.
    if point == CutPoint::Listener { 3 } else { 14 }
}

/// Number of cuts tried concurrently. A run with a cut spends most of its time waiting.
const CONCURRENT_CUTS: usize = 4;

/// Runs one job. Cuts its worker's connection at the `nth` place where a cut of this kind is possible.
/// Returns true if the connection was cut.
fn disconnect_once(template: &TestEnv, commit: &str, point: CutPoint, nth: u32) -> bool {
    let Some(url) = blocking_database() else { return false };
    let when = format!("{commit}, {point:?}, time {nth}");
    let place = template.fresh_copy().with_database(&url);
    let (passed, armed) = (AtomicU32::new(0), Arc::new(AtomicBool::new(false)));
    let is = armed.clone();
    let choose =
        move |here| here == point && is.load(Ordering::SeqCst) && passed.fetch_add(1, Ordering::SeqCst) + 1 == nth;
    let proxy = Proxy::start(&url, choose);
    let alone = worker_through(&place, &proxy);
    armed.store(true, Ordering::SeqCst);
    submit_detached(&place);
    let asked = resolve_until_over(&place, &when);
    let notes = alone.messages();
    let (code, tally) = alone.stop();
    // The worker continued in its first attempt. No call was in doubt or repeated.
    assert_eq!((code, asked, &tally["failed"]), (Some(0), 0, &json!(0)), "{when}: {tally} {notes}");
    check_single_job(&place, &when);
    let world = place.effect_counts();
    assert_eq!((world["k"], world["d/2"]), (1, 1), "{when}: {world:?} {notes}");
    let cuts = proxy.cuts();
    assert!(cuts.is_empty() || cuts == [point], "{when}: {cuts:?}");
    !cuts.is_empty()
}

/// I1, I87, I112: a worker that loses a commit, an answer or a message together with its connection continues by
/// itself. No call is repeated or in doubt.
#[test]
fn worker_continues_after_a_connection_loss_at_any_point() {
    if blocking_database().is_none() {
        return;
    }
    let templates = COMMITS.map(|commit| (commit, TestEnv::witness(commit)));
    let mut dice = seeded_rng(run_seed());
    let take = if is_sweep() { usize::MAX } else { CUTS_PER_KIND };
    let mut points = Vec::new();
    for point in CutPoint::ALL {
        let of_both = (1..=candidates(point)).flat_map(|nth| templates.iter().map(move |template| (template, nth)));
        let drawn = shuffled(of_both.collect(), &mut dice);
        points.extend(drawn.into_iter().take(take).map(|(template, nth)| (template, point, nth)));
    }
    let queue = Mutex::new(points.into_iter());
    let reached = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..CONCURRENT_CUTS {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap().next();
                    let Some(((commit, template), point, nth)) = next else { return };
                    reached.fetch_add(u32::from(disconnect_once(template, commit, point, nth)), Ordering::SeqCst);
                }
            });
        }
    });
    let reached = reached.into_inner();
    assert!(reached >= 8, "few places were reached: {reached}");
}

/// I120: while reads hang, the lease holder still renews its leases, so no other worker takes over its jobs.
#[test]
fn lease_is_renewed_while_reads_hang() {
    let Some(url) = blocking_database() else { return };
    let lease = "lease = \"2s\"\nheartbeat = \"500ms\"\nclock_margin = \"200ms\"";
    let place = TestEnv::witness("atomic").with_approved(vec!["o"]).with_database(&url).configure_first(lease);
    let place = place.with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1, "after_ms": 8_000 }))]);
    let proxy = Proxy::start(&url, |_| false);
    let holder = worker_through(&place, &proxy);
    let job = submit_detached(&place);
    wait_until("the call has started", || {
        events_of(&place, &job).iter().any(|event| event["type"] == "tool_invocation_started")
    });
    proxy.hold_reads(true);
    let other = RunningWorker::start(&place, worker_command(&place, &[]));
    // Waits for three times the lease.
    std::thread::sleep(Duration::from_secs(6));
    assert!(proxy.held_answers() > 0, "reading hangs");
    proxy.hold_reads(false);
    assert_eq!(resolve_until_over(&place, "reading hung"), 0);
    let (kept, (code, tally)) = (holder.messages(), holder.stop());
    assert_eq!((code, &tally["lost"], &tally["rested"]), (Some(0), &json!(0), &json!({ "COMPLETED": 1 })), "{kept}");
    assert!(!other.messages().contains("continues"), "{}", other.messages());
    assert_eq!(place.effect_counts(), [("o".to_owned(), 1)].into());
}

/// Inverse of the probability of a cut, at each point where the proxy may cut the connection.
const ONE_IN: u32 = 60;

/// I1, I2, I87, I112.
#[test]
#[ignore = "waits for leases; run by .ci/long"]
fn workers_behind_a_cutting_network_complete_every_job_once_with_atomic_commit() {
    disconnect_at_random("atomic");
}

/// I1, I2, I87, I112.
#[test]
#[ignore = "cuts many connections; run by .ci/long"]
fn workers_behind_a_cutting_network_complete_every_job_once_with_staged_commit() {
    disconnect_at_random("staged");
}

/// I1, I2, I112: two workers and the submissions go through a proxy that cuts at random. Every acknowledged job exists
/// and ends. Every tool call has a recorded start.
fn disconnect_at_random(commit: &str) {
    let Some(url) = blocking_database() else { return };
    let (seed, jobs) = (run_seed(), number_from_env("LATCH_TEST_JOBS", 8));
    let place = TestEnv::witness(commit).with_database(&url);
    // The tables are created before the first cut.
    assert_eq!(place.latch(&["worker", "--until-idle"]).code, 0);
    let dice = Mutex::new(seeded_rng(seed));
    let armed = Arc::new(AtomicBool::new(false));
    let is = armed.clone();
    let proxy = Proxy::start(&url, move |_| is.load(Ordering::SeqCst) && dice.lock().unwrap().below(ONE_IN) == 0);
    let workers: Vec<RunningWorker> = (0..2).map(|_| worker_through(&place, &proxy)).collect();
    armed.store(true, Ordering::SeqCst);
    let ids: Vec<String> = (0..jobs).map(|n| submit_until_acknowledged(&place, &proxy, n)).collect();
    let asked = resolve_until_over(&place, &format!("seed {seed}"));
    for worker in workers {
        let notes = worker.messages();
        let (code, tally) = worker.stop();
        assert_eq!(code, Some(0), "seed {seed}: {tally} {notes}");
    }
    let cuts = proxy.cuts();
    assert!(cuts.len() >= jobs as usize, "seed {seed}: {cuts:?}");
    for (job, label) in place.effect_counts_by_job().keys() {
        assert!(ids.contains(job), "seed {seed}: {job} was not submitted");
        let slot = label.trim_start_matches("applied ");
        let of_slot = |event: &&serde_json::Value| event["slot"] == slot;
        let listed = events_of(&place, job);
        let started = listed.iter().filter(of_slot).filter(|event| event["type"] == "tool_invocation_started").count();
        assert!(started >= 1, "seed {seed}: {job} {label} has no record of its start");
    }
    check_jobs(&place, &ids, &format!("seed {seed}"));
    print_line(&format!("{jobs} jobs, {} cuts, {asked} questions", cuts.len()));
}

/// Submits a job through the proxy until the submission is acknowledged. Returns the job id.
fn submit_until_acknowledged(place: &TestEnv, proxy: &Proxy, n: u64) -> String {
    let plan = witness_plan_of(n);
    std::fs::write(place.dir.join("plan.json"), plan.to_string()).expect("writable");
    for _ in 0..20 {
        let mut command = latch_command(&place.dir, &[&place.run_args()[..], &["--detach"]].concat());
        let ran = command_output(command.env("LATCH_DATABASE", proxy.url()).output().expect("latch runs"));
        if ran.code == 0 {
            return ran.json()["job_id"].as_str().expect("an id").to_owned();
        }
        // The connection was cut while the command opened the database. Repeating the same request yields the
        // same job.
        assert_eq!(ran.json()["error"]["code"], "L0032", "{} {}", ran.stdout, ran.stderr);
    }
    panic!("job {n} is not accepted");
}

#[expect(clippy::print_stdout, reason = "prints the results of a run")]
fn print_line(what: &str) {
    println!("{what}");
}
