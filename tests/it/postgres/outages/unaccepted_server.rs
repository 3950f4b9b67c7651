//! Operations that reach another server after their connection was cut. An administrator has not accepted
//! this server with `latch doctor --accept-restore`.

use std::sync::atomic::Ordering;

use sqlx::Row;

use latchwork_core::storage::expectation::TimerWrite;
use latchwork_core::storage::{BatchKind, InboxRequest, Journal, WriteError};
use latchwork_store::{OwnerLock, Side};

use crate::postgres::outages::server_failures::disconnect_after;
use crate::postgres::{OpenedDatabase, claimed_job, lease_request};
use crate::support::servers::postgres::server::sql;
use crate::support::store_fixture::{LogWriter, new_job};

/// SQL statement that makes the server differ from the server that was accepted last.
const CHANGE_SERVER_IDENTITY: &str = "UPDATE meta SET server = 'elsewhere/00000001/1'";

/// Operations that start work or keep a lease.
#[derive(Clone, Copy, Debug)]
enum StartOperation {
    Claim,
    ClaimJob,
    Submit,
    Heartbeat,
    Timers,
    Barrier,
}

impl StartOperation {
    const ALL: [(StartOperation, &'static str); 6] = [
        (StartOperation::Claim, "claim_find"),
        (StartOperation::ClaimJob, "claim_find"),
        (StartOperation::Submit, "submit_find"),
        (StartOperation::Heartbeat, "heartbeat"),
        (StartOperation::Timers, "timers_find"),
        (StartOperation::Barrier, "group_read"),
    ];

    /// Runs the operation and returns the store's result.
    async fn attempt(self, opened: &OpenedDatabase, log: &mut LogWriter, time: &str) -> Result<(), WriteError> {
        let store = &opened.store;
        let name = format!("{self:?}{time}");
        let (claimer, _lock) = lease_request(opened.dir.path(), &name);
        match self {
            StartOperation::Claim => store.claim(&claimer).await.map(drop)?,
            StartOperation::ClaimJob => store.claim_job(&new_job("waiting").row.job_id, &claimer).await.map(drop)?,
            StartOperation::Submit => {
                let mut new = new_job(&name);
                new.claim = Some(claimer);
                store.submit(new).await.map(drop)?;
            }
            StartOperation::Heartbeat => {
                store.heartbeat(&[(log.job_id.clone(), log.attempt)], 700_000).await.map(drop)?
            }
            StartOperation::Timers => store.fire_timers().await.map(drop)?,
            StartOperation::Barrier => {
                let mut batch = log.append(1);
                batch.writes.kind = BatchKind::START_CALLS;
                store.write(batch).await?;
            }
        }
        Ok(())
    }
}

/// Returns all rows that an operation could change, as text.
async fn stored_work(url: &str) -> String {
    let tables =
        ["jobs", "claims", "timers", "inbox", "events"].map(|table| format!("SELECT {table}::text t FROM {table}"));
    let all = format!("SELECT string_agg(t, ' ' ORDER BY t) FROM ({}) all_of_it", tables.join(" UNION ALL "));
    sql(url, &all).await[0].get(0)
}

/// Creates a claimed job and a pending job. For [`StartOperation::Timers`], the claimed job has a due timer.
async fn two_jobs(opened: &OpenedDatabase, starts: StartOperation) -> (LogWriter, OwnerLock) {
    let (mut log, lock) = claimed_job(opened, "one").await;
    opened.store.submit(new_job("waiting")).await.unwrap();
    if matches!(starts, StartOperation::Timers) {
        let mut batch = log.append(1);
        batch.timers = vec![TimerWrite { name: "wait/s".to_owned(), due_us: Some(1) }];
        opened.store.write(batch).await.unwrap();
    }
    (log, lock)
}

/// I89: an operation on a server whose restore is not accepted starts no work and keeps no lease. This also holds for
/// the first operation that reaches the server. Results are still recorded there, and requests are still accepted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_starts_on_a_server_before_its_restore_is_accepted() {
    for (starts, point) in StartOperation::ALL {
        let Some((opened, probe)) = disconnect_after(Some(CHANGE_SERVER_IDENTITY), point, Side::Before).await else {
            return;
        };
        let store = &opened.store;
        let (mut log, _lock) = two_jobs(&opened, starts).await;
        let before = stored_work(&probe.url).await;
        probe.armed.store(true, Ordering::SeqCst);
        let refused = starts.attempt(&opened, &mut log.clone(), "first").await;
        assert!(!probe.armed.load(Ordering::SeqCst), "{starts:?}: the connection was cut");
        assert!(matches!(refused, Err(WriteError::Restored(_))), "{starts:?}: {refused:?}");
        assert_eq!(stored_work(&probe.url).await, before, "{starts:?}");
        // Results are recorded and requests are accepted.
        store.write(log.append(1)).await.unwrap();
        store.put_inbox(&log.job_id, "ann", None, InboxRequest::Continue).await.unwrap();
        store.submit(new_job("later")).await.unwrap();
        store.accept_restore().await.unwrap();
        let before = stored_work(&probe.url).await;
        starts.attempt(&opened, &mut log, "again").await.unwrap();
        assert_ne!(stored_work(&probe.url).await, before, "{starts:?}");
    }
}

/// I89: the answer to a commit is lost, and only an unaccepted server can confirm the commit. An operation that starts
/// work or keeps a lease then fails. Writes of results and requests succeed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commit_confirmed_only_by_an_unaccepted_server_starts_nothing() {
    for (starts, _) in StartOperation::ALL {
        let Some((opened, probe)) = disconnect_after(Some(CHANGE_SERVER_IDENTITY), "commit", Side::After).await else {
            return;
        };
        let (mut log, _lock) = two_jobs(&opened, starts).await;
        probe.armed.store(true, Ordering::SeqCst);
        let untold = starts.attempt(&opened, &mut log, "first").await;
        assert!(!probe.armed.load(Ordering::SeqCst), "{starts:?}: the connection was cut");
        assert!(untold.is_err(), "{starts:?} continues");
    }
    for kind in 0..2 {
        let Some((opened, probe)) = disconnect_after(Some(CHANGE_SERVER_IDENTITY), "commit", Side::After).await else {
            return;
        };
        let (mut log, _lock) = claimed_job(&opened, "one").await;
        probe.armed.store(true, Ordering::SeqCst);
        match kind {
            0 => opened.store.write(log.append(1)).await.unwrap(),
            _ => drop(opened.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Continue).await.unwrap()),
        }
        assert!(!probe.armed.load(Ordering::SeqCst), "the connection was cut");
    }
}
