//! Atomic writes of one job.

use latchwork_core::event::{Body, Event};
use latchwork_core::model::ids::{Hash, Operator, Slot, StepId};
use latchwork_core::model::job::JobState;
use latchwork_core::rules::ledger::RowState;
use latchwork_core::storage::{
    ActionWrite, AttemptEnd, BatchKind, Clock, InboxRequest, JobTail, LedgerWrite, LogEnd, StartCalls, WriteError,
};

use crate::support::store_fixture;
use crate::support::store_fixture::{LEASE_MS, StoreFixture, effect, ledger_row, payload};

fn commit_row(expect: RowState, attempt: u32) -> LedgerWrite {
    let row = ledger_row("s1", RowState::Committed, attempt);
    LedgerWrite::Update { expect, expect_try: 1, expect_nonce: row.nonce, row }
}

pub(super) async fn batch_is_written_atomically(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let mut batch = log.append(3);
    batch.writes.ledger = vec![LedgerWrite::Insert(ledger_row("s1", RowState::Committed, 1))];
    batch.writes.effects = vec![effect("s1", 1, "{}")];
    batch.writes.payloads = vec![payload("output/s1", b"\0\xff bytes")];
    let events = batch.writes.events.clone();
    world.store.write(batch).await.unwrap();
    world.store.write(log.append(1)).await.unwrap();

    let record = world.store.load(&log.job_id).await.unwrap().unwrap();
    assert_eq!((record.row.next_seq, record.row.head), (log.seq, log.head));
    assert_eq!(record.row.state, JobState::Running);
    assert_eq!(record.events[2..5], events[..]);
    assert_eq!(record.ledger, [ledger_row("s1", RowState::Committed, 1)]);
    assert_eq!(record.payloads, [payload("output/s1", b"\0\xff bytes"), payload("plan", b"{}")]);
    assert_eq!(world.store.effects(&log.job_id).await.unwrap(), [effect("s1", 1, "{}")]);
}

/// I176.
pub(super) async fn write_with_a_wrong_log_end_is_refused(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let mut stale = log.clone();
    world.store.write(log.append(2)).await.unwrap();
    assert_eq!(world.store.write(stale.clone().append(1)).await, Err(WriteError::Conflict { expected: 2, found: 4 }));
    assert_eq!(world.store.write(stale.batch()).await, Err(WriteError::Conflict { expected: 2, found: 4 }));
    stale.seq = 4;
    assert_eq!(world.store.write(stale.append(1)).await, Err(WriteError::OtherHead { seq: 4 }));
    let mut gap = log.clone();
    let mut batch = gap.append(2);
    batch.writes.events.remove(0);
    assert!(matches!(world.store.write(batch).await, Err(WriteError::Defect(_))));
    world.store.write(log.append(1)).await.unwrap();
    assert_eq!(world.store.load(&log.job_id).await.unwrap().unwrap().events.len(), 5);
    let missing = store_fixture::LogWriter { job_id: "job_none".into(), ..log.clone() };
    assert_eq!(world.store.write(missing.batch()).await, Err(WriteError::NoJob("job_none".into())));
}

/// I15, I176: sequence number, previous hash and attempt are each checked.
pub(super) async fn event_that_does_not_follow_its_predecessor_is_refused(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let sealed = |seq, attempt, prev_hash| {
        let body = Body::StepStarted { step_id: StepId::new("s1") };
        Event::seal(seq, 1_700_000_000_000_000, attempt, body, prev_hash)
    };
    let mut other_head = log.head;
    other_head.0[0] ^= 1;
    let wrong = [
        sealed(log.seq + 1, log.attempt, log.head),
        sealed(log.seq, log.attempt, other_head),
        sealed(log.seq, log.attempt + 1, log.head),
    ];
    for event in wrong {
        let mut batch = log.batch();
        batch.writes.events = vec![event];
        assert!(matches!(world.store.write(batch).await, Err(WriteError::Defect(_))));
    }
    world.store.write(log.append(1)).await.unwrap();
}

