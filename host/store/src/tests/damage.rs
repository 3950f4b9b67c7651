//! Tests that an error names the damaged table, column and row, and that other jobs are not affected.

use std::fs;
use std::io::{Seek, SeekFrom, Write};

use latchwork_core::storage::{Journal, StoreError, WriteError};

use super::fixture::{append, open, sql, submit_claimed};
use crate::{Database, OpenOptions};

/// Executes the SQL text `damage` on a database with the jobs `one` and `two`. Returns the error of loading
/// `one`.
async fn load_after(damage: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latch.db");
    let store = open(&path).await;
    let (batch, _lock_one) = submit_claimed(&store, dir.path(), "one").await;
    let (first, next) = append(batch);
    store.write(first).await.unwrap();
    let (second, next) = append(next);
    store.write(second).await.unwrap();
    let (other, _lock_two) = submit_claimed(&store, dir.path(), "two").await;
    sql(&path, damage).await;
    let error = store.load(&next.job_id).await.unwrap_err();
    // A batch of the other job is written, although its group also contains a batch of the damaged job.
    let (other_batch, _) = append(other.clone());
    let (damaged, fine) = futures::join!(store.write(append(next).0), store.write(other_batch));
    assert_eq!(fine, Ok(()), "the other job is not affected");
    assert!(damage.contains("events") || matches!(damaged, Err(WriteError::Damaged(_))), "{damaged:?}");
    assert_eq!(store.load(&other.job_id).await.unwrap().unwrap().events.len(), 2);
    let StoreError::Damaged(message) = error else { panic!("{error}") };
    message
}

#[tokio::test]
async fn a_changed_event_is_located() {
    let text = load_after("UPDATE events SET bytes = replace(bytes, '\"s1\"', '\"s9\"')").await;
    assert!(text.contains("table events") && text.contains("job_one") && text.contains("first event 1"), "{text}");
    assert!(text.contains("column head"), "{text}");
}

#[tokio::test]
async fn a_missing_event_is_located() {
    let text = load_after("DELETE FROM events WHERE id = 4294967296 + 1").await;
    assert!(text.contains("table events") && text.contains("first event 2"), "{text}");
    let text = load_after("DELETE FROM events WHERE id = 4294967296 + 2").await;
    assert!(text.contains("table jobs") && text.contains("job_one"), "{text}");
}

#[tokio::test]
async fn an_unreadable_event_is_located() {
    let text = load_after("UPDATE events SET bytes = '{' WHERE id = 4294967296 + 1").await;
    assert!(text.contains("table events, row (job_id job_one, first event 1), column bytes"), "{text}");
    let text = load_after("UPDATE events SET count = 2 WHERE id = 4294967296 + 1").await;
    assert!(text.contains("column count"), "{text}");
}

#[tokio::test]
async fn unknown_job_state_is_located() {
    let text = load_after("UPDATE jobs SET state = 42 WHERE id = 1").await;
    assert!(text.contains("table jobs, column state, row (job_id job_one") && text.contains("42"), "{text}");
}

#[tokio::test]
async fn a_short_hash_is_located() {
    let text = load_after("UPDATE jobs SET head = x'00' WHERE id = 1").await;
    assert!(text.contains("table jobs, column head") && text.contains("32 bytes"), "{text}");
}

#[tokio::test]
async fn a_ledger_row_with_an_unknown_state_is_located() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latch.db");
    let store = open(&path).await;
    let (batch, _lock) = submit_claimed(&store, dir.path(), "one").await;
    sql(
        &path,
        "INSERT INTO ledger VALUES (1, 's1', 'A.B', zeroblob(32), 77, 1, 1, 1, 1, 0, 0, 0, 0, NULL, NULL, NULL)",
    )
    .await;
    let StoreError::Damaged(text) = store.recover(&batch.job_id).await.unwrap_err() else { panic!("damaged") };
    assert!(text.contains("table ledger, column state, row (slot s1") && text.contains("77"), "{text}");
    assert!(matches!(store.load(&batch.job_id).await, Err(StoreError::Damaged(_))));
}

#[tokio::test]
async fn non_database_file_is_refused_and_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latch.db");
    let content = "This is a letter, not a database. ".repeat(200);
    fs::write(&path, &content).unwrap();
    let Err(StoreError::Damaged(text)) = Database::open(OpenOptions::new(&path)).await else { panic!("refused") };
    assert!(text.contains("latch.db") && text.contains("not a database"), "{text}");
    assert_eq!(fs::read_to_string(&path).unwrap(), content);
}

#[tokio::test]
async fn a_malformed_page_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latch.db");
    let store = open(&path).await;
    let (mut batch, _lock) = submit_claimed(&store, dir.path(), "one").await;
    for _ in 0..100 {
        let (now, next) = append(batch);
        store.write(now).await.unwrap();
        batch = next;
    }
    store.close().await;
    drop(store);
    // Overwrite all pages after the first page.
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let length = file.metadata().unwrap().len();
    file.seek(SeekFrom::Start(4096)).unwrap();
    file.write_all(&vec![0xA5; usize::try_from(length).unwrap() - 4096]).unwrap();
    drop(file);
    let store = match Database::open(OpenOptions::new(&path)).await {
        Err(StoreError::Damaged(_)) => return,
        Err(other) => panic!("{other}"),
        Ok(store) => store,
    };
    assert!(matches!(store.load(&batch.job_id).await, Err(StoreError::Damaged(_))));
    assert!(matches!(store.check_file().await, Err(StoreError::Damaged(_))));
}

#[tokio::test]
async fn undamaged_file_passes_the_check() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("latch.db")).await;
    submit_claimed(&store, dir.path(), "one").await;
    store.check_file().await.unwrap();
}
