//! The stores on a real PostgreSQL server: what a server can do to them, and what workers on it can do
//! to each other.

mod bell;
mod bench;
mod clocks;
mod cuts;
mod differential;
mod faults;
mod killed;
pub(crate) mod live;
pub(crate) mod live_call;
mod looks;
mod outage;
mod proxy;
mod races;
mod restored;
mod schema;
pub(crate) mod server;
mod stalled;
mod standby;
mod stopping;
mod time;
mod tls;
mod unaccepted;
mod waits;
mod wire;

use std::path::Path;
use std::sync::Arc;

use latchwork_core::storage::{Claimer, Journal};
use latchwork_store::{Database, OpenOptions, OwnerLock, SystemClock};
use tempfile::TempDir;

use crate::conformance::world::{Log, new_job};

/// An open database with a folder for what this machine remembers of it.
struct Opened {
    store: Arc<Database>,
    dir: TempDir,
}

/// Open a database as a process does that shares nothing with others.
async fn open(url: &str) -> Opened {
    let dir = tempfile::tempdir().unwrap();
    let store = Database::open(OpenOptions::server(url, dir.path())).await.unwrap();
    Opened { store, dir }
}

/// A process that claims, for as long as the lock is held.
fn claimer(dir: &Path, name: &str) -> (Claimer, OwnerLock) {
    let lock = OwnerLock::take(dir, name, name, &SystemClock::new().unwrap()).unwrap();
    (Claimer { owner: lock.owner().clone(), lease_ms: 600_000 }, lock)
}

/// A job that is claimed as it is submitted.
async fn running(opened: &Opened, name: &str) -> (Log, OwnerLock) {
    let (claimer, lock) = claimer(opened.dir.path(), name);
    let mut new = new_job(name);
    new.claim = Some(claimer);
    let mut log = Log::of(&new);
    log.attempt = 1;
    opened.store.submit(new).await.unwrap();
    (log, lock)
}

/// The number of events that are stored of a job; its chain is checked.
async fn events(store: &Database, log: &Log) -> usize {
    store.load(&log.job_id).await.unwrap().unwrap().events.len()
}
