//! What a look for jobs reads on a server, by the server's own count.

use std::time::Duration;

use latchwork_core::storage::Journal;
use sqlx::Row;

use super::server::{database, sql};
use super::{claimer, open};
use crate::conformance::world::new_job;

/// Jobs that wait for their time, are parked, and are over, of each.
const OTHERS: i64 = 2_000;
const LOOKS: i64 = 50;

/// How often an index of `jobs` was gone into, and how many rows were read by any way.
async fn read(url: &str) -> (i64, i64) {
    let rows = sql(
        url,
        "SELECT coalesce(idx_scan, 0), seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = \
         'jobs'",
    )
    .await;
    (rows[0].get(0), rows[0].get(1))
}

/// I124: however many jobs wait for their time, are parked, or are over, a look reads none of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_look_reads_no_job_that_is_not_to_be_claimed() {
    let Some(url) = database().await else { return };
    let opened = open(&url).await;
    opened.store.submit(new_job("held")).await.unwrap();
    let (holder, _lock) = claimer(opened.dir.path(), "holder");
    opened.store.claim(&holder).await.unwrap().expect("there is one");
    let columns = "tenant_id, actor_id, plan_id, plan_hash, mode, secret, created_us, attempt, next_seq, head, \
                   inbox_pending, cancel_requested, updated_us, priority";
    for state in [3, 4, 6] {
        let wakes = if state == 3 { i64::MAX.to_string() } else { "NULL::BIGINT".to_owned() };
        let text = format!(
            "INSERT INTO jobs (id, job_id, request_key, state, wake_at_us, {columns}) SELECT n, 'job_' || n, \
             sha256(n::TEXT::BYTEA), {state}, {wakes}, {columns} FROM jobs CROSS JOIN generate_series({state}000000, \
             {state}000000 + {OTHERS} - 1) n WHERE job_id = 'job_held'"
        );
        sql(&url, &text).await;
    }
    sql(&url, "ANALYZE jobs").await;
    let before = read(&url).await;
    let (other, _lock) = claimer(opened.dir.path(), "other");
    for _ in 0..LOOKS {
        assert!(opened.store.claim(&other).await.unwrap().is_none(), "it is held");
        opened.store.fire_timers().await.unwrap();
    }
    opened.store.close().await;
    // A server counts what a session did once that has ended.
    for _ in 0..500 {
        let now = read(&url).await;
        if now.0 - before.0 >= 3 * LOOKS {
            let rows = now.1 - before.1;
            assert!(rows < 20 * LOOKS, "{rows} rows were read by {LOOKS} looks");
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the looks are not counted: {:?} after {before:?}", read(&url).await);
}
