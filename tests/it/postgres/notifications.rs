//! Notifications: a worker is notified of new work and need not poll for it.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::Row;

use latchwork_core::model::job::JobState;
use latchwork_core::storage::expectation::TimerWrite;
use latchwork_core::storage::{Clock, InboxRequest, Journal};
use latchwork_store::StoreClock;

use super::{claimed_job, lease_request, open_database};
use crate::support::database::blocking_database;
use crate::support::running_worker::{RunningWorker, resolve_until_over, worker_command};
use crate::support::servers::postgres::server::{Server, database, sql};
use crate::support::test_env::{TestEnv, wait};
use crate::support::waiting::{block_on, wait_until};
use crate::support::{running_worker, store_fixture};

/// Upper limit for the delay of a notification. The limit exceeds any real delay, and is far below the polling interval
/// without notifications.
const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(10);

/// I88.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signal_sent_to_one_store_starts_the_job_on_another() {
    let Some(url) = database().await else { return };
    let (here, there) = (open_database(&url).await, open_database(&url).await);
    let (claimer, _lock) = lease_request(there.dir.path(), "there");
    let clock = StoreClock::new().unwrap();
    let mut fastest = Duration::MAX;
    for round in 0..60 {
        let (mut log, lock) = claimed_job(&here, &format!("job{round}")).await;
        here.store.write(log.ending(JobState::Parked, None)).await.unwrap();
        drop(lock);
        // Consumes earlier notifications before the worker waits.
        let mut heard = there.store.watermark();
        while there.store.claim(&claimer).await.unwrap().is_some() {}
        while let Ok(more) =
            tokio::time::timeout(Duration::from_millis(50), there.store.wait_for_change(None, heard)).await
        {
            heard = more;
        }
        let waits = async {
            loop {
                heard = tokio::time::timeout(NOTIFICATION_TIMEOUT, there.store.wait_for_change(None, heard))
                    .await
                    .expect("a notification arrives");
                if let Some(claim) = there.store.claim(&claimer).await.unwrap() {
                    return (claim.row.job_id, clock.boot_us());
                }
            }
        };
        let sends = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            here.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Continue).await.unwrap();
            clock.boot_us()
        };
        let ((job_id, started), sent) = tokio::join!(waits, sends);
        assert_eq!(job_id, log.job_id);
        // Time from the acknowledgement of the request to the claim.
        fastest = fastest.min(Duration::from_micros((started - sent).max(0).unsigned_abs()));
        if round >= 9 && fastest < FAST_ENOUGH {
            break;
        }
    }
    // The fastest of many rounds counts, because other tests share the machine.
    assert!(fastest < FAST_ENOUGH, "{fastest:?}");
}

