//! The server's clock decides leases and deadlines. A server that is not durable is refused.

use std::time::Duration;

use sqlx::Row;

use latchwork_core::rules::ledger::{Quiescence, RowState};
use latchwork_core::storage::{BatchKind, Journal, LedgerWrite, StoreError};
use latchwork_store::{CommitDurability, Database, OpenOptions};

use crate::postgres::{lease_request, open_database};
use crate::support::servers::postgres::server::{Server, database, sql};
use crate::support::store_fixture::{LogWriter, ledger_row, new_job};

const SERVER_NOW_SQL: &str = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT";

/// I90: leases and deadlines use the server's clock, regardless of this machine's clocks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leases_and_deadlines_use_the_server_clock() {
    let Some(url) = database().await else { return };
    let (here, there) = (open_database(&url).await, open_database(&url).await);
    let (mut holder, holds) = lease_request(here.dir.path(), "holder");
    let (next, _next_lock) = lease_request(there.dir.path(), "next");
    // The holder is on a machine with another boot id, so its lock file proves nothing here.
    drop(holds);
    holder.owner.boot_id = "another-machine".to_owned();
    holder.lease_ms = 8_000;
    let mut new = new_job("leased");
    new.claim = Some(holder);
    let mut log = LogWriter::of(&new);
    log.attempt = 1;
    here.store.submit(new).await.unwrap();
    let left = sql(&url, &format!("SELECT lease_until_us - {SERVER_NOW_SQL} FROM jobs")).await[0].get::<i64, _>(0);
    assert!((0..=8_000_000).contains(&left), "{left}");

    let mut barrier = log.append(1);
    barrier.writes.kind = BatchKind::START_CALLS;
    barrier.writes.ledger = vec![LedgerWrite::Insert(ledger_row("s1", RowState::Inflight, 1))];
    here.store.write(barrier).await.unwrap();
    let left = sql(&url, &format!("SELECT deadline_us - {SERVER_NOW_SQL} FROM ledger")).await[0].get::<i64, _>(0);
    assert!((20_000_000..=30_000_000).contains(&left), "{left}");
    let invocation = there.store.recover(&log.job_id).await.unwrap().remove(0);
    let judged = there.store.quiescence(&log.job_id, &invocation, 0).await.unwrap();
    // The try counts as over only after its deadline and the clock margin. The holder has another boot id, but the
    // server's clock measures the deadline, so the deadline can be compared.
    assert!(matches!(judged, Quiescence::After { wait_ms: 20_000..=32_000 }), "{judged:?}");

    assert!(there.store.claim(&next).await.unwrap().is_none(), "the lease has not expired");
    tokio::time::sleep(Duration::from_millis(8_100)).await;
    let claim = there.store.claim(&next).await.unwrap().expect("the lease has expired");
    assert_eq!(claim.row.attempt, 2);
    let now_us = sql(&url, &format!("SELECT {SERVER_NOW_SQL}")).await[0].get::<i64, _>(0);
    assert!((0..60_000_000).contains(&(now_us - claim.now_us)), "the claim returns the server's time");
    let late = here.store.write(log.append(1)).await;
    assert!(late.is_err(), "a superseded attempt writes nothing");
}

/// I91.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_that_is_not_durable_is_refused() {
    let Some(server) = Server::start_with(&["fsync=off"]) else { return };
    let dir = tempfile::tempdir().unwrap();
    let options = OpenOptions::server(server.url(), dir.path());
    match Database::open(options.clone()).await {
        Err(StoreError::NotDurable(text)) => assert!(text.contains("fsync is off"), "{text}"),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was opened"),
    }
    let store = Database::open(OpenOptions { durability: CommitDurability::Relaxed, ..options }).await.unwrap();
    let about = store.about_server();
    assert!(about.contains("synchronous_commit=off") && about.contains("fsync=off"), "{about}");
}
