//! Tests that the generation and the high-water mark distinguish restored and lost databases from regular databases.

use std::sync::Arc;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use latchwork_core::storage::{BatchKind, InboxRequest, Journal, LeaseRequest, StoreError};

use super::fixture::{open, submit_claimed};
use crate::{Database, OpenOptions, OwnerLock, StoreClock, times_used};

/// If several processes open a database concurrently, none of them reports a restore. Here one process opens
/// the database several times. Each opening acts like a separate process, because a file lock belongs to an
/// open file.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_processes_do_not_report_a_restore() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latch.db");
    let mut stores = Vec::new();
    for _ in 0..12 {
        stores.push(open(&path).await);
    }
    let entering: Vec<_> = stores
        .iter()
        .cloned()
        .enumerate()
        .map(|(n, store)| {
            let lock = OwnerLock::acquire(dir.path(), "w", &format!("w{n}"), &StoreClock::new().unwrap()).unwrap();
            tokio::spawn(async move {
                let claimer = LeaseRequest { owner: lock.owner().clone(), lease_ms: 1000 };
                (store.claim(&claimer).await.map(|_| ()), store.check_generation().await)
            })
        })
        .collect();
    for entered in entering {
        assert_eq!(entered.await.unwrap(), (Ok(()), Ok(())));
    }
    let owners = OpenOptions::new(&path).owner_dir;
    assert_eq!(times_used(&owners).unwrap(), 12, "each was counted");
    stores[0].check_generation().await.unwrap();
}

#[tokio::test]
async fn lost_database_is_reported_as_restored() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latch.db");
    // The loss of a database that did no work is not reported, because no records were lost.
    open(&path).await.close().await;
    std::fs::remove_file(&path).unwrap();
    let store = open(&path).await;
    submit_claimed(&store, dir.path(), "one").await;
    store.close().await;
    for empty in [false, true] {
        std::fs::remove_file(&path).unwrap();
        if empty {
            std::fs::write(&path, "").unwrap();
        }
        let store = open(&path).await;
        assert!(matches!(store.check_generation().await, Err(StoreError::Restored(_))));
        let lock = OwnerLock::acquire(dir.path(), "w", &format!("{empty}"), &StoreClock::new().unwrap()).unwrap();
        let claimer = LeaseRequest { owner: lock.owner().clone(), lease_ms: 1000 };
        let refused = store.claim(&claimer).await.unwrap_err();
        assert!(refused.to_string().contains("--accept-restore"), "{refused}");
        store.close().await;
    }
    let store: Arc<Database> = open(&path).await;
    store.accept_restore().await.unwrap();
    store.check_generation().await.unwrap();
    store.close().await;
    open(&path).await.check_generation().await.unwrap();
}

#[tokio::test]
async fn a_closed_database_is_one_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latch.db");
    let store = open(&path).await;
    let (batch, _lock) = submit_claimed(&store, dir.path(), "one").await;
    store.close().await;
    let copy = dir.path().join("copy.db");
    std::fs::copy(&path, &copy).unwrap();
    assert!(open(&copy).await.job(&batch.job_id).await.unwrap().is_some());
}

/// I122: a call begins after SQLite has taken a backup of a database in use. Restoring the backup is detected, because
/// the backup lacks the call. Claims stay refused, also after further writes, until the restore is accepted.
#[tokio::test]
async fn restored_backup_of_used_database_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latch.db");
    let backup = dir.path().join("backup.db");
    let store = open(&path).await;
    let (batch, _lock) = submit_claimed(&store, dir.path(), "one").await;
    let job_id = batch.job_id.clone();
    let mut conn = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    let taken = format!("VACUUM INTO '{}'", backup.display());
    sqlx::query(sqlx::AssertSqlSafe(taken)).execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    let mut barrier = batch;
    barrier.writes.kind = BatchKind::START_CALLS;
    store.write(barrier).await.unwrap();
    store.close().await;
    open(&path).await.check_generation().await.unwrap();
    std::fs::copy(&backup, &path).unwrap();
    for time in 0..4 {
        let store = open(&path).await;
        assert!(matches!(store.check_generation().await, Err(StoreError::Restored(_))), "{time}");
        store.put_inbox(&job_id, "ann", None, InboxRequest::Continue).await.unwrap();
        store.close().await;
    }
    let store = open(&path).await;
    let lock = OwnerLock::acquire(dir.path(), "w", "w", &StoreClock::new().unwrap()).unwrap();
    let claimer = LeaseRequest { owner: lock.owner().clone(), lease_ms: 1000 };
    assert!(matches!(store.claim(&claimer).await, Err(StoreError::Restored(_))));
    store.accept_restore().await.unwrap();
    store.claim(&claimer).await.unwrap();
    store.close().await;
    open(&path).await.check_generation().await.unwrap();
}
