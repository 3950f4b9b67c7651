//! Submitting and reading jobs.

use latchwork_core::event::Body;
use latchwork_core::model::error::Code;
use latchwork_core::model::ids::Slot;
use latchwork_core::model::job::JobState;
use latchwork_core::storage::{AttemptEnd, BatchKind, JobFilter, JobRow, Submitted, WriteError};

use crate::support::store_fixture::{StoreFixture, new_job};

pub(super) async fn submission_is_stored_completely(world: StoreFixture) {
    let new = new_job("one");
    assert!(matches!(world.store.submit(new.clone()).await, Ok(Submitted::New)));
    let record = world.store.load(&new.row.job_id).await.unwrap().unwrap();
    assert_eq!(record.row, new.row);
    assert_eq!(record.secret, new.secret);
    assert_eq!(record.events, new.events);
    assert_eq!(record.payloads, new.payloads);
    assert!(record.ledger.is_empty() && record.inbox.is_empty());
    assert!(world.store.load(&"job_none".into()).await.unwrap().is_none());
    assert!(world.store.job(&"job_none".into()).await.unwrap().is_none());
}

pub(super) async fn same_request_attaches_to_the_job(world: StoreFixture) {
    let new = new_job("one");
    world.store.submit(new.clone()).await.unwrap();
    let mut again = new_job("two");
    again.row.request_key = new.row.request_key;
    let Ok(Submitted::Attached(row)) = world.store.submit(again.clone()).await else { panic!("attached") };
    assert_eq!(row, new.row);
    assert!(world.store.job(&again.row.job_id).await.unwrap().is_none());
}

pub(super) async fn inconsistent_job_is_refused(world: StoreFixture) {
    let mut new = new_job("one");
    new.row.next_seq = 3;
    assert!(matches!(world.store.submit(new.clone()).await, Err(WriteError::Defect(_))));
    let mut new = new_job("one");
    new.events.swap(0, 1);
    assert!(matches!(world.store.submit(new.clone()).await, Err(WriteError::Defect(_))));
    // A log with a gap, whose end matches the job row.
    let mut new = new_job("one");
    new.events.remove(0);
    new.row.next_seq = 1;
    assert!(matches!(world.store.submit(new.clone()).await, Err(WriteError::Defect(_))));
    let begun: [fn(&mut JobRow); 4] = [
        |row| row.state = JobState::Running,
        |row| row.attempt = 1,
        |row| row.inbox_pending = true,
        |row| row.cancel_requested = true,
    ];
    for begin in begun {
        let mut new = new_job("one");
        begin(&mut new.row);
        assert!(matches!(world.store.submit(new).await, Err(WriteError::Defect(_))));
    }
    assert!(world.store.job(&new.row.job_id).await.unwrap().is_none());

    world.store.submit(new_job("one")).await.unwrap();
    let mut taken = new_job("one");
    taken.row.request_key = latchwork_core::model::ids::Hash::of(&[b"another"]);
    assert!(matches!(world.store.submit(taken).await, Err(WriteError::Defect(_))));
}

pub(super) async fn jobs_are_listed_newest_first(world: StoreFixture) {
    for name in ["one", "two", "three"] {
        world.store.submit(new_job(name)).await.unwrap();
    }
    let mut log = world.claimed_job("four").await;
    world.store.write(log.ending(JobState::Completed, None)).await.unwrap();
    let names = async |filter: JobFilter| -> Vec<String> {
        world.store.jobs(&filter).await.unwrap().iter().map(|row| row.job_id.to_string()).collect()
    };
    let all = names(JobFilter { limit: 10, ..JobFilter::default() }).await;
    assert_eq!(all, ["job_four", "job_three", "job_two", "job_one"]);
    assert_eq!(names(JobFilter { limit: 2, open: true, ..JobFilter::default() }).await, ["job_three", "job_two"]);
    let state = Some(JobState::Completed);
    assert_eq!(names(JobFilter { limit: 10, state, ..JobFilter::default() }).await, ["job_four"]);
}

/// I142: only the newest event that explains the job's state is read.
pub(super) async fn job_list_contains_state_reasons(world: StoreFixture) {
    world.store.submit(new_job("waiting")).await.unwrap();
    let mut log = world.claimed_job("parked").await;
    let parked = |slot: &str, reason| Body::JobParked { reason, slot: Some(Slot::new(slot)), cause: None };
    for body in [parked("a", Code::RequiresSignal), parked("b", Code::RequiresApproval)] {
        let mut batch = log.append(2);
        batch.writes.events.push(log.seal(body));
        world.store.write(batch).await.unwrap();
    }
    let mut batch = log.batch();
    batch.writes.kind = BatchKind::EndAttempt(AttemptEnd::Parked);
    world.store.write(batch).await.unwrap();
    let mut log = world.claimed_job("done").await;
    let mut batch = log.ending(JobState::Completed, None);
    batch.writes.events.push(log.seal(Body::JobCompleted {}));
    world.store.write(batch).await.unwrap();
    let rows = world.store.jobs(&JobFilter { limit: 10, ..JobFilter::default() }).await.unwrap();
    let whys = world.store.state_reasons(&rows).await.unwrap();
    let found: Vec<_> = whys.iter().map(|why| (why.reason_code, why.slot.as_ref(), why.since_us.is_some())).collect();
    let slot = Slot::new("b");
    assert_eq!(found, [(None, None, true), (Some(Code::RequiresApproval), Some(&slot), true), (None, None, false)]);
    assert_eq!(world.store.state_reasons(&[]).await.unwrap(), []);
}
