//! Server failures. No acknowledged write is lost, and no write is applied twice. The store continues by itself once
//! the server runs again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};

use latchwork_core::model::job::JobState;
use latchwork_core::storage::{
    BatchKind, Clock, InboxRequest, JobFilter, Journal, KeyValue, MapName, SetError, StoreError, WriteError,
};
use latchwork_store::{Database, OpenOptions, Probe, Side, StoreClock};

use crate::postgres::{OpenedDatabase, claimed_job, event_count, lease_request, open_database};
use crate::support::servers::postgres::server::{Server, database, simulate_full_disk, sql};
use crate::support::store_fixture::{new_job, payload};

/// Makes the server end all connections of the store, once, when the store reaches a given statement.
pub(super) struct ConnectionCut {
    pub(super) url: String,
    /// Statement executed on the server before the cut.
    first: Option<&'static str>,
    point: &'static str,
    side: Side,
    pub(super) armed: AtomicBool,
    /// True if the answer of the statement is lost with the connection.
    loses: AtomicBool,
}

impl Probe for ConnectionCut {
    fn at(&self, point: &str, side: Side) {
        if point != self.point || side != self.side || !self.armed.swap(false, Ordering::SeqCst) {
            return;
        }
        let (url, first) = (self.url.clone(), self.first);
        let disconnect = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                if let Some(first) = first {
                    sql(&url, first).await;
                }
                terminate(&url).await;
            });
        };
        std::thread::spawn(disconnect).join().unwrap();
        self.loses.store(side == Side::After, Ordering::SeqCst);
    }
    fn loses_answer(&self, point: &str) -> bool {
        point == self.point && self.loses.swap(false, Ordering::SeqCst)
    }
}

/// Ends all connections of stores, and waits until they have ended.
async fn terminate(url: &str) {
    const OURS: &str = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'latchwork'";
    sql(url, &format!("SELECT pg_terminate_backend(pid) {OURS}")).await;
    while !sql(url, &format!("SELECT pid {OURS}")).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn disconnect_at(point: &'static str, side: Side) -> Option<(OpenedDatabase, Arc<ConnectionCut>)> {
    disconnect_after(None, point, side).await
}

/// Like `disconnect_at`, but first executes a statement on the server.
pub(super) async fn disconnect_after(
    first: Option<&'static str>,
    point: &'static str,
    side: Side,
) -> Option<(OpenedDatabase, Arc<ConnectionCut>)> {
    let url = database().await?;
    let dir = tempfile::tempdir().unwrap();
    let (armed, loses) = (AtomicBool::new(false), AtomicBool::new(false));
    let probe = Arc::new(ConnectionCut { url: url.clone(), first, point, side, armed, loses });
    let options = OpenOptions { probe: probe.clone(), ..OpenOptions::server(url, dir.path()) };
    let store = Database::open(options).await.unwrap();
    Some((OpenedDatabase { store, dir }, probe))
}

/// I2, I87.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn group_whose_connection_is_lost_anywhere_is_written_once() {
    for point in ["begin", "group_read", "group_write", "commit"] {
        for side in [Side::Before, Side::After] {
            let Some((opened, probe)) = disconnect_at(point, side).await else { return };
            let (mut log, _lock) = claimed_job(&opened, "one").await;
            opened.store.write(log.append(1)).await.unwrap();
            probe.armed.store(true, Ordering::SeqCst);
            assert_eq!(opened.store.write(log.append(1)).await, Ok(()), "{point} {side:?}");
            assert!(!probe.armed.load(Ordering::SeqCst), "{point} {side:?}: the connection was cut");
            assert_eq!(event_count(&opened.store, &log).await, 4, "{point} {side:?}");
            // A batch without events does not change the event count. Only the transaction number shows whether the
            // batch was committed.
            probe.armed.store(true, Ordering::SeqCst);
            let mut silent = log.batch();
            silent.writes.payloads = vec![payload("output/s", b"1")];
            assert_eq!(opened.store.write(silent).await, Ok(()), "{point} {side:?}");
            let stored = opened.store.payload(&log.job_id, "output/s").await.unwrap();
            assert_eq!(stored.as_deref(), Some(&b"1"[..]), "{point} {side:?}");
        }
    }
}

