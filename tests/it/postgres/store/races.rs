//! Several workers on one server.

use std::collections::BTreeMap;

use latchwork_core::event::{Body, Event};
use latchwork_core::model::ids::{Hash, JobId, Operator, Slot};
use latchwork_core::storage::{ActionWrite, Batch, InboxRequest, Journal, Submitted, WriteError};

use crate::postgres::{claimed_job, event_count, lease_request, open_database};
use crate::support::servers::postgres::server::database;
use crate::support::store_fixture;
use crate::support::store_fixture::new_job;

/// Number of workers.
const WORKERS: usize = 4;

/// I86.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_job_is_claimed_by_exactly_one_worker() {
    let Some(url) = database().await else { return };
    let first = open_database(&url).await;
    for number in 0..40 {
        first.store.submit(new_job(&format!("job{number}"))).await.unwrap();
    }
    let mut tasks = Vec::new();
    for number in 0..WORKERS {
        let worker = open_database(&url).await;
        tasks.push(tokio::spawn(async move {
            // The lock is kept until all workers are done. Without its lock a worker counts as dead, and other
            // workers would claim its jobs.
            let (claimer, lock) = lease_request(worker.dir.path(), &format!("worker{number}"));
            let mut mine = Vec::new();
            while let Some(claim) = worker.store.claim(&claimer).await.unwrap() {
                mine.push((claim.row.job_id, claim.row.attempt));
            }
            (mine, lock)
        }));
    }
    let mut claimed: BTreeMap<JobId, u32> = BTreeMap::new();
    let mut locks = Vec::new();
    for task in tasks {
        let (mine, lock) = task.await.unwrap();
        locks.push(lock);
        for (job_id, attempt) in mine {
            assert_eq!(claimed.insert(job_id, attempt), None, "claimed twice");
        }
    }
    assert_eq!(claimed.len(), 40);
    assert!(claimed.values().all(|attempt| *attempt == 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn same_request_submitted_concurrently_is_one_job() {
    let Some(url) = database().await else { return };
    let (a, b) = (open_database(&url).await, open_database(&url).await);
    for round in 0..20 {
        // Two processes generate two job ids for one request.
        let one = new_job(&format!("job{round}"));
        let mut other = new_job(&format!("other{round}"));
        other.row.request_key = one.row.request_key;
        let (one, other) = tokio::join!(a.store.submit(one), b.store.submit(other));
        let new = [one.unwrap(), other.unwrap()].iter().filter(|done| matches!(done, Submitted::New)).count();
        assert_eq!(new, 1);
    }
}

fn reserve_batch(log: &store_fixture::LogWriter, key: Hash) -> Batch {
    let mut batch = log.batch();
    batch.writes.actions = vec![ActionWrite::Reserve {
        operator: Operator::new("Mail.Send"),
        key,
        args_hash: Hash::of(&[b"args"]),
        slot: Slot::new("s1"),
    }];
    batch
}

/// I21.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_reservations_of_one_action_key_grant_it_to_one_job() {
    let Some(url) = database().await else { return };
    let (a, b) = (open_database(&url).await, open_database(&url).await);
    for round in 0..20 {
        let (log_a, _lock_a) = claimed_job(&a, &format!("a{round}")).await;
        let (log_b, _lock_b) = claimed_job(&b, &format!("b{round}")).await;
        let key = Hash::of(&[b"key", &[round]]);
        let (one, other) =
            tokio::join!(a.store.write(reserve_batch(&log_a, key)), b.store.write(reserve_batch(&log_b, key)));
        let refused = |result: &Result<(), WriteError>| matches!(result, Err(WriteError::ActionKey(_)));
        assert!(
            (one.is_ok() && refused(&other)) || (other.is_ok() && refused(&one)),
            "exactly one reservation succeeds: {one:?} {other:?}"
        );
        // The key holder settles the key while another job begins to wait for the key. Either the wait is stored and
        // the waiting job is notified, or the wait is refused.
        let (holder, log_h, waiter, log_w) =
            if one.is_ok() { (&a, &log_a, &b, &log_b) } else { (&b, &log_b, &a, &log_a) };
        let mut wait = log_w.batch();
        wait.writes.actions = vec![ActionWrite::Wait { operator: Operator::new("Mail.Send"), key }];
        let mut settle = log_h.batch();
        settle.writes.actions = vec![ActionWrite::Settle {
            operator: Operator::new("Mail.Send"),
            key,
            slot: Slot::new("s1"),
            receipt: Some(b"{}".to_vec()),
        }];
        let (waited, settled) = tokio::join!(waiter.store.write(wait), holder.store.write(settle));
        settled.unwrap();
        let rows = waiter.store.inbox(&log_w.job_id).await.unwrap();
        match waited {
            Ok(()) => assert!(matches!(rows[0].request, InboxRequest::KeySettled { .. }), "{rows:?}"),
            Err(error) => assert!(matches!(error, WriteError::ActionKeyFree { .. }) && rows.is_empty(), "{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_writes_of_two_workers_lose_nothing() {
    let Some(url) = database().await else { return };
    let (a, b) = (open_database(&url).await, open_database(&url).await);
    let mut tasks = Vec::new();
    for (mine, others, name) in [(a.store.clone(), b.store.clone(), "one"), (b.store.clone(), a.store.clone(), "two")] {
        let (mut log, lock) = claimed_job(if name == "one" { &a } else { &b }, name).await;
        tasks.push(tokio::spawn(async move {
            for round in 0..60 {
                let body = Body::StepStarted { step_id: format!("s{}", log.seq).into() };
                let event = Event::seal(log.seq, 1_700_000_000_000_000, 1, body, log.head);
                let mut batch = log.batch();
                (log.seq, log.head) = (log.seq + 1, event.hash);
                batch.writes.events = vec![event];
                let held = [(log.job_id.clone(), 1)];
                // One worker writes the job row. At the same time, the second worker sets the flag for new requests in
                // the same row. Neither write overwrites the other.
                let asks = async {
                    tokio::time::sleep(std::time::Duration::from_micros(150 * (round % 10))).await;
                    others.put_inbox(&log.job_id, "ann", None, InboxRequest::Continue).await.unwrap()
                };
                let (written, beaten, request) = tokio::join!(mine.write(batch), mine.heartbeat(&held, 600_000), asks);
                assert_eq!((written, beaten.unwrap()), (Ok(()), vec![]));
                let row = mine.job(&log.job_id).await.unwrap().unwrap();
                assert!(row.inbox_pending, "round {round}: the request is lost");
                let mut drain = log.batch();
                drain.writes.inbox_done = vec![request];
                mine.write(drain).await.unwrap();
            }
            drop(lock);
            log
        }));
    }
    for task in tasks {
        let log = task.await.unwrap();
        assert_eq!(event_count(&a.store, &log).await, 62);
        assert!(b.store.inbox(&log.job_id).await.unwrap().is_empty());
    }
}