/// I14.
pub(super) async fn stale_attempt_cannot_write_anything(world: StoreFixture) {
    let mut old = world.claimed_job("one").await;
    world.clock.advance_ms(LEASE_MS);
    let next = world.lease_request("next");
    let claim = world.store.claim(&next).await.unwrap().unwrap();
    assert_eq!(claim.row.attempt, 2);
    let before = world.store.load(&old.job_id).await.unwrap().unwrap();
    let mut kinds = vec![old.batch(); 8];
    kinds[0] = old.append(1);
    kinds[1].writes.ledger = vec![LedgerWrite::Insert(ledger_row("s1", RowState::Inflight, 1))];
    kinds[2].writes.effects = vec![effect("s1", 1, "{}")];
    kinds[3].writes.payloads = vec![payload("output/s1", b"x")];
    kinds[4].writes.actions = vec![ActionWrite::Wait { operator: Operator::new("O"), key: Hash::default() }];
    kinds[5].writes.inbox_done = vec![1];
    kinds[6] = old.clone().ending(JobState::Failed, None);
    kinds[7].writes.kind = BatchKind::START_CALLS;
    for batch in kinds {
        assert_eq!(world.store.write(batch).await, Err(WriteError::Fenced { attempt: 1, current: 2 }));
    }
    assert_eq!(world.store.heartbeat(&[(old.job_id.clone(), 1)], LEASE_MS).await.unwrap(), [old.job_id.clone()]);
    let after = world.store.load(&old.job_id).await.unwrap().unwrap();
    assert_eq!((after.row, after.events, after.ledger), (before.row, before.events, before.ledger));
    assert!(world.store.effects(&old.job_id).await.unwrap().is_empty());
}

pub(super) async fn attempt_that_released_the_claim_cannot_write(world: StoreFixture) {
    for (name, to) in
        [("w", JobState::Waiting), ("p", JobState::Parked), ("d", JobState::Diverged), ("c", JobState::Completed)]
    {
        let mut log = world.claimed_job(name).await;
        world.store.write(log.ending(to, None)).await.unwrap();
        assert_eq!(world.job_row(&log).await.state, to);
        assert_eq!(world.store.write(log.append(1)).await, Err(WriteError::NotHeld { state: to }));
    }
}

pub(super) async fn refused_batch_leaves_no_trace(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let mut first = log.append(1);
    first.writes.ledger = vec![LedgerWrite::Insert(ledger_row("s1", RowState::Committed, 1))];
    world.store.write(first).await.unwrap();
    let mut lost = log.clone();
    let mut batch = lost.append(2);
    batch.writes.effects = vec![effect("s2", 1, "{}")];
    batch.writes.payloads = vec![payload("args/s2", b"{}")];
    batch.writes.kind = BatchKind::EndAttempt(AttemptEnd::Completed);
    // The batch is refused because its second ledger row, `s1`, exists already.
    batch.writes.ledger = vec![
        LedgerWrite::Insert(ledger_row("s2", RowState::Committed, 1)),
        LedgerWrite::Insert(ledger_row("s1", RowState::Committed, 1)),
    ];
    let found = Some(Box::new(ledger_row("s1", RowState::Committed, 1)));
    assert_eq!(world.store.write(batch).await, Err(WriteError::RowMismatch { slot: Slot::new("s1"), found }));
    let record = world.store.load(&log.job_id).await.unwrap().unwrap();
    assert_eq!((record.events.len(), record.ledger.len(), record.payloads.len()), (3, 1, 1));
    assert_eq!(record.row.state, JobState::Running);
    assert!(world.store.effects(&log.job_id).await.unwrap().is_empty());
    world.store.write(log.append(1)).await.unwrap();
}

/// I170.
pub(super) async fn ledger_row_is_committed_once(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let mut barrier = log.append(1);
    barrier.writes.kind = BatchKind::START_CALLS;
    barrier.writes.ledger = vec![LedgerWrite::Insert(ledger_row("s1", RowState::Inflight, 1))];
    world.store.write(barrier).await.unwrap();

    let mut wrong_nonce = log.batch();
    wrong_nonce.writes.ledger = vec![LedgerWrite::Update {
        expect: RowState::Inflight,
        expect_try: 1,
        expect_nonce: 5,
        row: ledger_row("s1", RowState::Committed, 1),
    }];
    assert!(matches!(world.store.write(wrong_nonce).await, Err(WriteError::RowMismatch { .. })));
    let mut wrong_try = log.batch();
    wrong_try.writes.ledger = vec![LedgerWrite::Update {
        expect: RowState::Inflight,
        expect_try: 2,
        expect_nonce: ledger_row("s1", RowState::Inflight, 1).nonce,
        row: ledger_row("s1", RowState::Committed, 1),
    }];
    assert!(matches!(world.store.write(wrong_try).await, Err(WriteError::RowMismatch { .. })));
    let mut absent = log.batch();
    let mut other = commit_row(RowState::Inflight, 1);
    if let LedgerWrite::Update { row, .. } = &mut other {
        row.slot = Slot::new("s9");
    }
    absent.writes.ledger = vec![other];
    assert_eq!(world.store.write(absent).await, Err(WriteError::RowMismatch { slot: Slot::new("s9"), found: None }));

    let mut once = log.append(1);
    once.writes.ledger = vec![commit_row(RowState::Inflight, 1)];
    world.store.write(once).await.unwrap();
    let mut twice = log.append(1);
    twice.writes.ledger = vec![commit_row(RowState::Inflight, 1)];
    let Err(WriteError::RowMismatch { found: Some(found), .. }) = world.store.write(twice).await else {
        panic!("refused")
    };
    assert_eq!(found.state, RowState::Committed);
}

