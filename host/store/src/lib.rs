//! The stores of Latchwork on SQLite: journal, effects and values in one database file.
//!
//! - Every statement goes through one function ([`STATEMENTS`] are its names, [`Probe`] watches).
//! - All writing is done by one task per opened database, which groups what is queued into one
//!   transaction (group commit).
//! - Whether a batch is admitted is decided by `latchwork_core::admit`; here it is only read,
//!   asked and written.
//! - Leases and deadlines go by the machine's boot-time clock, and SQLite's WAL needs shared
//!   memory: all processes of one database run on one machine.

mod actions;
mod awaited;
mod clock;
mod commit;
mod costs;
mod durability;
mod effects;
mod error;
mod events;
mod generation;
mod group;
mod inbox;
mod jobs;
mod journal;
mod kv;
mod leases;
mod ledger;
mod lock;
mod measure;
mod open;
mod owner;
mod payloads;
mod probe;
mod readers;
mod reusables;
mod row;
mod script;
mod statement;
mod submit;
mod sweep;
mod timers;
mod writer;

use std::sync::Arc;

use latchwork_core::storage::{Clock, StoreError};

pub use clock::SystemClock;
pub use durability::Durability;
pub use generation::times_used;
pub use measure::commits_per_second;
pub use open::OpenOptions;
pub use owner::{OwnerLock, is_gone};
pub use probe::{KillAt, NoProbe, Probe, Side};
pub use statement::STATEMENTS;

use generation::Generation;
use leases::Gone;
use readers::Readers;
use script::Script;
use statement::{Name, Tally};
use writer::Writer;

/// An open database.
pub struct Sqlite {
    writer: Writer,
    readers: Readers,
    clock: Arc<dyn Clock>,
    clock_margin_ms: u32,
    generation: Generation,
    gone: Gone,
    tally: Arc<Tally>,
    durability: Durability,
}

impl Sqlite {
    /// Open a database, creating it or bringing its schema up to date where needed.
    pub async fn open(options: OpenOptions) -> Result<Arc<Self>, StoreError> {
        open::open(options).await.map(Arc::new)
    }

    /// Whether the database is the one that was used here last; claims are refused while it is
    /// not.
    pub async fn check_generation(&self) -> Result<(), StoreError> {
        self.generation.check(self).await
    }

    /// Work with this database from now on, although it was restored or cloned.
    pub async fn accept_restore(&self) -> Result<(), StoreError> {
        self.generation.accept(self).await
    }

    /// Have SQLite look over the whole file: for `latch doctor`, it takes its time.
    pub async fn check_file(&self) -> Result<(), StoreError> {
        let rows = self.readers.run(Name::QUICK_CHECK, Script::new("PRAGMA quick_check(10)")).await?;
        let mut found = Vec::new();
        for row in rows.iter().flatten() {
            found.push(row::Stored::new(row, "quick_check").text()?);
        }
        if found == ["ok"] { Ok(()) } else { Err(StoreError::Damaged(found.join("; "))) }
    }

    /// The schema as SQLite keeps it, in a fixed order.
    pub async fn schema(&self) -> Result<String, StoreError> {
        let sql = "SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name \
                   NOT LIKE '_sqlx_%' ORDER BY tbl_name, type DESC, name";
        let rows = self.readers.run(Name::SCHEMA, Script::new(sql)).await?;
        let mut text = String::new();
        for row in rows.iter().flatten() {
            text.push_str(&row::Stored::new(row, "sqlite_schema").text()?);
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
