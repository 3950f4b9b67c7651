//! Row locks on a server. A session that is stuck in a transaction delays a worker only if the worker needs the same
//! row. Submissions that count the queue run one after the other.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection};

use latchwork_core::model::job::JobState;
use latchwork_core::storage::expectation::TimerWrite;
use latchwork_core::storage::{Journal, QueueLimit, Submitted};

use crate::postgres::{claimed_job, lease_request, open_database};
use crate::support::servers::postgres::server::database;
use crate::support::store_fixture::new_job;

/// Time limit for an operation that must not wait for a row lock. Each test holds a lock for longer than this limit, so
/// an operation that waits for the lock fails the test.
const NO_WAIT_LIMIT: Duration = Duration::from_secs(8);

/// Locks the row of a job for the lifetime of the returned connection.
async fn lock_job_row(url: &str, job_id: &str) -> PgConnection {
    let options: PgConnectOptions = url.parse().unwrap();
    let mut conn = options.connect().await.unwrap();
    for text in ["BEGIN".to_owned(), format!("SELECT 1 FROM jobs WHERE job_id = '{job_id}' FOR UPDATE")] {
        sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut conn).await.unwrap();
    }
    conn
}

/// I86: a job that another session is claiming or has locked does not delay the claim of the next job.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claim_skips_a_locked_job() {
    let Some(url) = database().await else { return };
    let opened = open_database(&url).await;
    for name in ["first", "second"] {
        opened.store.submit(new_job(name)).await.unwrap();
    }
    let _somebody = lock_job_row(&url, "job_first").await;
    let (claimer, _lock) = lease_request(opened.dir.path(), "worker");
    let claimed =
        tokio::time::timeout(NO_WAIT_LIMIT, opened.store.claim(&claimer)).await.expect("the operation does not wait");
    assert_eq!(claimed.unwrap().expect("there is one").row.job_id.as_str(), "job_second");
}

/// I26: a waiting job is due, but another session has locked its row. The store checks the job again after a pause, not
/// in a busy loop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn due_but_locked_job_is_checked_again_later() {
    let Some(url) = database().await else { return };
    let opened = open_database(&url).await;
    let (mut log, _lock) = claimed_job(&opened, "first").await;
    opened.store.write(log.ending(JobState::Waiting, Some(1))).await.unwrap();
    let somebody = lock_job_row(&url, "job_first").await;
    let next_us = tokio::time::timeout(NO_WAIT_LIMIT, opened.store.fire_timers())
        .await
        .expect("the operation does not wait")
        .unwrap();
    let later_us = next_us.expect("it is due") - opened.store.now_us().await.unwrap();
    assert!((1..=1_000_000).contains(&later_us), "{later_us} µs");
    drop(somebody);
    while opened.store.fire_timers().await.unwrap().is_some() {}
    assert_eq!(opened.store.job(&log.job_id).await.unwrap().unwrap().state, JobState::Pending);
}

/// I26: timers of other jobs fire without waiting for a locked job.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timer_of_a_locked_job_does_not_delay_other_timers() {
    let Some(url) = database().await else { return };
    let opened = open_database(&url).await;
    let mut locks = Vec::new();
    for name in ["first", "second"] {
        let (mut log, lock) = claimed_job(&opened, name).await;
        let mut batch = log.append(1);
        batch.timers = vec![TimerWrite { name: "wait/s".to_owned(), due_us: Some(1) }];
        opened.store.write(batch).await.unwrap();
        locks.push((log, lock));
    }
    let _somebody = lock_job_row(&url, "job_first").await;
    tokio::time::timeout(NO_WAIT_LIMIT, opened.store.fire_timers())
        .await
        .expect("the operation does not wait")
        .unwrap();
    assert_eq!(opened.store.inbox(&locks[1].0.job_id).await.unwrap().len(), 1);
    assert_eq!(opened.store.inbox(&locks[0].0.job_id).await.unwrap().len(), 0);
}

/// I99: processes that submit concurrently never exceed the queue limit.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_submissions_never_exceed_the_queue_limit() {
    let Some(url) = database().await else { return };
    let mut opened = Vec::new();
    for _ in 0..4 {
        opened.push(open_database(&url).await);
    }
    // Each round has room for one more job.
    for round in 0..15 {
        let asks = opened.iter().enumerate().map(|(at, opened)| {
            let mut new = new_job(&format!("job{round}of{at}"));
            new.queue = QueueLimit { all: Some(round + 1), tenant: None };
            opened.store.submit(new)
        });
        let done = join_four(asks).await;
        let new = done.iter().filter(|done| matches!(done, Submitted::New)).count();
        assert_eq!(new, 1, "round {round}: {done:?}");
    }
}

/// Runs all four futures concurrently.
async fn join_four<E: std::fmt::Debug>(
    asks: impl Iterator<Item = impl Future<Output = Result<Submitted, E>>>,
) -> Vec<Submitted> {
    let [a, b, c, d] = asks.collect::<Vec<_>>().try_into().ok().expect("four");
    let (a, b, c, d) = tokio::join!(a, b, c, d);
    [a, b, c, d].into_iter().map(|done| done.unwrap()).collect()
}
