//! Reservations of action keys, and jobs that wait for them.

use latchwork_core::model::ids::{Hash, Operator, Slot};
use latchwork_core::model::job::JobState;
use latchwork_core::storage::{ActionWrite, InboxRequest, WriteError};

use crate::support::store_fixture::{LogWriter, StoreFixture, new_job};

pub(super) fn reserve_action(slot: &str, args: &[u8]) -> ActionWrite {
    let args_hash = Hash::of(&[args]);
    ActionWrite::Reserve {
        operator: Operator::new("Mail.Send"),
        key: Hash::of(&[b"key"]),
        args_hash,
        slot: Slot::new(slot),
    }
}

pub(super) fn settle_action(slot: &str, receipt: Option<&[u8]>) -> ActionWrite {
    let receipt = receipt.map(<[u8]>::to_vec);
    ActionWrite::Settle {
        operator: Operator::new("Mail.Send"),
        key: Hash::of(&[b"key"]),
        slot: Slot::new(slot),
        receipt,
    }
}

pub(super) async fn action_key_is_held_by_one_slot(world: StoreFixture) {
    let (mut one, mut two) = (world.claimed_job("one").await, world.claimed_job("two").await);
    let with = |batch: latchwork_core::storage::Batch, write: ActionWrite| {
        let mut batch = batch;
        batch.writes.actions = vec![write];
        batch
    };
    let held = async || {
        world.store.action_reservation("tenant", &Operator::new("Mail.Send"), Hash::of(&[b"key"])).await.unwrap()
    };
    assert_eq!(held().await, None);
    world.store.write(with(one.append(1), reserve_action("s1", b"a"))).await.unwrap();
    world
        .store
        .write(with(one.append(1), reserve_action("s1", b"a")))
        .await
        .expect("the same slot may reserve the key again");
    let row = held().await.unwrap();
    assert_eq!((row.job_id.clone(), row.slot.as_str(), row.receipt.clone()), (one.job_id.clone(), "s1", None));
    let refused = Err(WriteError::ActionKey(Box::new(row.clone())));
    assert_eq!(world.store.write(with(two.clone().append(1), reserve_action("s1", b"a"))).await, refused);
    assert_eq!(world.store.write(with(one.clone().append(1), reserve_action("s2", b"a"))).await, refused);
    assert_eq!(world.store.write(with(one.clone().append(1), reserve_action("s1", b"b"))).await, refused);
    assert_eq!(world.store.write(with(two.clone().append(1), settle_action("s1", None))).await, refused);
    assert_eq!(world.store.write(with(one.clone().append(1), settle_action("s2", None))).await, refused);

    // The action of the key holder was certainly not applied, so the key holder settles the key without a receipt. The
    // key is free for other jobs from then on.
    world.store.write(with(one.append(1), settle_action("s1", None))).await.unwrap();
    assert_eq!(held().await, None);
    world.store.write(with(two.append(1), reserve_action("s9", b"a"))).await.unwrap();
    world.store.write(with(two.append(1), settle_action("s9", Some(b"receipt")))).await.unwrap();
    let row = held().await.unwrap();
    assert_eq!(row.receipt.as_deref(), Some(&b"receipt"[..]));
    let refused = Err(WriteError::ActionKey(Box::new(row)));
    assert_eq!(world.store.write(with(one.clone().append(1), reserve_action("s1", b"a"))).await, refused);
    assert_eq!(world.store.write(with(two.clone().append(1), settle_action("s9", Some(b"another")))).await, refused);
    assert_eq!(
        world.store.action_reservation("other", &Operator::new("Mail.Send"), Hash::of(&[b"key"])).await.unwrap(),
        None
    );
}

/// If several jobs wait for the same action key, the store notifies each job when the key is settled.
pub(super) async fn every_job_waiting_for_an_action_key_is_notified(world: StoreFixture) {
    let mut one = world.claimed_job("one").await;
    let (operator, key) = (Operator::new("Mail.Send"), Hash::of(&[b"key"]));
    let mut batch = one.append(1);
    batch.writes.actions = vec![reserve_action("s1", b"a")];
    world.store.write(batch).await.unwrap();
    let mut waiting = Vec::new();
    for name in ["two", "three", "four"] {
        let mut log = world.claimed_job(name).await;
        let mut batch = log.ending(JobState::Parked, None);
        batch.writes.actions = vec![ActionWrite::Wait { operator: operator.clone(), key }];
        world.store.write(batch).await.unwrap();
        waiting.push(log);
    }
    let mut batch = one.append(1);
    batch.writes.actions = vec![settle_action("s1", Some(b"receipt"))];
    world.store.write(batch).await.unwrap();
    for log in &waiting {
        let row = world.job_row(log).await;
        assert_eq!((row.state, row.inbox_pending), (JobState::Pending, true), "{}", log.job_id);
        assert_eq!(world.store.inbox(&log.job_id).await.unwrap().len(), 1);
    }
}

