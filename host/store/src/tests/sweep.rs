//! Tests of the sweep. The sweep removes the lock files that no open job needs. A file is kept while it may have to
//! prove that an owner is dead.

use latchwork_core::storage::{AttemptEnd, BatchKind, Journal};

use super::fixture::{open, submit_claimed};
use crate::{OpenOptions, OwnerLock, StoreClock};

/// I177.
#[tokio::test]
async fn lock_files_are_removed_when_no_open_job_needs_them() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("latch.db");
    let owners = OpenOptions::new(&path).owner_dir;
    let store = open(&path).await;
    let take = |name: &str| OwnerLock::acquire(&owners, name, name, &StoreClock::new().unwrap()).unwrap();
    let there = || {
        let names = std::fs::read_dir(&owners).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name.starts_with("owner-")).collect();
        names.sort();
        names
    };
    // There are four owners: a dead owner with an open job, a dead owner without an open job, a living owner, and this
    // process.
    let (batch, claims) = submit_claimed(&store, &owners, "claims").await;
    drop(claims);
    drop(take("idle"));
    let _lives = take("lives");
    let own = take("own");
    store.sweep_owners(&owners, &own).await.unwrap();
    assert_eq!(there(), ["owner-claims.lock", "owner-lives.lock"]);
    // The job ends, so the proof that the owner of its claim is dead is no longer needed.
    let mut end = super::fixture::append(batch).0;
    end.writes.kind = BatchKind::EndAttempt(AttemptEnd::Completed);
    store.write(end).await.unwrap();
    store.sweep_owners(&owners, &own).await.unwrap();
    assert_eq!(there(), ["owner-lives.lock"]);
}

/// No lock file is created during a sweep. A new lock file is unlocked for a moment, and a sweep at that moment would
/// remove it as the file of a dead owner.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lock_file_is_not_created_during_a_sweep() {
    let dir = tempfile::tempdir().unwrap();
    let sweeping = crate::os::owner::lock_owner_dir(dir.path()).unwrap();
    let owners = dir.path().to_owned();
    let taking =
        std::thread::spawn(move || OwnerLock::acquire(&owners, "w", "w", &StoreClock::new().unwrap()).unwrap());
    // Gives the thread enough time to create the file by mistake, without waiting for the lock of the directory.
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(!dir.path().join("owner-w.lock").exists());
    drop(sweeping);
    let lock = taking.join().unwrap();
    assert!(dir.path().join("owner-w.lock").exists() && !crate::is_owner_dead(lock.owner()));
}
