//! Tests with databases that cannot be opened or written, and with lost answers of statements.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use latchwork_core::storage::{Journal, KeyValue, MapName, SetError, StoreError, WriteError};

use super::fixture::{append, open, sql, submit_claimed};
use crate::{CommitDurability, Database, NoProbe, OpenOptions, Probe, STATEMENTS, Side};

/// Quota of a map.
const QUOTA: u64 = 1 << 40;

async fn refused(options: OpenOptions) -> String {
    match Database::open(options).await {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn open_errors_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let text = refused(OpenOptions { owner_dir: dir.path().join("o"), ..OpenOptions::new(dir.path()) }).await;
    assert!(text.contains("it is a directory"), "{text}");
    let text = refused(OpenOptions::new(dir.path().join("none/latch.db"))).await;
    assert!(text.contains("none does not exist"), "{text}");
    let missing = OpenOptions { create: false, ..OpenOptions::new(dir.path().join("latch.db")) };
    let text = refused(missing).await;
    assert!(text.contains("latch.db: cannot open it"), "{text}");
    assert!(!dir.path().join("latch.db").exists());
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latch.db");
    open(&path).await.close().await;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    if std::fs::OpenOptions::new().write(true).open(&path).is_ok() {
        return; // The superuser may write despite the permissions.
    }
    let text = refused(OpenOptions::new(&path)).await;
    assert!(text.contains("cannot be written") || text.contains("cannot be opened"), "{text}");
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latch.db");
    open(&path).await.close().await;
    sql(&path, "INSERT INTO _sqlx_migrations SELECT 9999, description, installed_on, success, checksum, execution_time FROM _sqlx_migrations WHERE version = 1").await;
    let text = refused(OpenOptions::new(&path)).await;
    assert!(text.contains("newer version of Latchwork"), "{text}");
}

#[tokio::test]
async fn full_disk_fails_only_the_big_write() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latch.db");
    let store = Database::open(OpenOptions { pages_max: Some(60), ..OpenOptions::new(&path) }).await.unwrap();
    let (batch, _lock) = submit_claimed(&store, dir.path(), "one").await;
    let (first, next) = append(batch);
    // All three writes are in one group. The big value does not fit.
    let (big, map) = (vec![7; 1 << 20], MapName::shared("n"));
    let (one, full, small) =
        futures::join!(store.write(first), store.set(&map, "big", &big, QUOTA), store.set(&map, "small", b"1", QUOTA));
    assert_eq!((one, small), (Ok(()), Ok(())));
    let Err(SetError::Store(StoreError::Unavailable(text))) = full else { panic!("{full:?}") };
    assert!(text.contains("the disk is full") && !text.contains("may or may not"), "{text}");
    assert_eq!(store.get(&map, "big").await.unwrap(), None);
    assert_eq!(store.get(&map, "small").await.unwrap().as_deref(), Some(&b"1"[..]));
    // A batch that does not fit on the disk fails as well. A later batch can still extend the log of the job.
    let (mut second, _) = append(next.clone());
    second.writes.payloads.push(latchwork_core::storage::Payload { label: "output/s1".to_owned(), bytes: big });
    assert!(matches!(store.write(second).await, Err(WriteError::Unavailable(_))));
    let (second, _) = append(next.clone());
    store.write(second).await.unwrap();
    assert_eq!(store.load(&next.job_id).await.unwrap().unwrap().events.len(), 3);
    store.check_file().await.unwrap();
}

#[tokio::test]
async fn durability_setting_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let full = open(&dir.path().join("full.db")).await;
    assert_eq!(full.durability(), CommitDurability::Full);
    let options =
        OpenOptions { durability: CommitDurability::Relaxed, ..OpenOptions::new(dir.path().join("relaxed.db")) };
    assert_eq!(Database::open(options).await.unwrap().durability(), CommitDurability::Relaxed);
}

/// Probe that discards one answer of the statement `point`, namely the first answer after the probe is armed.
struct Lossy {
    point: &'static str,
    armed: AtomicBool,
}

impl Probe for Lossy {
    fn at(&self, point: &str, _: Side) {
        assert!(STATEMENTS.contains(&point));
    }
    fn loses_answer(&self, point: &str) -> bool {
        point == self.point && self.armed.swap(false, Ordering::SeqCst)
    }
}

async fn lossy(point: &'static str) -> (tempfile::TempDir, Arc<Lossy>, Arc<Database>) {
    let dir = tempfile::tempdir().unwrap();
    let probe = Arc::new(Lossy { point, armed: AtomicBool::new(false) });
    let options = OpenOptions { probe: probe.clone(), ..OpenOptions::new(dir.path().join("latch.db")) };
    let store = Database::open(options).await.unwrap();
    (dir, probe, store)
}

