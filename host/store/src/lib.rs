//! The stores of Latchwork on SQLite, in one database file, or on a PostgreSQL server: journal,
//! effects and values.
//!
//! - Every statement goes through one function ([`STATEMENTS`] are its names, [`Probe`] watches).
//! - All writing is done by one task per opened database, which groups what is queued into one
//!   transaction (group commit).
//! - Whether a batch is admitted is decided by `latchwork_core::admit`; here it is only read,
//!   asked and written.
//! - The SQL is one text for both databases; [`Dialect`] says where they differ.
//! - SQLite: leases and deadlines go by the machine's boot-time clock, and its WAL needs shared
//!   memory, so all processes of one database run on one machine.
//! - PostgreSQL: leases and deadlines go by the server's clock, and its processes run anywhere. A
//!   group locks its jobs before it reads, a claim takes a job that nobody else is taking, and a
//!   bell tells others what they can do now.

mod actions;
mod awaited;
mod bell;
mod clock;
mod commit;
mod connection;
mod costs;
mod dialect;
mod durability;
mod effects;
mod error;
mod events;
mod generation;
mod group;
mod high_water;
mod inbox;
mod jobs;
mod journal;
mod kv;
mod leases;
mod ledger;
mod lock;
mod locks;
mod mark;
mod measure;
mod open;
mod owner;
mod payloads;
mod pgbench;
mod probe;
mod read_only;
mod readers;
mod reusables;
mod row;
mod schema;
mod script;
mod server;
mod statement;
mod submit;
mod sweep;
mod timers;
mod writer;

use std::sync::Arc;

use latchwork_core::storage::{Clock, StoreError};

pub use clock::SystemClock;
pub use dialect::Dialect;
pub use durability::Durability;
pub use generation::times_used;
pub use measure::commits_per_second;
pub use open::{NO_TABLES, OpenOptions, Target, server_name};
pub use owner::{OwnerLock, is_gone};
pub use pgbench::{Transaction, pgbench, transactions_per_second};
pub use probe::{KillAt, NoProbe, Probe, Side};
pub use statement::{POSTGRES_STATEMENTS, STATEMENTS};

use bell::Bell;
use clock::Time;
use generation::Generation;
use leases::Gone;
use read_only::ReadOnly;
use readers::Readers;
use script::Script;
use server::Server;
use statement::{Name, Tally};
use writer::Writer;

/// An open database.
pub struct Database {
    writer: Writer,
    readers: Readers,
    dialect: Dialect,
    /// Whose clock decides.
    time: Time,
    /// This machine's clocks: which boot of which kernel this is.
    machine: Arc<dyn Clock>,
    clock_margin_ms: u32,
    generation: Generation,
    server: Arc<Server>,
    bell: Option<Bell>,
    gone: Gone,
    tally: Arc<Tally>,
    durability: Durability,
    read_only: Option<ReadOnly>,
}

impl Database {
    /// Open a database, creating it or bringing its schema up to date where needed.
    pub async fn open(options: OpenOptions) -> Result<Arc<Self>, StoreError> {
        open::open(options).await.map(Arc::new)
    }

    /// Returns what cannot be written, and why, if the database was opened as one that is only read.
    pub fn read_only(&self) -> Option<&str> {
        self.read_only.as_ref().map(|read_only| read_only.why.as_str())
    }

    /// Whether the database is the one that was used here last; claims are refused while it is
    /// not. One that cannot be written is a copy, of which nothing is asked.
    pub async fn check_generation(&self) -> Result<(), StoreError> {
        match self.read_only {
            Some(_) => Ok(()),
            None => self.generation.check(self).await,
        }
    }

    /// Work with this database from now on, although it was restored or cloned.
    pub async fn accept_restore(&self) -> Result<(), StoreError> {
        self.generation.accept(self).await
    }

    /// Have SQLite look over the whole file: for `latch doctor`, it takes its time. A server looks
    /// after its files itself.
    pub async fn check_file(&self) -> Result<(), StoreError> {
        if self.dialect == Dialect::Postgres {
            return self.next_timer().await.map(drop);
        }
        let rows = self.readers.run(Name::QUICK_CHECK, Script::new("PRAGMA quick_check(10)")).await?;
        let mut found = Vec::new();
        for row in rows.iter().flatten() {
            found.push(row::Stored::new(row, "quick_check").text()?);
        }
        if found == ["ok"] { Ok(()) } else { Err(StoreError::Damaged(found.join("; "))) }
    }

    /// What the server says of itself, in words; empty where there is none.
    pub fn about_server(&self) -> String {
        self.server.about()
    }

    /// The schema as the database keeps it, in a fixed order.
    pub async fn schema(&self) -> Result<String, StoreError> {
        let rows = self.readers.run(Name::SCHEMA, schema::read(self.dialect)).await?;
        let mut text = String::new();
        for row in rows.iter().flatten() {
            text.push_str(&row::Stored::new(row, "schema").text()?);
            text.push('\n');
        }
        Ok(text)
    }

    /// What survives a power failure.
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Write what is queued, then close all connections. Whatever is asked afterwards fails.
    pub async fn close(&self) {
        self.writer.close().await;
        self.readers.close().await;
    }
}

#[cfg(test)]
mod tests;
