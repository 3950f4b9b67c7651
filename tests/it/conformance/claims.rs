//! Claims of jobs, and quiescence of the previous attempt.

use latchwork_core::model::job::JobState;
use latchwork_core::rules::ledger::{LedgerRow, Quiescence, RowState};
use latchwork_core::storage::{BatchKind, Clock, LedgerWrite};

use crate::support::store_fixture::{LEASE_MS, LogWriter, MARGIN_MS, StoreFixture, ledger_row, new_job};

/// I14.
pub(super) async fn attempts_strictly_increase(world: StoreFixture) {
    let new = new_job("one");
    let (id, mut log) = (new.row.job_id.clone(), LogWriter::of(&new));
    world.store.submit(new).await.unwrap();
    let mut last = 0;
    for name in ["a", "b", "c"] {
        let claimer = world.lease_request(name);
        let claim = world.store.claim_job(&id, &claimer).await.unwrap().unwrap();
        assert_eq!((claim.row.attempt, claim.row.state), (last + 1, JobState::Running));
        assert_eq!(claim.now_us, world.clock.now_us());
        assert!(world.store.claim(&claimer).await.unwrap().is_none(), "the job is held");
        last = claim.row.attempt;
        log.attempt = last;
        world.store.write(log.ending(JobState::Pending, None)).await.unwrap();
    }
    assert!(world.store.claim_job(&"job_none".into(), &world.lease_request("d")).await.unwrap().is_none());
}

pub(super) async fn job_can_be_claimed_after_its_lease_expired(world: StoreFixture) {
    let log = world.claimed_job("one").await;
    let next = world.lease_request("next");
    world.clock.advance_ms(LEASE_MS - 1);
    assert!(world.store.claim(&next).await.unwrap().is_none());
    world.clock.advance_ms(1);
    let claim = world.store.claim(&next).await.unwrap().unwrap();
    assert_eq!((claim.row.job_id, claim.row.attempt), (log.job_id, 2));
}

pub(super) async fn job_can_be_claimed_after_its_owner_died(world: StoreFixture) {
    let new = new_job("one");
    world.store.submit(new).await.unwrap();
    let (first, next) = (world.lease_request("first"), world.lease_request("next"));
    world.store.claim(&first).await.unwrap().unwrap();
    assert!(world.store.claim(&next).await.unwrap().is_none());
    world.kill(&first);
    assert_eq!(world.store.claim(&next).await.unwrap().unwrap().row.attempt, 2);
}

/// I178.
pub(super) async fn job_can_be_claimed_after_a_reboot(world: StoreFixture) {
    world.claimed_job("one").await;
    world.clock.reboot();
    // The lease clock restarts at the reboot, so the end of the old lease seems to be in the future. The store must not
    // treat the old lease as valid.
    assert_eq!(world.store.claim(&world.lease_request("next")).await.unwrap().unwrap().row.attempt, 2);
}

/// I14: the store keeps the claim of an earlier lease holder. The death of the earlier holder does not release the job
/// while the current holder lives. This death also does not prove that a try of the current holder is over.
pub(super) async fn death_of_an_earlier_holder_does_not_release_the_job(world: StoreFixture) {
    let new = new_job("one");
    let mut log = LogWriter::of(&new);
    world.store.submit(new).await.unwrap();
    let (first, second) = (world.lease_request("first"), world.lease_request("second"));
    world.store.claim(&first).await.unwrap().unwrap();
    world.kill(&first);
    log.attempt = world.store.claim(&second).await.unwrap().unwrap().row.attempt;
    let third = world.lease_request("third");
    assert!(world.store.claim(&third).await.unwrap().is_none(), "the second holder is alive");
    assert!(world.store.claim_job(&log.job_id, &third).await.unwrap().is_none());
    let row = start_call(&world, &mut log).await;
    let judged = world.store.quiescence(&log.job_id, &row, 500).await.unwrap();
    assert_eq!(judged, Quiescence::After { wait_ms: 30_000 + MARGIN_MS + 500 }, "the try's owner is alive");
}

/// I186.
pub(super) async fn waiting_parked_and_ended_jobs_are_not_claimed(world: StoreFixture) {
    let claimer = world.lease_request("next");
    for (name, to) in [
        ("a", JobState::Waiting),
        ("b", JobState::Parked),
        ("c", JobState::Diverged),
        ("d", JobState::Completed),
        ("e", JobState::Failed),
    ] {
        let mut log = world.claimed_job(name).await;
        world.store.write(log.ending(to, None)).await.unwrap();
        world.clock.advance_ms(10 * LEASE_MS);
        assert!(world.store.claim(&claimer).await.unwrap().is_none(), "{to:?}");
        assert!(world.store.claim_job(&log.job_id, &claimer).await.unwrap().is_none(), "{to:?}");
    }
}

/// I186.
pub(super) async fn waiting_job_is_claimed_after_its_wake_time(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let at = world.clock.now_us() + 60_000_000;
    world.store.write(log.ending(JobState::Waiting, Some(at))).await.unwrap();
    assert_eq!(world.job_row(&log).await.wake_at_us, Some(at));
    let claimer = world.lease_request("next");
    world.clock.advance_ms(59_999);
    assert!(world.store.claim(&claimer).await.unwrap().is_none());
    world.clock.advance_ms(1);
    let claim = world.store.claim(&claimer).await.unwrap().unwrap();
    assert_eq!((claim.row.attempt, claim.row.wake_at_us), (2, None));
}