pub(super) async fn job_waiting_for_an_action_key_is_notified_once(world: StoreFixture) {
    let (mut one, mut two) = (world.claimed_job("one").await, world.claimed_job("two").await);
    let (operator, key) = (Operator::new("Mail.Send"), Hash::of(&[b"key"]));
    let wait = ActionWrite::Wait { operator: operator.clone(), key };
    let mut free = two.clone().append(1);
    free.writes.actions = vec![wait.clone()];
    assert_eq!(world.store.write(free).await, Err(WriteError::ActionKeyFree { operator: operator.clone(), key }));

    let mut batch = one.append(1);
    batch.writes.actions = vec![reserve_action("s1", b"a")];
    world.store.write(batch).await.unwrap();
    let mut batch = two.ending(JobState::Parked, None);
    batch.writes.actions = vec![wait.clone()];
    world.store.write(batch).await.unwrap();
    assert_eq!(world.job_row(&two).await.state, JobState::Parked);

    let mut batch = one.append(1);
    batch.writes.actions = vec![settle_action("s1", Some(b"receipt"))];
    world.store.write(batch).await.unwrap();
    let row = world.job_row(&two).await;
    assert_eq!((row.state, row.inbox_pending), (JobState::Pending, true));
    let inbox = world.store.inbox(&two.job_id).await.unwrap();
    assert_eq!(inbox.len(), 1);
    assert_eq!(inbox[0].request, InboxRequest::KeySettled { operator: operator.clone(), key });

    // If the key is settled again, the job is not notified again. A batch that waits for a settled key is refused.
    let mut batch = one.append(1);
    batch.writes.actions = vec![settle_action("s1", Some(b"receipt"))];
    world.store.write(batch).await.unwrap();
    assert_eq!(world.store.inbox(&two.job_id).await.unwrap().len(), 1);
    let mut three = world.claimed_job("three").await;
    let mut late = three.append(1);
    late.writes.actions = vec![wait];
    assert_eq!(world.store.write(late).await, Err(WriteError::ActionKeyFree { operator, key }));
}

/// A waiting job that ends before the action is settled is not notified.
pub(super) async fn ended_job_is_not_notified_of_an_action_key(world: StoreFixture) {
    let (mut one, mut two) = (world.claimed_job("one").await, world.claimed_job("two").await);
    let mut batch = one.append(1);
    batch.writes.actions = vec![reserve_action("s1", b"a")];
    world.store.write(batch).await.unwrap();
    let mut batch = two.ending(JobState::Failed, None);
    batch.writes.actions = vec![ActionWrite::Wait { operator: Operator::new("Mail.Send"), key: Hash::of(&[b"key"]) }];
    world.store.write(batch).await.unwrap();
    let before = world.job_row(&two).await;
    let mut batch = one.append(1);
    batch.writes.actions = vec![settle_action("s1", Some(b"receipt"))];
    world.store.write(batch).await.unwrap();
    assert_eq!(world.job_row(&two).await, before);
    assert!(world.store.inbox(&two.job_id).await.unwrap().is_empty());
}

/// I188: action keys belong to a tenant: the same key of two tenants is two keys.
pub(super) async fn action_key_belongs_to_one_tenant(world: StoreFixture) {
    let mut ours = world.claimed_job("ours").await;
    let mut new = new_job("theirs");
    new.row.tenant_id = "other".to_owned();
    new.claim = Some(world.lease_request("worker-of-theirs"));
    let mut theirs = LogWriter::of(&new);
    theirs.attempt = 1;
    world.store.submit(new).await.unwrap();
    for log in [&mut ours, &mut theirs] {
        let mut batch = log.append(1);
        batch.writes.actions = vec![reserve_action("s1", b"a")];
        world.store.write(batch).await.expect("each tenant has its own key");
    }
    let held = async |tenant| {
        let row =
            world.store.action_reservation(tenant, &Operator::new("Mail.Send"), Hash::of(&[b"key"])).await.unwrap();
        row.map(|row| row.job_id)
    };
    assert_eq!((held("tenant").await, held("other").await), (Some(ours.job_id.clone()), Some(theirs.job_id.clone())));
    let mut batch = theirs.append(1);
    batch.writes.actions = vec![settle_action("s1", None)];
    world.store.write(batch).await.unwrap();
    assert_eq!((held("tenant").await, held("other").await), (Some(ours.job_id.clone()), None), "freed alone");
}
