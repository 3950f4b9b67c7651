//! Workers and stores on a real PostgreSQL server.

mod bench;
mod job_life;
mod notifications;
mod outages;
mod statement_kills;
mod store;
mod suspended_request;
mod tls;
mod wrong_clocks;

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use latchwork_core::storage::{Journal, LeaseRequest};
use latchwork_store::{Database, OpenOptions, OwnerLock, StoreClock};

use crate::support::store_fixture::{LogWriter, new_job};

/// An open database, and the directory in which this machine remembers facts about the database.
struct OpenedDatabase {
    store: Arc<Database>,
    dir: TempDir,
}

/// Opens a database as a process that shares nothing with other processes.
async fn open_database(url: &str) -> OpenedDatabase {
    let dir = tempfile::tempdir().unwrap();
    let store = Database::open(OpenOptions::server(url, dir.path())).await.unwrap();
    OpenedDatabase { store, dir }
}

/// Returns the identity of a process for claims, and its owner lock. The process counts as alive until the
/// lock is dropped.
fn lease_request(dir: &Path, name: &str) -> (LeaseRequest, OwnerLock) {
    let lock = OwnerLock::acquire(dir, name, name, &StoreClock::new().unwrap()).unwrap();
    (LeaseRequest { owner: lock.owner().clone(), lease_ms: 600_000 }, lock)
}

/// Submits a job that is claimed on submission.
async fn claimed_job(opened: &OpenedDatabase, name: &str) -> (LogWriter, OwnerLock) {
    let (claimer, lock) = lease_request(opened.dir.path(), name);
    let mut new = new_job(name);
    new.claim = Some(claimer);
    let mut log = LogWriter::of(&new);
    log.attempt = 1;
    opened.store.submit(new).await.unwrap();
    (log, lock)
}

/// Returns the number of stored events of a job. Loading the job checks its hash chain.
async fn event_count(store: &Database, log: &LogWriter) -> usize {
    store.load(&log.job_id).await.unwrap().unwrap().events.len()
}