/// I26: a claim without a job id does not take a waiting job. `fire_timers` makes the jobs of all due timers pending.
pub(super) async fn due_timers_make_waiting_jobs_pending(world: StoreFixture) {
    let now_us = world.clock.now_us();
    let mut logs = Vec::new();
    for (name, after_ms) in [("a", 20), ("b", 10), ("c", 10), ("d", 30)] {
        let mut log = world.claimed_job(name).await;
        let at_us = Some(now_us + after_ms * 1_000);
        world.store.write(log.ending(JobState::Waiting, at_us)).await.unwrap();
        logs.push(log);
    }
    assert_eq!(world.store.fire_timers().await.unwrap(), Some(now_us + 10_000));
    world.clock.advance_ms(10);
    assert_eq!(world.store.fire_timers().await.unwrap(), Some(now_us + 20_000));
    let mut states = Vec::new();
    for log in &logs {
        let row = world.job_row(log).await;
        assert!(!row.inbox_pending, "there are no requests");
        states.push((row.state, row.wake_at_us.is_some()));
    }
    let (waits, pending) = ((JobState::Waiting, true), (JobState::Pending, false));
    assert_eq!(states, [waits, pending, pending, waits]);
    // A claim by job id takes a waiting job whose timer is due, even if `fire_timers` was not called for this timer.
    world.clock.advance_ms(10);
    let claimer = world.lease_request("next");
    assert_eq!(world.store.claim_job(&logs[0].job_id, &claimer).await.unwrap().unwrap().row.attempt, 2);
    assert!(world.store.claim_job(&logs[3].job_id, &claimer).await.unwrap().is_none(), "its wake time has not come");
    assert_eq!(world.store.fire_timers().await.unwrap(), Some(now_us + 30_000));
}

/// I26: any number of timers may be due at the same time.
pub(super) async fn many_timers_can_fire_together(world: StoreFixture) {
    let at_us = world.clock.now_us() + 1_000;
    let mut logs = Vec::new();
    for n in 0..600 {
        let mut log = world.claimed_job(&format!("n{n}")).await;
        world.store.write(log.ending(JobState::Waiting, Some(at_us))).await.unwrap();
        logs.push(log);
    }
    world.clock.advance_ms(1);
    assert_eq!(world.store.fire_timers().await.unwrap(), None);
    for log in &logs {
        assert_eq!(world.job_row(log).await.state, JobState::Pending);
    }
}

pub(super) async fn heartbeat_renews_held_leases_and_returns_lost_jobs(world: StoreFixture) {
    let (one, mut two) = (world.claimed_job("one").await, world.claimed_job("two").await);
    world.store.write(two.ending(JobState::Completed, None)).await.unwrap();
    world.clock.advance_ms(LEASE_MS - 1);
    let held = [(one.job_id.clone(), 1), (two.job_id.clone(), 1), ("job_none".into(), 1)];
    let lost = world.store.heartbeat(&held, LEASE_MS).await.unwrap();
    assert_eq!(lost, [two.job_id.clone(), "job_none".into()]);
    world.clock.advance_ms(LEASE_MS - 1);
    assert!(world.store.claim(&world.lease_request("next")).await.unwrap().is_none());
    assert!(world.store.heartbeat(&[], LEASE_MS).await.unwrap().is_empty());
}

/// I178.
pub(super) async fn setting_the_wall_clock_expires_no_lease(world: StoreFixture) {
    world.claimed_job("one").await;
    world.clock.set_now_us(world.clock.now_us() + 86_400_000_000);
    assert!(world.store.claim(&world.lease_request("next")).await.unwrap().is_none());
}

async fn start_call(world: &StoreFixture, log: &mut LogWriter) -> LedgerRow {
    let mut barrier = log.append(1);
    barrier.writes.kind = BatchKind::START_CALLS;
    barrier.writes.ledger = vec![LedgerWrite::Insert(ledger_row("s1", RowState::Inflight, log.attempt))];
    world.store.write(barrier).await.unwrap();
    world.store.recover(&log.job_id).await.unwrap().remove(0)
}

pub(super) async fn quiescence_follows_deadline_margin_and_settling(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let row = start_call(&world, &mut log).await;
    let ask = async || world.store.quiescence(&"job_one".into(), &row, 500).await.unwrap();
    assert_eq!(ask().await, Quiescence::After { wait_ms: 30_000 + MARGIN_MS + 500 });
    world.clock.advance_ms(30_000 + MARGIN_MS + 499);
    assert_eq!(ask().await, Quiescence::After { wait_ms: 1 });
    world.clock.advance_ms(1);
    assert_eq!(ask().await, Quiescence::Quiescent);
}

pub(super) async fn quiescence_follows_the_owner_lock(world: StoreFixture) {
    let new = new_job("one");
    let mut log = LogWriter::of(&new);
    log.attempt = 1;
    world.store.submit(new).await.unwrap();
    let first = world.lease_request("first");
    world.store.claim(&first).await.unwrap().unwrap();
    let row = start_call(&world, &mut log).await;
    let ask = async || world.store.quiescence(&"job_one".into(), &row, 500).await.unwrap();
    world.clock.advance_ms(1000);
    assert_eq!(ask().await, Quiescence::After { wait_ms: 29_000 + MARGIN_MS + 500 });
    world.kill(&first);
    assert_eq!(ask().await, Quiescence::After { wait_ms: 500 }, "settling counts from the proof");
    world.clock.advance_ms(499);
    assert_eq!(ask().await, Quiescence::After { wait_ms: 1 });
    world.clock.advance_ms(1);
    assert_eq!(ask().await, Quiescence::Quiescent);
}

/// I178.
pub(super) async fn quiescence_follows_a_reboot(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let row = start_call(&world, &mut log).await;
    let ask = async || world.store.quiescence(&"job_one".into(), &row, 500).await.unwrap();
    world.clock.reboot();
    assert_eq!(ask().await, Quiescence::After { wait_ms: 500 });
    world.clock.advance_ms(500);
    assert_eq!(ask().await, Quiescence::Quiescent);
}
