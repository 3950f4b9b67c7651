//! Effects and key-value entries.

use latchwork_core::model::effect::Provenance;
use latchwork_core::model::ids::Slot;
use latchwork_core::storage::map::entry_bytes;
use latchwork_core::storage::{MapName, QuotaExceeded, SetError, WriteError};

use crate::support::store_fixture::{StoreFixture, effect};

/// Quota that no map of these tests reaches.
const QUOTA: u64 = 1 << 30;

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

/// I232.
pub(super) async fn values_are_kept_by_tenant_and_namespace(world: StoreFixture) {
    let own = |tenant: &str, namespace: &str| MapName::of_tenant(tenant, namespace).unwrap();
    let (mail, other) = (own("acme", "mail"), own("acme", "other"));
    // Tenant and namespace are separate parts of a map's name. Exchanging their values names another map.
    let apart = [other.clone(), own("umbrella", "mail"), own("mail", "acme"), MapName::shared("mail")];
    assert_eq!(world.store.get(&mail, "k").await.unwrap(), None);
    world.store.set(&mail, "k", b"\0one", QUOTA).await.unwrap();
    for map in &apart {
        assert_eq!(world.store.get(map, "k").await.unwrap(), None, "{map:?}");
        assert!(!world.store.delete(map, "k").await.unwrap(), "{map:?}");
    }
    world.store.set(&other, "k", b"", QUOTA).await.unwrap();
    world.store.set(&mail, "k", b"two", QUOTA).await.unwrap();
    assert_eq!(world.store.get(&mail, "k").await.unwrap().as_deref(), Some(&b"two"[..]));
    assert_eq!(world.store.get(&other, "k").await.unwrap().as_deref(), Some(&b""[..]));
    assert!(world.store.delete(&mail, "k").await.unwrap());
    assert!(!world.store.delete(&mail, "k").await.unwrap());
    assert_eq!(world.store.get(&mail, "k").await.unwrap(), None);
    assert_eq!(world.store.get(&other, "k").await.unwrap().as_deref(), Some(&b""[..]));
}

/// I233: a value may use the quota up to its last byte. A write beyond the quota is refused and leaves the old value. A
/// smaller value and a deletion free their bytes. Another map is not affected.
pub(super) async fn map_is_limited_by_its_quota(world: StoreFixture) {
    let store = &world.store;
    let (full, free) = (MapName::of_tenant("acme", "mail").unwrap(), MapName::of_tenant("umbrella", "mail").unwrap());
    let quota = 2 * entry_bytes(1, 10);
    let refused = |used: u64, needed: u64| Err(SetError::Quota(QuotaExceeded { used, needed }));
    assert_eq!(store.set(&full, "a", &[1; 10], quota).await, Ok(()));
    assert_eq!(store.set(&full, "b", &[2; 11], quota).await, refused(75, 151));
    assert_eq!(store.get(&full, "b").await.unwrap(), None);
    assert_eq!(store.set(&full, "b", &[2; 10], quota).await, Ok(()));
    assert_eq!(store.set(&full, "b", &[3; 11], quota).await, refused(150, 151));
    assert_eq!(store.get(&full, "b").await.unwrap().as_deref(), Some(&[2; 10][..]));
    assert_eq!(store.set(&full, "", b"", quota).await, refused(150, 214), "an empty entry counts");
    assert_eq!(store.set(&free, "b", &[3; 11], quota).await, Ok(()), "the map of another tenant is not full");
    assert_eq!(store.set(&full, "b", &[4; 10], quota).await, Ok(()), "as large as before");
    assert_eq!(store.set(&full, "a", &[1; 9], quota).await, Ok(()), "smaller");
    assert_eq!(store.set(&full, "b", &[3; 11], quota).await, Ok(()), "the byte is free");
    assert!(store.delete(&full, "a").await.unwrap());
    assert!(!store.delete(&full, "a").await.unwrap());
    assert_eq!(store.set(&full, "ä", &[1; 9], quota).await, refused(76, 151), "bytes count, not characters");
    assert_eq!(store.set(&full, "ä", &[1; 8], quota).await, Ok(()));
    // After the quota is lowered below the used bytes, existing entries stay and may shrink, but may not grow.
    assert_eq!(store.set(&full, "b", &[3; 11], 1).await, Ok(()));
    assert_eq!(store.set(&full, "b", &[3; 5], 1).await, Ok(()));
    assert_eq!(store.set(&full, "b", &[3; 6], 1).await, refused(144, 145));
    assert!(store.delete(&full, "b").await.unwrap() && store.delete(&full, "ä").await.unwrap());
    assert_eq!(store.set(&full, "c", b"", 1).await, refused(0, 65));
}
