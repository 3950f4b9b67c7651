//! Effects and key-value entries.

use latchwork_core::model::effect::Provenance;
use latchwork_core::model::ids::Slot;
use latchwork_core::storage::WriteError;

use crate::support::store_fixture::{StoreFixture, effect};

/// I16.
pub(super) async fn effect_is_written_once(world: StoreFixture) {
    let log = world.claimed_job("one").await;
    let first = effect("s1", 1, "{}");
    world.store.put(&log.job_id, &[first.clone(), effect("s1", 2, "2")]).await.unwrap();
    world.store.put(&log.job_id, std::slice::from_ref(&first)).await.expect("equal bytes are accepted");
    let other = [effect("s2", 1, "new"), effect("s1", 1, "other")];
    let refused = WriteError::EffectExists { slot: Slot::new("s1"), try_no: 1, found: Box::new(first.clone()) };
    assert_eq!(world.store.put(&log.job_id, &other).await, Err(refused));
    assert_eq!(world.store.effects(&log.job_id).await.unwrap(), [first, effect("s1", 2, "2")]);
    assert!(world.store.effects(&"job_none".into()).await.unwrap().is_empty());
    world.store.put(&log.job_id, &[]).await.unwrap();
}

pub(super) async fn effects_of_jobs_in_another_database_are_kept(world: StoreFixture) {
    let (one, two) = ("job_elsewhere".into(), "job_further".into());
    world.store.put(&one, &[effect("s1", 1, "1")]).await.unwrap();
    world.store.put(&two, &[effect("s1", 1, "2")]).await.unwrap();
    world.store.put(&one, &[effect("s2", 1, "3")]).await.unwrap();
    assert_eq!(world.store.effects(&one).await.unwrap(), [effect("s1", 1, "1"), effect("s2", 1, "3")]);
    assert_eq!(world.store.effects(&two).await.unwrap(), [effect("s1", 1, "2")]);
}

/// I16: if a verdict and a late answer are written for the same try, the store keeps the first of the two.
pub(super) async fn batch_and_late_answer_agree_on_one_effect(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    let answer = effect("s1", 1, "{}");
    let mut verdict = answer.clone();
    verdict.provenance = Provenance::PersonDecision;

    world.store.put(&log.job_id, std::slice::from_ref(&answer)).await.unwrap();
    let mut batch = log.clone().append(1);
    batch.writes.effects = vec![verdict.clone()];
    let refused = WriteError::EffectExists { slot: Slot::new("s1"), try_no: 1, found: Box::new(answer.clone()) };
    assert_eq!(world.store.write(batch).await, Err(refused));
    let mut batch = log.append(1);
    batch.writes.effects = vec![answer.clone()];
    world.store.write(batch).await.expect("equal bytes are accepted");

    let mut batch = log.append(1);
    verdict.try_no = 2;
    batch.writes.effects = vec![verdict.clone()];
    world.store.write(batch).await.unwrap();
    let refused = WriteError::EffectExists { slot: Slot::new("s1"), try_no: 2, found: Box::new(verdict) };
    assert_eq!(world.store.put(&log.job_id, &[effect("s1", 2, "{}")]).await, Err(refused));
}

pub(super) async fn values_are_kept_by_namespace(world: StoreFixture) {
    assert_eq!(world.store.get("mail", "k").await.unwrap(), None);
    world.store.set("mail", "k", b"\0one").await.unwrap();
    world.store.set("other", "k", b"").await.unwrap();
    world.store.set("mail", "k", b"two").await.unwrap();
    assert_eq!(world.store.get("mail", "k").await.unwrap().as_deref(), Some(&b"two"[..]));
    assert_eq!(world.store.get("other", "k").await.unwrap().as_deref(), Some(&b""[..]));
    assert!(world.store.delete("mail", "k").await.unwrap());
    assert!(!world.store.delete("mail", "k").await.unwrap());
    assert_eq!(world.store.get("mail", "k").await.unwrap(), None);
}