/// I87.
#[tokio::test]
async fn unanswered_commit_is_found_by_rereading() {
    let (dir, probe, store) = lossy("group_write").await;
    let (batch, _lock) = submit_claimed(&store, dir.path(), "one").await;
    let (first, next) = append(batch);
    probe.armed.store(true, Ordering::SeqCst);
    assert_eq!(store.write(first).await, Ok(()), "the commit was found");
    assert!(!probe.armed.load(Ordering::SeqCst));
    // A batch without events leaves no evidence of its commit, so the outcome stays unknown if the answer is
    // lost.
    probe.armed.store(true, Ordering::SeqCst);
    let mut silent = next.clone();
    silent.writes.payloads.push(latchwork_core::storage::Payload { label: "plan".to_owned(), bytes: vec![1] });
    assert!(matches!(store.write(silent).await, Err(WriteError::Unknown(_))));
    // A refused batch stays refused, even if the answer to the commit of its group is lost.
    probe.armed.store(true, Ordering::SeqCst);
    let mut stale = append(next.clone()).0;
    stale.attempt = 9;
    let mut silent = next.clone();
    silent.writes.payloads.push(latchwork_core::storage::Payload { label: "input".to_owned(), bytes: vec![1] });
    let (refused, unknown) = futures::join!(store.write(stale), store.write(silent));
    assert_eq!(refused, Err(WriteError::Fenced { attempt: 9, current: 1 }));
    assert!(matches!(unknown, Err(WriteError::Unknown(_))), "{unknown:?}");
    store.write(append(next).0).await.unwrap();
}

/// I87.
#[tokio::test]
async fn answer_lost_before_commit_writes_nothing() {
    let (dir, probe, store) = lossy("group_read").await;
    let (batch, _lock) = submit_claimed(&store, dir.path(), "one").await;
    let (first, _) = append(batch);
    probe.armed.store(true, Ordering::SeqCst);
    assert!(matches!(store.write(first.clone()).await, Err(WriteError::Unavailable(_))));
    store.write(first).await.expect("the log is where it was");
}

/// I179.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_openings_share_a_database() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latch.db");
    let (a, b) = futures::join!(open(&path), open(&path));
    let mut tasks = Vec::new();
    for (store, name) in [(a.clone(), "one"), (b.clone(), "two")] {
        let (mut batch, lock) = submit_claimed(&store, dir.path(), name).await;
        tasks.push(tokio::spawn(async move {
            for _ in 0..100 {
                let (now, next) = append(batch);
                store.write(now).await.unwrap();
                batch = next;
            }
            drop(lock);
            batch.job_id
        }));
    }
    for task in tasks {
        let id = task.await.unwrap();
        assert_eq!(a.load(&id).await.unwrap().unwrap().events.len(), 101);
        assert_eq!(b.load(&id).await.unwrap().unwrap().events.len(), 101);
    }
}

/// I122.
#[tokio::test]
async fn a_restored_database_claims_nothing_until_it_is_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latch.db");
    let store = open(&path).await;
    submit_claimed(&store, dir.path(), "one").await;
    store.close().await;
    std::fs::copy(&path, dir.path().join("backup.db")).unwrap();
    let store = open(&path).await;
    store.check_generation().await.unwrap();
    submit_claimed(&store, dir.path(), "two").await;
    store.close().await;
    std::fs::copy(dir.path().join("backup.db"), &path).unwrap();

    let store = open(&path).await;
    assert!(matches!(store.check_generation().await, Err(StoreError::Restored(_))));
    let lock = crate::OwnerLock::acquire(dir.path(), "w", "w", &crate::StoreClock::new().unwrap()).unwrap();
    let claimer = latchwork_core::storage::LeaseRequest { owner: lock.owner().clone(), lease_ms: 1000 };
    assert!(matches!(store.claim(&claimer).await, Err(StoreError::Restored(_))));
    assert_eq!(
        store.jobs(&latchwork_core::storage::JobFilter { limit: 9, ..Default::default() }).await.unwrap().len(),
        1
    );
    store.accept_restore().await.unwrap();
    store.check_generation().await.unwrap();
    assert!(store.claim(&claimer).await.unwrap().is_some(), "its owner is dead");
    store.close().await;
    open(&path).await.check_generation().await.unwrap();
}

#[tokio::test]
async fn closed_store_returns_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let store =
        Database::open(OpenOptions { probe: Arc::new(NoProbe), ..OpenOptions::new(dir.path().join("latch.db")) })
            .await
            .unwrap();
    store.close().await;
    let map = MapName::shared("n");
    let set = store.set(&map, "k", b"v", QUOTA).await;
    assert!(matches!(set, Err(SetError::Store(StoreError::Unavailable(_)))));
    assert!(store.get(&map, "k").await.is_err());
}