/// I88: a store reports whether it receives notifications. A worker without notifications can then poll more often.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn store_reports_whether_it_receives_notifications() {
    let Some(server) = Server::start() else { return };
    let opened = open_database(&server.url()).await;
    let until = async |hears: bool| {
        let hears_so = async {
            while opened.store.receives_notifications() != hears {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(NOTIFICATION_TIMEOUT, hears_so).await.expect("the store notices the change");
    };
    until(true).await;
    tokio::task::block_in_place(|| server.stop());
    until(false).await;
    tokio::task::block_in_place(|| server.run());
    until(true).await;
}

/// Number of delays that one series measures. `SERIES` is the maximum number of series. A slow series is repeated,
/// because other tests share the machine and may have delayed the series.
const ROUNDS: u32 = 21;
const SERIES: u32 = 5;
/// Median delay that polling every 200 ms would cause without notifications.
const MEDIAN_POLL_DELAY: Duration = Duration::from_millis(100);

/// I88: a signal sent by one process starts the job in another process much sooner than polling would. The
/// server's clock measures the delay.
#[test]
fn signal_sent_by_one_process_starts_the_job_in_another() {
    let Some(url) = blocking_database() else { return };
    let patient = json!({ "wait_kind": "signal", "correlation_key": "reply", "timeout": "1h" });
    let place = TestEnv::witness("atomic").with_approved(vec![]).with_database(&url).with_plan(&[wait("s", patient)]);
    let working = RunningWorker::start(&place, worker_command(&place, &[]));
    let mut medians = Vec::new();
    for _ in 0..SERIES {
        let jobs: Vec<String> = (0..ROUNDS).map(|_| submit_another(&place)).collect();
        let waits = |job: &&Value| job["state"] == "PARKED";
        wait_until("all jobs wait", || running_worker::open_jobs(&place).iter().filter(waits).count() == jobs.len());
        for job in &jobs {
            let signalled = place.latch(&["job", "signal", job, "reply", "--payload", "1"]);
            assert_eq!(signalled.code, 0, "{}", signalled.stderr);
        }
        resolve_until_over(&place, "told");
        let mut took: Vec<i64> = jobs.iter().map(|job| wake_delay_us(&url, job)).collect();
        took.sort_unstable();
        medians.push(Duration::from_micros(took[took.len() / 2].max(0).unsigned_abs()));
        if medians.last() < Some(&(MEDIAN_POLL_DELAY / 2)) {
            println!("median from a signal to its claim: {medians:?}");
            assert_eq!(working.stop().0, Some(0));
            return;
        }
    }
    panic!("medians of {ROUNDS} rounds each: {medians:?}");
}

/// Returns the time from the job's only signal to the claim that the signal caused, by the server's clock.
fn wake_delay_us(url: &str, job: &str) -> i64 {
    let took = format!(
        "SELECT c.claimed_us - i.created_us FROM jobs j JOIN inbox i ON i.job = j.id JOIN claims c ON c.job = j.id AND \
         c.attempt = 2 WHERE j.job_id = '{job}' AND j.attempt = 2"
    );
    let took = block_on(sql(url, &took));
    assert_eq!(took.len(), 1, "{job} has one signal and one further claim");
    took[0].get(0)
}

/// Submits another job with the plan of the environment.
fn submit_another(place: &TestEnv) -> String {
    let ran = place.latch(&[&place.run_args()[..], &["--detach", "--new"]].concat());
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    ran.json()["job_id"].as_str().expect("an id").to_owned()
}

/// Upper limit for the shortest of many delays. Each delay is the time from a signal to the claim on another
/// store. The limit is far below the polling interval without notifications.
const FAST_ENOUGH: Duration = Duration::from_millis(100);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lease_holder_is_notified_of_its_own_inbox_only() {
    let Some(url) = database().await else { return };
    let (here, there) = (open_database(&url).await, open_database(&url).await);
    let (log, _lock) = claimed_job(&here, "held").await;
    let (other, _other_lock) = claimed_job(&here, "other").await;
    // The first wait starts the listener. This wait ends soon, because connecting notifies all waiters.
    let heard = here.store.wait_for_change(Some(&log.job_id), 0).await;
    there.store.put_inbox(&other.job_id, "ann", None, InboxRequest::Continue).await.unwrap();
    let quiet = tokio::time::timeout(Duration::from_millis(300), here.store.wait_for_change(Some(&log.job_id), heard));
    assert!(quiet.await.is_err(), "requests to another job do not notify this one");
    there.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Continue).await.unwrap();
    let now = tokio::time::timeout(NOTIFICATION_TIMEOUT, here.store.wait_for_change(Some(&log.job_id), heard))
        .await
        .expect("a notification arrives");
    assert!(now > heard);
    // A notification that arrived before the wait is not missed.
    tokio::time::timeout(NOTIFICATION_TIMEOUT, here.store.wait_for_change(Some(&log.job_id), heard))
        .await
        .expect("the earlier notification is not missed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timers_new_jobs_and_lost_connections_notify_waiters() {
    let Some(url) = database().await else { return };
    let (here, there) = (open_database(&url).await, open_database(&url).await);
    let mut heard = there.store.wait_for_change(None, 0).await;
    let next = async |heard| {
        tokio::time::timeout(NOTIFICATION_TIMEOUT, there.store.wait_for_change(None, heard))
            .await
            .expect("a notification arrives")
    };
    here.store.submit(store_fixture::new_job("new")).await.unwrap();
    heard = next(heard).await;
    let (mut log, _lock) = claimed_job(&here, "timed").await;
    let mut batch = log.append(1);
    batch.timers = vec![TimerWrite { name: "wait/s".to_owned(), due_us: Some(1) }];
    here.store.write(batch).await.unwrap();
    heard = next(heard).await;
    sql(&url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()").await;
    next(heard).await;
}
