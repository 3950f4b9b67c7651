//! Order of claims, and limits on the number of pending jobs.

use latchwork_core::model::job::JobState;
use latchwork_core::storage::{ClaimExclusions, InboxRequest, NewJob, QueueLimit, Submitted};

use crate::support::store_fixture::{LEASE_MS, StoreFixture, new_job};

async fn submit_changed(world: &StoreFixture, name: &str, change: impl FnOnce(&mut NewJob)) -> Submitted {
    let mut new = new_job(name);
    change(&mut new);
    world.store.submit(new).await.unwrap()
}

async fn claim_except_tenants(world: &StoreFixture, name: &str, except: &[&str]) -> Option<String> {
    let tenants = except.iter().map(|tenant| (*tenant).to_owned()).collect();
    claimed_except(world, name, ClaimExclusions { tenants, ..ClaimExclusions::default() }).await
}

async fn claimed_except(world: &StoreFixture, name: &str, except: ClaimExclusions) -> Option<String> {
    let claim = world.store.claim_excluding(&world.lease_request(name), &except).await.unwrap();
    claim.map(|claim| claim.row.job_id.to_string())
}

/// I98.
pub(super) async fn job_with_highest_priority_is_claimed_first(world: StoreFixture) {
    for (name, priority) in [("a", 0), ("b", -3), ("c", 100), ("d", 0), ("e", 100)] {
        submit_changed(&world, name, |new| new.row.priority = priority).await;
    }
    let row = world.store.job(&"job_b".into()).await.unwrap().unwrap();
    assert_eq!(row.priority, -3);
    let mut order = Vec::new();
    while let Some(id) = claim_except_tenants(&world, &format!("w{}", order.len()), &[]).await {
        order.push(id);
    }
    assert_eq!(order, ["job_c", "job_e", "job_a", "job_d", "job_b"]);
}

pub(super) async fn claim_can_exclude_tenants(world: StoreFixture) {
    for (name, tenant) in [("a", "acme"), ("b", "it's \"b\""), ("c", "acme")] {
        submit_changed(&world, name, |new| new.row.tenant_id = tenant.to_owned()).await;
    }
    assert_eq!(claim_except_tenants(&world, "1", &["acme", "it's \"b\""]).await, None);
    assert_eq!(claim_except_tenants(&world, "2", &["acme", "nobody"]).await.as_deref(), Some("job_b"));
    assert_eq!(claim_except_tenants(&world, "3", &["acme"]).await, None);
    assert_eq!(claim_except_tenants(&world, "4", &[]).await.as_deref(), Some("job_a"));
}

/// I121: a claim can exclude single jobs, in addition to all jobs of a tenant. The exclusion holds for pending jobs and
/// for jobs whose lease has expired.
pub(super) async fn claim_can_exclude_jobs(world: StoreFixture) {
    for (name, tenant) in [("a", "acme"), ("b", "acme"), ("c", "other")] {
        submit_changed(&world, name, |new| new.row.tenant_id = tenant.to_owned()).await;
    }
    let of = |tenants: &[&str], jobs: &[&str]| ClaimExclusions {
        tenants: tenants.iter().map(|tenant| (*tenant).to_owned()).collect(),
        jobs: jobs.iter().map(|job| (*job).into()).collect(),
    };
    assert_eq!(claimed_except(&world, "1", of(&[], &["job_a", "job_b", "job_c"])).await, None);
    assert_eq!(claimed_except(&world, "2", of(&["other"], &["job_a", "job_b"])).await, None);
    assert_eq!(claimed_except(&world, "3", of(&[], &["job_a", "job_none"])).await.as_deref(), Some("job_b"));
    world.clock.advance_ms(LEASE_MS);
    assert_eq!(
        claimed_except(&world, "4", of(&["other"], &["job_a", "job_b"])).await,
        None,
        "the excluded job's lease has expired"
    );
    assert_eq!(claimed_except(&world, "5", of(&["other"], &["job_a"])).await.as_deref(), Some("job_b"));
    assert_eq!(claimed_except(&world, "6", ClaimExclusions::default()).await.as_deref(), Some("job_a"));
}

/// I99.
pub(super) async fn full_queue_refuses_another_job(world: StoreFixture) {
    let limited =
        |all: Option<u32>, tenant: Option<u32>| move |new: &mut NewJob| new.queue = QueueLimit { all, tenant };
    submit_changed(&world, "a", limited(Some(2), Some(1))).await;
    let full = submit_changed(&world, "b", limited(Some(2), Some(1))).await;
    assert!(matches!(full, Submitted::QueueFull { of_tenant: true, limit: 1 }), "{full:?}");
    assert!(world.store.job(&"job_b".into()).await.unwrap().is_none());
    let other = |all: Option<u32>| {
        move |new: &mut NewJob| {
            new.row.tenant_id = "other".to_owned();
            limited(all, Some(1))(new);
        }
    };
    let full = submit_changed(&world, "b", other(Some(1))).await;
    assert!(matches!(full, Submitted::QueueFull { of_tenant: false, limit: 1 }), "{full:?}");
    assert!(matches!(submit_changed(&world, "b", other(Some(2))).await, Submitted::New));
    // A full queue accepts a repeated request, because this request adds no job. It also accepts a job that is claimed
    // immediately, because this job does not wait in the queue.
    assert!(matches!(submit_changed(&world, "a", limited(Some(1), Some(1))).await, Submitted::Attached(_)));
    let claimer = world.lease_request("spot");
    let spot = submit_changed(&world, "c", |new| {
        limited(Some(1), Some(1))(new);
        new.claim = Some(claimer);
    });
    assert!(matches!(spot.await, Submitted::New));
    // A claimed job no longer counts as a job in the queue.
    world.store.claim_job(&"job_a".into(), &world.lease_request("w")).await.unwrap().unwrap();
    assert!(matches!(submit_changed(&world, "d", limited(Some(2), Some(1))).await, Submitted::New));
}

/// I97: a released job can be claimed immediately. It keeps the requests that were made while a worker held it.
pub(super) async fn released_job_can_be_claimed_with_its_requests(world: StoreFixture) {
    let mut log = world.claimed_job("one").await;
    world.store.put_inbox(&log.job_id, "bob", None, InboxRequest::Cancel).await.unwrap();
    world.store.write(log.ending(JobState::Pending, None)).await.unwrap();
    let row = world.job_row(&log).await;
    assert_eq!((row.state, row.inbox_pending), (JobState::Pending, true));
    assert!(world.store.write(log.append(1)).await.is_err(), "the job is no longer held");
    assert_eq!(claim_except_tenants(&world, "next", &[]).await.as_deref(), Some("job_one"));
}
