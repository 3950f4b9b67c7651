//! Number of rows that a claim reads on a server, by the server's own statistics.

use std::time::Duration;

use sqlx::Row;

use latchwork_core::storage::Journal;
use latchwork_store::OwnerLock;

use crate::postgres::{OpenedDatabase, lease_request, open_database};
use crate::support::servers::postgres::server::{database, sql};
use crate::support::store_fixture::new_job;

/// Number of jobs in each state that a claim must not read.
const JOBS_PER_STATE: i64 = 2_000;
const CLAIM_ATTEMPTS: i64 = 50;

/// Returns the number of index scans and the number of rows read, both summed over the tables of jobs, claims and
/// owners.
async fn read_counters(url: &str) -> (i64, i64) {
    let rows = sql(
        url,
        "SELECT sum(coalesce(idx_scan, 0))::BIGINT, sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::BIGINT FROM \
         pg_stat_user_tables WHERE relname IN ('jobs', 'claims', 'owners')",
    )
    .await;
    (rows[0].get(0), rows[0].get(1))
}

/// Fills a database with one job that a worker holds, and with many jobs in each of `states`. Each of the many
/// jobs has the record of an earlier claim. If `known` is true, the server analyzes the filled tables.
async fn crowded_database(url: &str, states: &[i64], known: bool) -> (OpenedDatabase, OwnerLock) {
    let opened = open_database(url).await;
    opened.store.submit(new_job("held")).await.unwrap();
    let (holder, lock) = lease_request(opened.dir.path(), "holder");
    opened.store.claim(&holder).await.unwrap().expect("there is a pending job");
    let sessions = open_sessions(url).await;
    let columns = "tenant_id, actor_id, plan_id, plan_hash, mode, secret, created_us, attempt, next_seq, head, \
                   inbox_pending, cancel_requested, updated_us, priority";
    for state in states {
        let wakes = if *state == 3 { i64::MAX.to_string() } else { "NULL::BIGINT".to_owned() };
        let text = format!(
            "INSERT INTO jobs (id, job_id, request_key, state, wake_at_us, {columns}) SELECT n, 'job_' || n, \
             sha256(n::TEXT::BYTEA), {state}, {wakes}, {columns} FROM jobs CROSS JOIN generate_series({state}000000, \
             {state}000000 + {JOBS_PER_STATE} - 1) n WHERE job_id = 'job_held'"
        );
        sql(url, &text).await;
    }
    let held = "INSERT INTO claims SELECT j.id, j.attempt, o.id, 0 FROM jobs j CROSS JOIN owners o WHERE j.state <> 2";
    sql(url, held).await;
    if known {
        sql(url, "ANALYZE").await;
    }
    wait_for_statistics(url, sessions).await;
    (opened, lock)
}

/// Returns the number of sessions in the database, without the session of this function. A session that is about to end
/// counts as well. The function therefore takes the smallest of several readings.
async fn open_sessions(url: &str) -> i64 {
    let mut fewest = i64::MAX;
    for _ in 0..5 {
        let text = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND \
                    pid <> pg_backend_pid() AND backend_type = 'client backend'";
        fewest = fewest.min(sql(url, text).await[0].get(0));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    fewest
}

/// Waits until the sessions that filled the tables have ended. The server's statistics then contain the reads of these
/// sessions.
async fn wait_for_statistics(url: &str, sessions: i64) {
    for _ in 0..100 {
        if open_sessions(url).await <= sessions {
            return;
        }
    }
    panic!("there are still more than {sessions} sessions");
}

/// Returns the number of rows read since `before`. The server adds the counters of a session to its statistics only
/// when the session ends. This function therefore waits until the statistics contain `scans` more index scans.
async fn read_since(url: &str, before: (i64, i64), scans: i64) -> i64 {
    for _ in 0..500 {
        let now = read_counters(url).await;
        if now.0 - before.0 >= scans {
            return now.1 - before.1;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the scans are not counted: {:?} after {before:?}", read_counters(url).await);
}

/// I124: a claim reads no job that waits for its time, is parked or is over, however many such jobs exist.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claim_reads_no_job_that_is_not_claimable() {
    let Some(url) = database().await else { return };
    let (opened, _lock) = crowded_database(&url, &[3, 4, 6], true).await;
    let before = read_counters(&url).await;
    let (other, _lock) = lease_request(opened.dir.path(), "other");
    for _ in 0..CLAIM_ATTEMPTS {
        assert!(opened.store.claim(&other).await.unwrap().is_none(), "the only open job is held");
        opened.store.fire_timers().await.unwrap();
    }
    opened.store.close().await;
    let rows = read_since(&url, before, 3 * CLAIM_ATTEMPTS).await;
    assert!(rows < 20 * CLAIM_ATTEMPTS, "{rows} rows were read by {CLAIM_ATTEMPTS} claims");
}

/// I124: a claim does not read the pending jobs that come later in the queue, even if the server's statistics are
/// outdated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claim_reads_no_job_that_is_claimed_later() {
    const CLAIMS: i64 = 10;
    for known in [true, false] {
        let Some(url) = database().await else { return };
        let (opened, _lock) = crowded_database(&url, &[1], known).await;
        let before = read_counters(&url).await;
        let (other, _lock) = lease_request(opened.dir.path(), "other");
        for _ in 0..CLAIMS {
            opened.store.claim(&other).await.unwrap().expect("there are pending jobs");
        }
        opened.store.close().await;
        let rows = read_since(&url, before, 3 * CLAIMS).await;
        assert!(rows < 100 * CLAIMS, "{rows} rows were read by {CLAIMS} claims");
    }
}
