//! The stores of Latchwork: journal, effects and key-value map. They are kept in a SQLite file or on a
//! PostgreSQL server.
//!
//! - Every statement goes through one function. [`STATEMENTS`] lists the statement names, and a [`Probe`] observes
//!   them.
//! - One task per open database does all the writing. It groups queued work into one transaction (group
//!   commit).
//! - `latchwork_core::storage::admit` decides whether a batch is admitted. This crate only reads the stored data, calls that
//!   module, and writes the result.
//! - The SQL is the same text for both databases. [`Dialect`] contains the differences.
//! - SQLite: leases and deadlines use the machine's boot-time clock. The WAL of SQLite needs shared memory, so all
//!   processes of one database run on one machine.
//! - PostgreSQL: leases and deadlines use the server's clock, and processes run on any machine. A group locks
//!   its jobs before it reads. A claim skips jobs that another worker is claiming. Notifications wake workers
//!   that wait for jobs or inbox rows.

mod actions;
mod awaited;
mod clock;
mod commit;
mod commit_marker;
mod connection;
mod costs;
mod dialect;
mod durability;
mod effects;
mod error;
mod events;
mod file_lock;
mod generation;
mod group;
mod group_locks;
mod high_water;
mod inbox;
mod jobs;
mod journal;
mod kv;
mod leases;
mod ledger;
mod listener;
mod measure;
mod open;
mod owner;
mod payloads;
mod probe;
mod read_only;
mod readers;
mod reusables;
mod row;
mod schema;
mod server;
mod statement;
mod statement_batch;
mod submit;
mod sweep;
mod timers;
mod writer;

use std::sync::Arc;

use latchwork_core::storage::{Clock, StoreError};

use crate::listener::NotificationListener;
use crate::statement_batch::StatementBatch;
use clock::TimeSource;
use generation::Generation;
use leases::DeadOwners;
use read_only::ReadOnly;
use readers::Readers;
use server::Server;
use statement::{StatementCounters, StatementName};
use writer::Writer;

pub use clock::SystemClock;
pub use dialect::Dialect;
pub use durability::Durability;
pub use generation::times_used;
pub use measure::commits_per_second;
pub use open::{DatabaseTarget, NO_TABLES, OpenOptions, server_name};
pub use owner::{OwnerLock, is_owner_dead};
pub use probe::{KillAt, NoProbe, Probe, Side};
pub use statement::{POSTGRES_STATEMENTS, STATEMENTS};

/// An open database.
pub struct Database {
    writer: Writer,
    readers: Readers,
    dialect: Dialect,
    /// Source of the time that decides about leases, deadlines and timers.
    time_source: TimeSource,
    /// Clocks of this machine. They also identify the current boot of the kernel.
    machine: Arc<dyn Clock>,
    clock_margin_ms: u32,
    generation: Generation,
    server: Arc<Server>,
    listener: Option<NotificationListener>,
    dead_owners: DeadOwners,
    counters: Arc<StatementCounters>,
    durability: Durability,
    read_only: Option<ReadOnly>,
}

impl Database {
    /// Opens a database. Creates the database or updates its schema if necessary.
    pub async fn open(options: OpenOptions) -> Result<Arc<Self>, StoreError> {
        open::open(options).await.map(Arc::new)
    }

    /// Returns the path that cannot be written and the cause, if the database was opened for reading only.
    pub fn read_only(&self) -> Option<&str> {
        self.read_only.as_ref().map(|read_only| read_only.reason.as_str())
    }

    /// Checks that this database is the one that was last used here. Claims in any other database are refused. A
    /// database opened for reading only always passes.
    pub async fn check_generation(&self) -> Result<(), StoreError> {
        match self.read_only {
            Some(_) => Ok(()),
            None => self.generation.check(self).await,
        }
    }

    /// Accepts this database although it was restored or cloned.
    pub async fn accept_restore(&self) -> Result<(), StoreError> {
        self.generation.accept(self).await
    }

    /// Checks the whole file with SQLite's `quick_check`, for `latch doctor`. This can take long. On PostgreSQL
    /// only a query is sent, because a server checks its own files.
    pub async fn check_file(&self) -> Result<(), StoreError> {
        if self.dialect == Dialect::Postgres {
            return self.next_timer().await.map(drop);
        }
        let rows = self.readers.run(StatementName::QUICK_CHECK, StatementBatch::new("PRAGMA quick_check(10)")).await?;
        let mut found = Vec::new();
        for row in rows.iter().flatten() {
            found.push(row::RowReader::new(row, "quick_check").text()?);
        }
        if found == ["ok"] { Ok(()) } else { Err(StoreError::Damaged(found.join("; "))) }
    }

    /// Returns a description of the server for people. Empty on SQLite.
    pub fn about_server(&self) -> String {
        self.server.about()
    }

    /// Returns the stored schema in a fixed order.
    pub async fn schema(&self) -> Result<String, StoreError> {
        let rows = self.readers.run(StatementName::SCHEMA, schema::read(self.dialect)).await?;
        let mut text = String::new();
        for row in rows.iter().flatten() {
            text.push_str(&row::RowReader::new(row, "schema").text()?);
            text.push('\n');
        }
        Ok(text)
    }

    /// Returns the configured durability.
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Writes everything that is queued, then closes all connections. Later operations fail.
    pub async fn close(&self) {
        self.writer.close().await;
        self.readers.close().await;
    }
}

#[cfg(test)]
mod tests;
