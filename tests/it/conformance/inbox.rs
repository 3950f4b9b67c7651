//! Requests in the inbox, none of which may be lost.

use latchwork_core::model::ids::Slot;
use latchwork_core::model::job::JobState;
use latchwork_core::rules::ledger::RowState;
use latchwork_core::storage::{BatchKind, InboxError, InboxRequest, LedgerWrite, WriteError};

use crate::support::store_fixture::{LogWriter, StoreFixture, ledger_row};

pub(super) async fn request_is_kept_until_it_is_done(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let first = world.store.put_inbox(&log.job_id, "ann", Some("because"), InboxRequest::Continue).await.unwrap();
    let second = world.store.put_inbox(&log.job_id, "bob", None, InboxRequest::Abort).await.unwrap();
    assert!(first < second);
    let rows = world.store.inbox(&log.job_id).await.unwrap();
    assert_eq!(rows, world.store.load(&log.job_id).await.unwrap().unwrap().inbox);
    assert_eq!((rows[0].id, rows[0].actor.as_str(), rows[0].reason.as_deref()), (first, "ann", Some("because")));
    assert_eq!((rows[1].id, &rows[1].request), (second, &InboxRequest::Abort));
    assert!(world.job_row(&log).await.inbox_pending);

    let mut batch = log.append(1);
    batch.writes.inbox_done = vec![first];
    world.store.write(batch).await.unwrap();
    assert!(world.job_row(&log).await.inbox_pending, "one request is left");
    let mut batch = log.clone().append(1);
    batch.writes.inbox_done = vec![first];
    assert!(matches!(world.store.write(batch).await, Err(WriteError::Defect(_))), "done twice");
    let mut batch = log.append(1);
    batch.writes.inbox_done = vec![second];
    world.store.write(batch).await.unwrap();
    assert!(!world.job_row(&log).await.inbox_pending);
    assert!(world.store.inbox(&log.job_id).await.unwrap().is_empty());
    let missing = world.store.put_inbox(&"job_none".into(), "ann", None, InboxRequest::Abort).await;
    assert_eq!(missing, Err(InboxError::NoJob("job_none".into())));
}

pub(super) async fn job_with_requests_can_neither_end_nor_wait(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let id = world.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Continue).await.unwrap();
    for to in JobState::ALL {
        // These states are allowed while requests are unread, because a lease holder reads the requests. A running job
        // has a lease holder, and a pending job will get one.
        if matches!(to, JobState::Running | JobState::Pending) {
            continue;
        }
        let ending = log.clone().ending(to, None);
        assert_eq!(world.store.write(ending).await, Err(WriteError::InboxPending), "{to:?}");
    }
    let mut drained = log.ending(JobState::Completed, None);
    drained.writes.inbox_done = vec![id];
    world.store.write(drained).await.unwrap();
    assert_eq!(world.job_row(&log).await.state, JobState::Completed);
}

/// I123: an attempt that could not load its job may park the job although requests are unread. A batch that parks a job
/// in this way cannot set another state.
pub(super) async fn job_that_cannot_be_loaded_parks_with_its_requests(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let id = world.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Cancel).await.unwrap();
    let mut parking = log.append(1);
    parking.writes.kind = BatchKind::ParkUnloaded;
    world.store.write(parking).await.unwrap();
    let row = world.job_row(&log).await;
    assert_eq!((row.state, row.inbox_pending, row.cancel_requested), (JobState::Parked, true, true));
    assert_eq!(world.store.inbox(&log.job_id).await.unwrap()[0].id, id);
    let claimer = world.lease_request("next");
    assert!(world.store.claim(&claimer).await.unwrap().is_none(), "the job is parked");
    world.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Continue).await.unwrap();
    assert_eq!(world.store.claim(&claimer).await.unwrap().unwrap().row.attempt, 2);
    assert_eq!(world.store.inbox(&log.job_id).await.unwrap().len(), 2, "both requests are kept");
}

pub(super) async fn request_wakes_a_waiting_job(world: StoreFixture) {
    for (name, to) in [("a", JobState::Waiting), ("b", JobState::Parked), ("c", JobState::Diverged)] {
        let mut log = world.claimed_job(name).await;
        world.store.write(log.ending(to, Some(i64::MAX))).await.unwrap();
        world.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Continue).await.unwrap();
        let row = world.job_row(&log).await;
        assert_eq!((row.state, row.inbox_pending, row.wake_at_us), (JobState::Pending, true, None));
        let claim = world.store.claim(&world.lease_request(&format!("next-{name}"))).await.unwrap().unwrap();
        assert_eq!((claim.row.job_id, claim.row.inbox_pending), (log.job_id, true));
    }
}

pub(super) async fn ended_job_accepts_late_effects_only(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    world.store.write(log.ending(JobState::Completed, None)).await.unwrap();
    let refused = world.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Cancel).await;
    assert_eq!(refused, Err(InboxError::WrongState { job_id: log.job_id.clone(), state: JobState::Completed }));
    let late = InboxRequest::LateEffect { slot: Slot::new("s1"), try_no: 1 };
    world.store.put_inbox(&log.job_id, "ann", None, late).await.unwrap();
    let row = world.job_row(&log).await;
    assert_eq!((row.state, row.inbox_pending, row.cancel_requested), (JobState::Completed, true, false));
    assert_eq!(world.store.inbox(&log.job_id).await.unwrap().len(), 1, "the request is kept until it is in the log");
    assert!(
        world.store.claim(&world.lease_request("next")).await.unwrap().is_none(),
        "a late effect does not make the job claimable"
    );
}

