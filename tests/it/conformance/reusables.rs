//! Index of results that later jobs may reuse.

use latchwork_core::model::effect::Provenance;
use latchwork_core::model::ids::{Hash, Operator};
use latchwork_core::model::result_type::ResultType;
use latchwork_core::rules::reuse::ReusableResult;
use latchwork_core::storage::WriteError;

use crate::support::store_fixture::{LogWriter, StoreFixture, payload};

fn reusable(log: &LogWriter, tenant: &str, input: &[u8]) -> ReusableResult {
    ReusableResult {
        tenant_id: tenant.to_owned(),
        operator: Operator::new("Email.Draft"),
        input_hash: Hash::of(&[input]),
        job_id: log.job_id.clone(),
        step_id: "s3".into(),
        outcome_type: Some("Email.Draft".to_owned()),
        sensitivity: None,
        digest: Hash::of(&[b"component"]),
        version: "1.2.0".to_owned(),
        policy: Hash::of(&[b"policy"]),
        result_type: ResultType::Success,
        is_verified: true,
        provenance: Provenance::PersonDecision,
        output_hash: Hash::of(&[b"output"]),
        time_us: 1_700_000_000_000_000,
    }
}

/// I23: an index row is written with its batch or not at all. For one input, the newest result is returned.
pub(super) async fn results_are_indexed_with_their_batch(world: StoreFixture) {
    let (mut one, mut two) = (world.claimed_job("one").await, world.claimed_job("two").await);
    let find = async |tenant: &str, input: &[u8]| {
        world.store.reusable(tenant, &Operator::new("Email.Draft"), Hash::of(&[input])).await.unwrap()
    };
    let mut batch = one.append(1);
    batch.writes.payloads = vec![payload("output/s3", b"\0 bytes")];
    batch.writes.reusables = vec![reusable(&one, "tenant", b"a"), reusable(&one, "other", b"a")];
    world.store.write(batch).await.unwrap();
    assert_eq!(find("tenant", b"a").await, Some(reusable(&one, "tenant", b"a")));
    assert_eq!(find("tenant", b"b").await, None);
    assert_eq!(world.store.payload(&one.job_id, "output/s3").await.unwrap().as_deref(), Some(&b"\0 bytes"[..]));
    assert_eq!(world.store.payload(&one.job_id, "output/s4").await.unwrap(), None);
    assert_eq!(world.store.payload(&"job_none".into(), "output/s3").await.unwrap(), None);

    let newer = ReusableResult {
        outcome_type: None,
        sensitivity: Some("team".to_owned()),
        result_type: ResultType::Pure,
        is_verified: false,
        provenance: Provenance::Executed,
        ..reusable(&two, "tenant", b"a")
    };
    let mut refused = two.clone().append(1);
    refused.attempt = 7;
    refused.writes.reusables = vec![newer.clone()];
    assert!(matches!(world.store.write(refused).await, Err(WriteError::Fenced { .. })));
    assert_eq!(find("tenant", b"a").await, Some(reusable(&one, "tenant", b"a")));
    let mut batch = two.append(1);
    batch.writes.reusables = vec![newer.clone()];
    world.store.write(batch).await.unwrap();
    assert_eq!(find("tenant", b"a").await, Some(newer));
    assert_eq!(find("other", b"a").await, Some(reusable(&one, "other", b"a")), "each tenant has its own index");
}