/// I87.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_whose_connection_is_lost_is_put_once() {
    for (point, side) in [("inbox_insert", Side::Before), ("commit", Side::Before), ("commit", Side::After)] {
        let Some((opened, probe)) = disconnect_at(point, side).await else { return };
        let (log, _lock) = claimed_job(&opened, "one").await;
        probe.armed.store(true, Ordering::SeqCst);
        opened.store.put_inbox(&log.job_id, "ann", None, InboxRequest::Continue).await.unwrap();
        assert_eq!(opened.store.inbox(&log.job_id).await.unwrap().len(), 1, "{point} {side:?}");
    }
}

/// I87: a transaction number alone does not prove a commit, because after a crash a server can reuse the number of a
/// lost commit. In this test, the server reports every number as committed, and the connection ends before COMMIT.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reused_transaction_number_does_not_count_as_committed() {
    let Some((opened, probe)) = disconnect_at("commit", Side::Before).await else { return };
    let (mut log, _lock) = claimed_job(&opened, "one").await;
    sql(&probe.url, "CREATE FUNCTION pg_xact_status(xid8) RETURNS text LANGUAGE sql AS $$ SELECT 'committed' $$").await;
    let ours_first = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', \
                      current_database()); END $$";
    sql(&probe.url, ours_first).await;
    let lose = || probe.armed.store(true, Ordering::SeqCst);
    let store = &opened.store;
    for _ in 0..2 {
        lose();
        store.write(log.append(1)).await.unwrap();
        lose();
        let mut silent = log.batch();
        silent.writes.payloads = vec![payload("output/s", b"1")];
        store.write(silent).await.unwrap();
        lose();
        store.put_inbox(&log.job_id, "ann", None, InboxRequest::Continue).await.unwrap();
        lose();
        store.set(&MapName::shared("shop"), "last", b"7", 1_000).await.unwrap();
    }
    lose();
    store.submit(new_job("two")).await.unwrap();
    assert!(!probe.armed.load(Ordering::SeqCst), "each connection was cut");
    assert_eq!(event_count(store, &log).await, 4);
    assert_eq!(store.payload(&log.job_id, "output/s").await.unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(store.inbox(&log.job_id).await.unwrap().len(), 2);
    assert_eq!(store.get(&MapName::shared("shop"), "last").await.unwrap().as_deref(), Some(&b"7"[..]));
    let jobs = store.jobs(&JobFilter { limit: 10, ..JobFilter::default() }).await.unwrap();
    assert_eq!(jobs.len(), 2, "{jobs:?}");
}

/// I112: if the server is unreachable, a long-running process that opens the database waits. Other processes
/// report the error immediately.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patient_open_waits_for_an_unreachable_server_and_others_fail() {
    let Some(server) = Server::start() else { return };
    let dir = tempfile::tempdir().unwrap();
    let options = OpenOptions::server(server.url(), dir.path());
    tokio::task::block_in_place(|| server.stop());
    let prompt = Database::open(options.clone()).await.err().unwrap();
    assert!(matches!(&prompt, StoreError::Unavailable(text) if text.contains("cannot reach the server")), "{prompt}");
    let waits = Database::open(OpenOptions { retry_unavailable: true, ..options.clone() });
    let back = async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        tokio::task::block_in_place(|| server.run());
    };
    let (opened, ()) = tokio::join!(waits, back);
    opened.unwrap().close().await;
    let missing = server.url().replace("/postgres?", "/nobodys?");
    assert_ne!(missing, server.url());
    let refused =
        Database::open(OpenOptions { retry_unavailable: true, ..OpenOptions::server(missing, dir.path()) }).await;
    assert!(refused.err().unwrap().to_string().contains("createdb"), "a permanent error is reported immediately");
}

/// I87.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_wait_for_a_restarting_server() {
    let Some(server) = Server::start() else { return };
    let opened = open_database(&server.url()).await;
    let (mut log, _lock) = claimed_job(&opened, "one").await;
    opened.store.write(log.append(1)).await.unwrap();
    let mut acknowledged = 3;
    for _ in 0..3 {
        let during = async {
            let mut written = 0;
            for _ in 0..40 {
                opened.store.write(log.append(1)).await.unwrap();
                written += 1;
            }
            written
        };
        let restart = async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            // As in a crash, connections end in the middle of a statement.
            tokio::task::block_in_place(|| {
                server.stop();
                std::thread::sleep(Duration::from_millis(200));
                server.run();
            });
        };
        let (written, ()) = tokio::join!(during, restart);
        acknowledged += written;
        assert_eq!(event_count(&opened.store, &log).await, acknowledged);
    }
}