pub(super) async fn store_computes_the_deadline_of_a_try(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let stored = async || world.store.load(&"job_one".into()).await.unwrap().unwrap().ledger[0].clone();
    let mut barrier = log.append(1);
    barrier.writes.kind = BatchKind::START_CALLS;
    barrier.writes.ledger = vec![LedgerWrite::Insert(ledger_row("s1", RowState::Inflight, 1))];
    world.store.write(barrier).await.unwrap();
    let deadline = world.clock.boot_us() + 30_000_000;
    assert_eq!(stored().await.deadline_us, deadline);

    world.clock.advance_ms(1000);
    let mut doubt = log.append(1);
    let mut doubtful = ledger_row("s1", RowState::Indeterminate, 1);
    doubtful.deadline_us = 99;
    doubt.writes.ledger = vec![LedgerWrite::Update {
        expect: RowState::Inflight,
        expect_try: 1,
        expect_nonce: doubtful.nonce,
        row: doubtful,
    }];
    world.store.write(doubt).await.unwrap();
    assert_eq!(stored().await.deadline_us, deadline, "a verdict keeps the deadline");

    let mut again = log.append(1);
    again.writes.kind = BatchKind::START_CALLS;
    let mut open = ledger_row("s1", RowState::Inflight, 1);
    open.try_no = 2;
    again.writes.ledger = vec![LedgerWrite::Update {
        expect: RowState::Indeterminate,
        expect_try: 1,
        expect_nonce: open.nonce,
        row: open,
    }];
    world.store.write(again).await.unwrap();
    assert_eq!(stored().await.deadline_us, deadline + 1_000_000, "a new try has its own deadline");
}

/// I16.
pub(super) async fn payload_is_written_once(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    for _ in 0..2 {
        let mut batch = log.append(1);
        batch.writes.payloads = vec![payload("output/s1", b"x"), payload("output/s1", b"x")];
        world.store.write(batch).await.unwrap();
    }
    let mut batch = log.append(1);
    batch.writes.payloads = vec![payload("output/s1", b"y")];
    assert_eq!(world.store.write(batch).await, Err(WriteError::PayloadExists { label: "output/s1".to_owned() }));
}

pub(super) async fn acquire_needs_a_live_lease(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    world.clock.advance_ms(LEASE_MS - 1);
    let mut batch = log.append(1);
    batch.writes.kind = BatchKind::START_CALLS;
    world.store.write(batch).await.unwrap();
    world.clock.advance_ms(1);
    let mut late = log.clone().append(1);
    late.writes.kind = BatchKind::START_CALLS;
    assert_eq!(world.store.write(late).await, Err(WriteError::LeaseExpired));
    world.store.write(log.append(1)).await.expect("a write that starts nothing needs no live lease");
    assert!(world.store.heartbeat(&[(log.job_id.clone(), 1)], LEASE_MS).await.unwrap().is_empty());
    let mut batch = log.append(1);
    batch.writes.kind = BatchKind::START_CALLS;
    world.store.write(batch).await.unwrap();
}

/// I14, I178: a lease that was taken before a reboot counts as expired, whatever the clock shows after the reboot.
pub(super) async fn acquire_needs_a_lease_of_this_boot(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    world.clock.reboot();
    let mut late = log.clone().append(1);
    late.writes.kind = BatchKind::START_CALLS;
    assert_eq!(world.store.write(late).await, Err(WriteError::LeaseExpired));
    world.store.write(log.append(1)).await.expect("a write that starts nothing needs no live lease");
}

