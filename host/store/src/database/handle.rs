//! An open database.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use latchwork_core::storage::{Clock, StoreError};

use crate::generation::{DatabaseAccess, Generation};
use crate::open::read_only::ReadOnly;
use crate::os::clock::TimeSource;
use crate::os::dead_owners::DeadOwners;
use crate::os::owner::OwnerLock;
use crate::os::sweep;
use crate::server::checks::Server;
use crate::server::listener::NotificationListener;
use crate::sql::dialect::Dialect;
use crate::sql::durability::CommitDurability;
use crate::sql::readers::Readers;
use crate::sql::row::RowReader;
use crate::sql::statement::{StatementCounters, StatementName};
use crate::sql::statement_batch::StatementBatch;
use crate::tables::{leases, schema, timers};
use crate::write::writer::Writer;

/// An open database.
pub struct Database {
    pub(super) writer: Writer,
    pub(crate) readers: Readers,
    pub(super) dialect: Dialect,
    /// Source of the time that decides about leases, deadlines and timers.
    pub(super) time_source: TimeSource,
    /// Clocks of this machine, which also identify the current boot of the kernel.
    pub(super) machine: Arc<dyn Clock>,
    pub(super) clock_margin_ms: u32,
    pub(super) generation: Generation,
    pub(super) server: Arc<Server>,
    pub(super) listener: Option<NotificationListener>,
    pub(super) dead_owners: DeadOwners,
    pub(super) counters: Arc<StatementCounters>,
    pub(super) durability: CommitDurability,
    pub(super) read_only: Option<ReadOnly>,
}

impl Database {
    /// Returns the path that cannot be written and the cause, if the database was opened for reading only.
    pub fn read_only(&self) -> Option<&str> {
        self.read_only.as_ref().map(|read_only| read_only.reason.as_str())
    }

    /// Checks that this database is the database that was last used here. If the check fails, claims in this database
    /// are refused. A database opened for reading only always passes.
    pub async fn check_generation(&self) -> Result<(), StoreError> {
        match self.read_only {
            Some(_) => Ok(()),
            None => self.generation.check(&self.access()).await,
        }
    }

    /// Accepts this database although it was restored or cloned.
    pub async fn accept_restore(&self) -> Result<(), StoreError> {
        self.generation.accept(&self.access()).await
    }

    /// Checks the whole file with SQLite's `quick_check`, for `latch doctor`. The check can take long. On PostgreSQL
    /// only a query is sent, because a server checks its own files.
    pub async fn check_file(&self) -> Result<(), StoreError> {
        if self.dialect == Dialect::Postgres {
            let now = self.time_source.local_now();
            return timers::read_next_timer(&self.readers, self.dialect, now.as_ref()).await.map(drop);
        }
        let rows = self.readers.run(StatementName::QUICK_CHECK, StatementBatch::new("PRAGMA quick_check(10)")).await?;
        let mut found = Vec::new();
        for row in rows.iter().flatten() {
            found.push(RowReader::new(row, "quick_check").text()?);
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
            text.push_str(&RowReader::new(row, "schema").text()?);
            text.push('\n');
        }
        Ok(text)
    }

    /// Returns the configured durability.
    pub fn durability(&self) -> CommitDurability {
        self.durability
    }

    /// Writes everything that is queued, then closes all connections. Later operations fail.
    pub async fn close(&self) {
        self.writer.close().await;
        self.readers.close().await;
    }

    /// Removes the lock files of dead owners and of this process from `dir`. Keeps a file if a claim of an open job
    /// refers to it. This process must not claim a job afterwards, because its own lock file may be removed. Without
    /// the file, other processes cannot prove that this process is dead.
    pub async fn sweep_owners(&self, dir: &Path, own: &OwnerLock) -> Result<(), StoreError> {
        let mut free = sweep::unlocked_files(dir);
        free.insert(PathBuf::from(&own.owner().lock_path));
        for path in leases::read_named_locks(&self.readers).await? {
            free.remove(Path::new(&path));
        }
        sweep::remove(free);
        Ok(())
    }

    /// Returns the parts through which the generation is read and written.
    pub(super) fn access(&self) -> DatabaseAccess<'_> {
        let Self { dialect, readers, writer, server, .. } = self;
        DatabaseAccess { dialect: *dialect, readers, writer, server }
    }
}