/// Writes while the server is temporarily read-only. With `sessions_end`, the server also ends the sessions.
async fn write_to_read_only_server(sessions_end: bool) {
    let Some(server) = Server::start() else { return };
    let url = server.url();
    let opened = open_database(&url).await;
    let (mut log, _lock) = claimed_job(&opened, "one").await;
    set_read_only(&url, true).await;
    if sessions_end {
        terminate(&url).await;
    }
    let clock = StoreClock::new().unwrap();
    let started_us = clock.boot_us();
    let batch = log.append(1);
    let writes = async { opened.store.write(batch).await };
    let serves = async {
        tokio::time::sleep(Duration::from_millis(800)).await;
        set_read_only(&url, false).await;
    };
    let (written, ()) = tokio::join!(writes, serves);
    written.unwrap();
    assert!(clock.boot_us() - started_us >= 800_000, "the write completed too early");
    assert_eq!(event_count(&opened.store, &log).await, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_waits_for_a_read_only_server_that_ended_its_sessions() {
    write_to_read_only_server(true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_waits_for_a_server_that_is_read_only_for_a_while() {
    write_to_read_only_server(false).await;
}

/// Makes the server read-only, or writable again.
pub(super) async fn set_read_only(url: &str, is: bool) {
    let setting = format!("ALTER SYSTEM SET default_transaction_read_only = {is}");
    for text in [setting.as_str(), "SELECT pg_reload_conf()"] {
        sql(url, text).await;
    }
    // Sessions read the changed configuration one after the other, so the test waits until all of them have read it.
    tokio::time::sleep(Duration::from_millis(100)).await;
}

/// I87.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_waits_for_a_free_connection() {
    let Some(server) = Server::start_with(&["max_connections=6", "superuser_reserved_connections=0"]) else { return };
    let opened = open_database(&server.url()).await;
    let (mut log, _lock) = claimed_job(&opened, "one").await;
    terminate(&server.url()).await;
    // Other clients use all connections.
    let options: PgConnectOptions = server.url().parse().unwrap();
    let mut others = Vec::new();
    // A session that has just ended still occupies its connection slot briefly.
    let mut refused = 0;
    while refused < 10 {
        match options.connect().await {
            Ok(conn) => {
                others.push(conn);
                refused = 0;
            }
            Err(_) => {
                refused += 1;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    assert!(others.len() >= 3, "{}", others.len());
    let dir = tempfile::tempdir().unwrap();
    match Database::open(OpenOptions::server(server.url(), dir.path())).await {
        Err(StoreError::Unavailable(text)) => assert!(text.contains("max_connections"), "{text}"),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("a connection was still free"),
    }
    let batch = log.append(1);
    let frees = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        others.truncate(1);
    };
    let (written, ()) = tokio::join!(opened.store.write(batch), frees);
    written.unwrap();
    assert_eq!(event_count(&opened.store, &log).await, 3);
}

/// I87.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_disk_fails_only_the_big_write() {
    let Some(url) = database().await else { return };
    let opened = open_database(&url).await;
    simulate_full_disk(&url).await;
    let (mut log, _lock) = claimed_job(&opened, "one").await;
    let (batch, big, map) = (log.append(1), vec![7; 4096], MapName::shared("n"));
    // All three writes are in one group.
    let (one, full, small) = tokio::join!(
        opened.store.write(batch),
        opened.store.set(&map, "big", &big, 1_000_000),
        opened.store.set(&map, "small", b"1", 1_000_000),
    );
    assert_eq!((one, small), (Ok(()), Ok(())));
    let Err(SetError::Store(StoreError::Unavailable(text))) = full else { panic!("{full:?}") };
    assert!(text.contains("the disk is full") && !text.contains("may or may not"), "{text}");
    assert_eq!(opened.store.get(&map, "big").await.unwrap(), None);
    assert_eq!(event_count(&opened.store, &log).await, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn job_locked_by_another_session_does_not_block_other_jobs() {
    let Some(url) = database().await else { return };
    let opened = open_database(&url).await;
    let (mut log, _lock) = claimed_job(&opened, "locked").await;
    let (mut free, _free_lock) = claimed_job(&opened, "free").await;
    let options: PgConnectOptions = url.parse().unwrap();
    let mut other = options.connect().await.unwrap();
    for text in ["BEGIN", "SELECT 1 FROM jobs WHERE job_id = 'job_locked' FOR UPDATE"] {
        sqlx::raw_sql(text).execute(&mut other).await.unwrap();
    }
    let lets_go = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        other.close().await.unwrap();
    };
    let (batch, in_free) = (log.append(1), free.append(1));
    let (one, two, ()) = tokio::join!(opened.store.write(batch), opened.store.write(in_free), lets_go);
    assert_eq!((one, two), (Ok(()), Ok(())));
}

/// I89.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promoted_standby_starts_nothing_until_the_restore_is_accepted() {
    let Some(server) = Server::start() else { return };
    let opened = open_database(&server.url()).await;
    let (mut log, _lock) = claimed_job(&opened, "one").await;
    let (claimer, _claimer_lock) = lease_request(opened.dir.path(), "next");
    opened.store.submit(new_job("two")).await.unwrap();
    promote(&server).await;

    // Before the restore is accepted, results of the job may be recorded, but no call may begin.
    let mut acquire = log.batch();
    acquire.writes.kind = BatchKind::START_CALLS;
    let refused = opened.store.write(acquire.clone()).await;
    assert!(matches!(refused, Err(WriteError::Restored(_))), "{refused:?}");
    let refused = opened.store.claim(&claimer).await.map(|_| ());
    assert!(matches!(refused, Err(StoreError::Restored(_))), "{refused:?}");
    assert!(matches!(opened.store.check_generation().await, Err(StoreError::Restored(_))));
    assert_eq!(opened.store.jobs(&JobFilter { limit: 9, ..JobFilter::default() }).await.unwrap().len(), 2);
    opened.store.accept_restore().await.unwrap();
    opened.store.check_generation().await.unwrap();
    opened.store.write(acquire).await.unwrap();
    opened.store.write(log.append(1)).await.unwrap();
    assert!(opened.store.claim(&claimer).await.unwrap().is_some());

    // A process on another machine sees the acceptance, too.
    open_database(&server.url()).await.store.check_generation().await.unwrap();
}

/// I89: a claim on a promoted standby takes no job, even if the claim is the first statement that the store sends after
/// the promotion. A submission that also claims its new job is refused, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claim_on_a_promoted_standby_takes_no_job() {
    let Some(server) = Server::start() else { return };
    let opened = open_database(&server.url()).await;
    let (_log, _lock) = claimed_job(&opened, "one").await;
    let (claimer, _claimer_lock) = lease_request(opened.dir.path(), "next");
    let waits = new_job("two");
    opened.store.submit(waits.clone()).await.unwrap();
    promote(&server).await;
    let refused = opened.store.claim(&claimer).await.map(|_| ());
    assert!(matches!(refused, Err(StoreError::Restored(_))), "{refused:?}");
    let mut claimed = new_job("three");
    claimed.claim = Some(claimer);
    let refused = opened.store.submit(claimed.clone()).await;
    assert!(matches!(refused, Err(WriteError::Restored(_))), "{refused:?}");
    let row = opened.store.job(&waits.row.job_id).await.unwrap().expect("it waits");
    assert_eq!((row.state, row.attempt), (JobState::Pending, 0));
    assert!(opened.store.job(&claimed.row.job_id).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn synchronous_failover_setting_needs_a_server_with_synchronous_commits() {
    let Some(server) = Server::start() else { return };
    let dir = tempfile::tempdir().unwrap();
    let options = OpenOptions { synchronous_failover: true, ..OpenOptions::server(server.url(), dir.path()) };
    let opened = OpenedDatabase { store: Database::open(options).await.unwrap(), dir };
    let (log, _lock) = claimed_job(&opened, "one").await;
    promote(&server).await;
    let mut acquire = log.batch();
    acquire.writes.kind = BatchKind::START_CALLS;
    // The promotion counts as a restore. The option states that failover is synchronous, but the store ignores the
    // option, because the server's commits wait for no standby.
    assert!(matches!(opened.store.write(acquire).await, Err(WriteError::Restored(_))));
}

/// Restarts the server as a standby and promotes it. The server then continues on a new timeline.
async fn promote(server: &Server) {
    tokio::task::block_in_place(|| {
        server.stop();
        std::fs::write(server.data_dir().join("standby.signal"), "").unwrap();
        server.run();
    });
    sql(&server.url(), "SELECT pg_promote()").await;
}