/// I173.
pub(super) async fn cancelled_job_can_acquire_compensations_only(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    world.store.put_inbox(&log.job_id, "me", None, InboxRequest::Cancel).await.unwrap();
    let start = |log: &mut store_fixture::LogWriter, slots: &[&str]| {
        let mut batch = log.append(1);
        batch.writes.kind = BatchKind::START_CALLS;
        batch.writes.ledger =
            slots.iter().map(|slot| LedgerWrite::Insert(ledger_row(slot, RowState::Inflight, 1))).collect();
        batch
    };
    assert_eq!(world.store.write(start(&mut log.clone(), &[])).await, Err(WriteError::Cancelled));
    assert_eq!(world.store.write(start(&mut log.clone(), &["s1"])).await, Err(WriteError::Cancelled));
    assert_eq!(world.store.write(start(&mut log.clone(), &["s1~c", "s2"])).await, Err(WriteError::Cancelled));
    world.store.write(start(&mut log, &["s1~c"])).await.unwrap();
    world.store.write(log.append(1)).await.unwrap();
    // A batch of the same kind may also continue a call whose barrier was written earlier. Such a batch inserts no
    // ledger row. A cancelled job accepts it only for a compensating call.
    for (slot, expected) in [("s1~c", Ok(())), ("s1", Err(WriteError::Cancelled))] {
        let mut batch = log.batch();
        batch.writes.kind = BatchKind::StartCalls(StartCalls { continued: vec![Slot::new(slot)] });
        assert_eq!(world.store.write(batch).await, expected, "{slot}");
    }
}

pub(super) async fn recover_lists_unfinished_invocations(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let mut batch = log.append(1);
    batch.writes.ledger = [
        ("s1", RowState::Inflight),
        ("s2", RowState::Committed),
        ("s3", RowState::Indeterminate),
        ("s4", RowState::FailedDefinite),
        ("s5", RowState::FailedFinal),
    ]
    .map(|(slot, state)| LedgerWrite::Insert(ledger_row(slot, state, 1)))
    .into();
    world.store.write(batch).await.unwrap();
    let open = world.store.recover(&log.job_id).await.unwrap();
    let open: Vec<&str> = open.iter().map(|row| row.slot.as_str()).collect();
    assert_eq!(open, ["s1", "s3"]);
}

/// I123.
pub(super) async fn outline_is_read_without_the_job(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    for (events, attempt) in [(1, 1), (3, 1), (1, 2)] {
        if attempt > log.attempt {
            let (id, claimer) = (log.job_id.clone(), world.lease_request("next"));
            world.clock.advance_ms(LEASE_MS);
            log.attempt = world.store.claim_job(&id, &claimer).await.unwrap().unwrap().row.attempt;
        }
        world.store.write(log.append(events)).await.unwrap();
        let loaded = world.store.load(&log.job_id).await.unwrap().unwrap();
        let last = loaded.events.last().unwrap();
        assert_eq!(last.attempt, attempt);
        let end = LogEnd { seq: last.seq, time_us: last.time_us, attempt: last.attempt };
        assert_eq!(world.store.job_tail(&log.job_id).await.unwrap(), Some(JobTail { end, reopen: None }));
    }
    assert_eq!(world.store.job_tail(&"job_none".into()).await.unwrap(), None);
    // `job_tail` returns the end of the log, and the request that reopens the job. It returns no other request of the
    // inbox.
    world.store.write(log.ending(JobState::Failed, None)).await.unwrap();
    let late = InboxRequest::LateEffect { slot: Slot::new("s1"), try_no: 1 };
    world.store.put_inbox(&log.job_id, "ann", None, late).await.unwrap();
    world.store.put_inbox(&log.job_id, "bob", Some("again"), InboxRequest::Retry).await.unwrap();
    let retry = world.store.job_tail(&log.job_id).await.unwrap().unwrap().reopen.unwrap();
    assert_eq!(
        (retry.actor.as_str(), retry.reason.as_deref(), &retry.request),
        ("bob", Some("again"), &InboxRequest::Retry)
    );
    assert!(world.store.inbox(&log.job_id).await.unwrap().contains(&retry));
    let mut log = world.claimed_job("two").await;
    world.store.write(log.ending(JobState::Completed, None)).await.unwrap();
    world.store.put_inbox(&log.job_id, "eve", None, InboxRequest::Undo).await.unwrap();
    let undo = world.store.job_tail(&log.job_id).await.unwrap().unwrap().reopen.unwrap();
    assert_eq!((undo.actor.as_str(), &undo.request), ("eve", &InboxRequest::Undo));
}
