//! Audit events of a job that is over, and revoked receipts.

use latchwork_core::event::{Body, Event};
use latchwork_core::model::ids::{Hash, Operator, Slot};
use latchwork_core::model::job::JobState;
use latchwork_core::rules::ledger::RowState;
use latchwork_core::storage::{
    ActionWrite, Batch, BatchKind, InboxRequest, JobFilter, LedgerWrite, Record, WriteError,
};

use super::actions::{reserve_action, settle_action};
use crate::support::store_fixture::{LogWriter, StoreFixture, effect, ledger_row, payload};

/// Returns a batch with one audit event at the end of the log.
fn audit_batch(log: &mut LogWriter) -> Batch {
    let message = "it happened after all".to_owned();
    let body = Body::ResolutionConflict { slot: Slot::new("s1"), try_no: 1, message };
    let event = Event::seal(log.seq, 1_700_000_000_000_000, log.attempt, body, log.head);
    let mut batch = log.batch();
    batch.writes.kind = BatchKind::Audit;
    (log.seq, log.head) = (log.seq + 1, event.hash);
    batch.writes.events.push(event);
    batch
}

/// I14, I44, I176: the log of an ended job accepts only audit events, in order and from any writer.
pub(super) async fn ended_job_accepts_audit_events_only(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    assert_eq!(
        world.store.write(audit_batch(&mut log.clone())).await,
        Err(WriteError::NotHeld { state: JobState::Running }),
        "a held job is written by its lease holder only"
    );
    world.store.write(log.ending(JobState::Failed, None)).await.unwrap();
    let late = InboxRequest::LateEffect { slot: Slot::new("s1"), try_no: 1 };
    let id = world.store.put_inbox(&log.job_id, "ann", None, late).await.unwrap();
    let open = world.claimed_job("open").await;
    world.store.put_inbox(&open.job_id, "ann", None, InboxRequest::Continue).await.unwrap();
    let waiting = JobFilter { needs_audit: true, limit: 9, ..JobFilter::default() };
    let found = world.store.jobs(&waiting).await.unwrap();
    assert_eq!(found.iter().map(|row| &row.job_id).collect::<Vec<_>>(), [&log.job_id], "an open job is not listed");

    let mut kinds = vec![audit_batch(&mut log.clone()); 4];
    kinds[0].writes.ledger = vec![LedgerWrite::Insert(ledger_row("s1", RowState::Committed, 1))];
    kinds[1].writes.effects = vec![effect("s1", 1, "{}")];
    kinds[2].writes.payloads = vec![payload("output/s1", b"x")];
    kinds[3] = log.clone().append(1);
    kinds[3].writes.kind = BatchKind::Audit;
    for batch in kinds {
        assert!(matches!(world.store.write(batch).await, Err(WriteError::Defect(_))));
    }
    let mut unsaid = audit_batch(&mut log.clone());
    unsaid.writes.kind = BatchKind::Record(Record::Flush);
    assert_eq!(world.store.write(unsaid).await, Err(WriteError::NotHeld { state: JobState::Failed }));

    let mut other = log.clone();
    let mut batch = audit_batch(&mut log);
    batch.writes.inbox_done = vec![id];
    world.store.write(batch).await.unwrap();
    assert!(
        matches!(world.store.write(audit_batch(&mut other)).await, Err(WriteError::Conflict { .. })),
        "audit events are written in order"
    );
    let record = world.store.load(&log.job_id).await.unwrap().unwrap();
    assert_eq!((record.row.state, record.row.inbox_pending, record.row.next_seq), (JobState::Failed, false, log.seq));
    assert!(record.inbox.is_empty() && world.store.jobs(&waiting).await.unwrap().is_empty());
    assert!(world.store.claim(&world.lease_request("next")).await.unwrap().is_none());
}

/// I45: only the slot that holds an action key can revoke the key's receipt. The key stays reserved, so a job that
/// waits for the key waits until the key is settled again.
pub(super) async fn receipt_is_revoked_only_by_its_holder(world: StoreFixture) {
    let (mut one, mut two) = (world.claimed_job("one").await, world.claimed_job("two").await);
    let (operator, key) = (Operator::new("Mail.Send"), Hash::of(&[b"key"]));
    let take = |slot: &str| ActionWrite::WithdrawReceipt { operator: operator.clone(), key, slot: Slot::new(slot) };
    let receipt =
        async || world.store.action_reservation("tenant", &operator, key).await.unwrap().map(|row| row.receipt);
    let write = async |log: &mut LogWriter, action: ActionWrite| {
        let mut batch = log.append(1);
        batch.writes.actions = vec![action];
        world.store.write(batch).await
    };
    write(&mut one, take("s1")).await.unwrap();
    assert_eq!(receipt().await, None, "there is no reservation");
    write(&mut one, reserve_action("s1", b"a")).await.unwrap();
    write(&mut one, settle_action("s1", Some(b"receipt"))).await.unwrap();
    for (log, slot) in [(&mut two, "s1"), (&mut one, "s2")] {
        write(log, take(slot)).await.unwrap();
        assert_eq!(receipt().await, Some(Some(b"receipt".to_vec())), "the key is held by another slot");
    }
    write(&mut one, take("s1")).await.unwrap();
    assert_eq!(receipt().await, Some(None));
    assert!(
        matches!(write(&mut two.clone(), reserve_action("s9", b"a")).await, Err(WriteError::ActionKey(_))),
        "the key is still reserved"
    );
    let mut batch = two.ending(JobState::Parked, None);
    batch.writes.actions = vec![ActionWrite::Wait { operator: operator.clone(), key }];
    world.store.write(batch).await.unwrap();
    write(&mut one, settle_action("s1", Some(b"receipt"))).await.unwrap();
    assert_eq!(receipt().await, Some(Some(b"receipt".to_vec())));
    assert_eq!(world.job_row(&two).await.state, JobState::Pending, "the waiting job is notified");
}
