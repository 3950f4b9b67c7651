//! Charges are written with the answers that cause them. Every store computes the same sums.

use latchwork_core::event::{Body, Event};
use latchwork_core::model::effect::{Consumption, Provenance, Usage};
use latchwork_core::model::ids::{Hash, Slot};
use latchwork_core::model::payload::PayloadRef;
use latchwork_core::rules::cost::{CostGrouping, CostRow, CostTotals};
use latchwork_core::storage::Batch;

use crate::support::store_fixture::{LogWriter, StoreFixture};

/// 22 November 2026, one second before midnight UTC. `DECEMBER_US` is 30 days later.
const NOVEMBER_US: i64 = 1_795_391_999_000_000;
const DECEMBER_US: i64 = NOVEMBER_US + 30 * 86_400_000_000;

/// Returns a batch of answers. Each entry gives the model, the cost in micro-USD and the time of the record.
/// Without a cost, the answer has no usage.
fn answers_batch(log: &mut LogWriter, each: &[(&str, Option<u32>, i64)]) -> Batch {
    let mut batch = log.batch();
    for (model, cost, time_us) in each {
        let usage = cost.map(|cost_micro_usd| Usage {
            model: Some((*model).to_owned()),
            provider_trace_id: None,
            tokens_in: 10,
            tokens_out: 1,
            cost_micro_usd,
            credits: 2,
        });
        let body = Body::ToolInvocationFinished {
            slot: Slot::new("s"),
            try_no: 1,
            ok: true,
            answer: PayloadRef { hash: Hash::default(), len: 0 },
            provenance: Provenance::Executed,
            code: None,
            spent: usage.as_ref().map(|_| Consumption { fuel: 5, wall_ms: 3 }),
            usage,
            assumed_micro_usd: None,
            nondeterministic: true,
            refused: None,
        };
        let event = Event::seal(log.seq, *time_us, log.attempt, body, log.head);
        log.seq += 1;
        log.head = event.hash;
        batch.writes.events.push(event);
    }
    batch
}

/// Summary of a cost row: job or actor, period, model, calls, cost in micro-USD.
type CostSummary<'r> = (Option<&'r str>, Option<&'r str>, &'r str, u64, u64);

fn summaries(rows: &[CostRow]) -> Vec<CostSummary<'_>> {
    let of = |row: &CostRow| (row.totals.calls, row.totals.cost_micro_usd);
    rows.iter()
        .map(|row| {
            let (calls, cost) = of(row);
            let job = row.job_id.as_ref().map(|id| id.as_str());
            (job.or(row.actor_id.as_deref()), row.period.as_deref(), row.model.as_str(), calls, cost)
        })
        .collect()
}

/// I33.
pub(crate) async fn charges_are_summed_with_the_answers(world: StoreFixture) {
    let store = &world.store;
    let mut a = world.claimed_job("a").await;
    let mut b = world.claimed_job("b").await;
    let both = [("small", Some(20), NOVEMBER_US), ("none", None, NOVEMBER_US), ("small", Some(5), NOVEMBER_US)];
    store.write(answers_batch(&mut a, &both)).await.unwrap();
    store
        .write(answers_batch(&mut b, &[("large", Some(100), NOVEMBER_US), ("small", Some(1), DECEMBER_US)]))
        .await
        .unwrap();

    let jobs = store.costs(CostGrouping::Job, None).await.unwrap();
    let expected = [
        (Some("job_b"), None, "large", 1, 100),
        (Some("job_b"), None, "small", 1, 1),
        (Some("job_a"), None, "small", 2, 25),
    ];
    assert_eq!(summaries(&jobs), expected);
    let totals = CostTotals {
        calls: 2,
        nondeterministic: 2,
        tokens_in: 20,
        tokens_out: 2,
        cost_micro_usd: 25,
        credits: 4,
        cache_hits: 0,
        cache_misses: 2,
        fuel: 10,
        wall_ms: 6,
    };
    assert_eq!(store.costs(CostGrouping::Job, Some(&a.job_id)).await.unwrap(), [CostRow { totals, ..jobs[2].clone() }]);
    assert_eq!((jobs[2].tenant_id.as_str(), jobs[2].actor_id.as_deref()), ("tenant", Some("actor")));
    let actor = Some("actor");
    let days = store.costs(CostGrouping::ActorDay, None).await.unwrap();
    let (late, early) = (Some("2026-12-22"), Some("2026-11-22"));
    let expected = [(actor, late, "small", 1, 1), (actor, early, "large", 1, 100), (actor, early, "small", 2, 25)];
    assert_eq!(summaries(&days), expected);
    let months = store.costs(CostGrouping::TenantMonth, None).await.unwrap();
    let (late, early) = (Some("2026-12"), Some("2026-11"));
    let expected = [(None, late, "small", 1, 1), (None, early, "large", 1, 100), (None, early, "small", 2, 25)];
    assert_eq!(summaries(&months), expected);
    for (tenant, month, spent) in
        [("tenant", "2026-11", 125), ("tenant", "2026-12", 1), ("tenant", "2026-10", 0), ("x", "2026-11", 0)]
    {
        assert_eq!(store.spent(tenant, month).await.unwrap(), spent, "{tenant} {month}");
    }
}

/// I33: an answer that is not written is not charged.
pub(crate) async fn refused_batch_is_not_charged(world: StoreFixture) {
    let store = &world.store;
    let mut log = world.claimed_job("a").await;
    let mut batch = answers_batch(&mut log, &[("small", Some(20), NOVEMBER_US)]);
    batch.attempt += 1;
    assert!(store.write(batch.clone()).await.is_err(), "a superseded attempt");
    assert_eq!(store.costs(CostGrouping::TenantMonth, None).await.unwrap(), []);
    batch.attempt -= 1;
    store.write(batch.clone()).await.unwrap();
    assert!(store.write(batch).await.is_err(), "the log has moved on");
    assert_eq!(store.spent("tenant", "2026-11").await.unwrap(), 20);
}