pub(super) async fn cancel_request_sets_the_flag(world: StoreFixture) {
    let log = world.claimed_job("one").await;
    world.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Continue).await.unwrap();
    assert!(!world.job_row(&log).await.cancel_requested);
    world.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Cancel).await.unwrap();
    assert!(world.job_row(&log).await.cancel_requested);
}

/// I25: a request that arrives while its job parks is not lost. Either the parking is refused, or the job is claimable
/// afterwards.
pub(super) async fn parking_concurrent_with_a_request_loses_no_wakeup(world: StoreFixture) {
    for round in 0..40 {
        let mut log = world.claimed_job(&format!("r{round}")).await;
        let parking = log.ending(JobState::Parked, None);
        let (store, id) = (world.store.clone(), log.job_id.clone());
        let asking = tokio::spawn(async move { store.put_inbox(&id, "ann", None, InboxRequest::Continue).await });
        let parked = world.store.write(parking).await;
        asking.await.unwrap().unwrap();
        let row = world.job_row(&log).await;
        assert!(row.inbox_pending);
        match parked {
            Ok(()) => assert_eq!(row.state, JobState::Pending),
            Err(error) => assert_eq!((error, row.state), (WriteError::InboxPending, JobState::Running)),
        }
    }
}

/// I24: a retry request reopens only a partial or failed job. The request itself makes this job pending.
pub(super) async fn retry_reopens_unsuccessful_jobs_only(world: StoreFixture) {
    for (name, to) in [("c", JobState::Completed), ("x", JobState::Cancelled), ("p", JobState::Parked)] {
        let mut log = world.claimed_job(name).await;
        world.store.write(log.ending(to, None)).await.unwrap();
        let refused = world.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Retry).await;
        assert_eq!(refused, Err(InboxError::WrongState { job_id: log.job_id.clone(), state: to }));
        assert_eq!(world.job_row(&log).await.state, to);
    }
    for (name, to) in [("a", JobState::Partial), ("b", JobState::Failed)] {
        let mut log = world.claimed_job(name).await;
        world.store.write(log.ending(to, None)).await.unwrap();
        let id = world.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Retry).await.unwrap();
        let row = world.job_row(&log).await;
        assert_eq!((row.state, row.inbox_pending), (JobState::Pending, true));
        let twice = world.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Retry).await;
        assert!(matches!(twice, Err(InboxError::WrongState { state: JobState::Pending, .. })), "{twice:?}");
        let claim = world.store.claim(&world.lease_request(&format!("next-{name}"))).await.unwrap().unwrap();
        assert_eq!((claim.row.job_id, claim.row.attempt), (log.job_id.clone(), 2));
        log.attempt = 2;
        let mut reopened = log.append(1);
        reopened.writes.inbox_done = vec![id];
        world.store.write(reopened).await.unwrap();
        assert!(world.store.inbox(&log.job_id).await.unwrap().is_empty());
    }
}

/// I155: an undo reopens a completed, partial or failed job once. From then on, only compensations may be
/// started.
pub(super) async fn undo_reopens_ended_jobs_for_compensations_only(world: StoreFixture) {
    for (name, to) in [("x", JobState::Cancelled), ("p", JobState::Parked), ("w", JobState::Pending)] {
        let mut log = world.claimed_job(name).await;
        world.store.write(log.ending(to, None)).await.unwrap();
        let refused = world.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Undo).await;
        assert_eq!(refused, Err(InboxError::WrongState { job_id: log.job_id.clone(), state: to }));
        let row = world.job_row(&log).await;
        assert_eq!((row.state, row.cancel_requested), (to, false));
        if to == JobState::Pending {
            world.store.claim_job(&log.job_id, &world.lease_request("holder")).await.unwrap().unwrap();
        }
    }
    for (name, to) in [("c", JobState::Completed), ("a", JobState::Partial), ("b", JobState::Failed)] {
        let mut log = world.claimed_job(name).await;
        world.store.write(log.ending(to, None)).await.unwrap();
        let id = world.store.put_inbox(&log.job_id, "ann", Some("why"), InboxRequest::Undo).await.unwrap();
        let row = world.job_row(&log).await;
        assert_eq!((row.state, row.inbox_pending, row.cancel_requested), (JobState::Pending, true, true));
        for request in [InboxRequest::Undo, InboxRequest::Retry] {
            let twice = world.store.put_inbox(&log.job_id, "ann", None, request).await;
            assert!(matches!(twice, Err(InboxError::WrongState { state: JobState::Pending, .. })), "{twice:?}");
        }
        let claim = world.store.claim(&world.lease_request(&format!("next-{name}"))).await.unwrap().unwrap();
        assert_eq!((claim.row.job_id, claim.row.attempt), (log.job_id.clone(), 2));
        log.attempt = 2;
        let mut reopened = log.append(1);
        reopened.writes.inbox_done = vec![id];
        world.store.write(reopened).await.unwrap();
        let start = |log: &mut LogWriter, slot: &str| {
            let mut batch = log.append(1);
            batch.writes.kind = BatchKind::START_CALLS;
            batch.writes.ledger = vec![LedgerWrite::Insert(ledger_row(slot, RowState::Inflight, 2))];
            batch
        };
        assert_eq!(world.store.write(start(&mut log.clone(), "s9")).await, Err(WriteError::Cancelled));
        world.store.write(start(&mut log, "s1~c")).await.unwrap();
        world.store.write(log.ending(JobState::Cancelled, None)).await.unwrap();
        let over = world.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Undo).await;
        assert!(matches!(over, Err(InboxError::WrongState { state: JobState::Cancelled, .. })), "{over:?}");
    }
}
