//! Sets the durability of a database, and checks it by reading the settings back.

use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};

use latchwork_core::storage::StoreError;

use crate::sql::connection::Connection;
use crate::sql::error::store_error;
use crate::sql::row::RowReader;
use crate::sql::statement::{StatementExecutor, StatementName};
use crate::sql::statement_batch::StatementBatch;

/// Guarantee for writes in case of a power failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommitDurability {
    /// Every acknowledged write survives.
    #[default]
    Full,
    /// A consistent state survives, perhaps without the last commits. If only the process dies, everything
    /// survives.
    Relaxed,
}

impl CommitDurability {
    pub(crate) fn set(self, options: SqliteConnectOptions) -> SqliteConnectOptions {
        let synchronous = match self {
            CommitDurability::Full => SqliteSynchronous::Full,
            CommitDurability::Relaxed => SqliteSynchronous::Normal,
        };
        options.journal_mode(SqliteJournalMode::Wal).synchronous(synchronous)
    }

    pub(crate) fn set_server(self, options: PgConnectOptions) -> PgConnectOptions {
        let synchronous = match self {
            CommitDurability::Full => "on",
            CommitDurability::Relaxed => "off",
        };
        options.options([("synchronous_commit", synchronous)])
    }

    /// Reads back the settings of a connection to a file and checks them.
    pub(crate) async fn verify(self, executor: &StatementExecutor, conn: &mut Connection) -> Result<(), StoreError> {
        let mut statements = StatementBatch::new("PRAGMA journal_mode");
        statements.push("PRAGMA synchronous");
        let rows =
            executor.run(conn, StatementName::SETTINGS, statements).await.map_err(|error| store_error(&error))?;
        let journal_mode = RowReader::new(&rows[0][0], "pragma").text()?;
        let synchronous = RowReader::new(&rows[1][0], "pragma").int()?;
        self.assess(&journal_mode, synchronous)
    }

    fn assess(self, journal_mode: &str, synchronous: i64) -> Result<(), StoreError> {
        // Values of `synchronous`: 2 is FULL, and 3 is EXTRA.
        if self == CommitDurability::Relaxed || (journal_mode == "wal" && matches!(synchronous, 2 | 3)) {
            return Ok(());
        }
        Err(StoreError::NotDurable(format!(
            "journal_mode is {journal_mode} and synchronous is {synchronous} but wal and 2 (FULL) were requested; move it \
             to a file system that supports this, or configure durability = \"relaxed\""
        )))
    }

    /// Checks the settings read back from a server.
    pub(crate) fn judge_server(self, commit: &str, fsync: &str, pages: &str) -> Result<(), StoreError> {
        let kept = matches!(commit, "on" | "remote_apply") && (fsync, pages) == ("on", "on");
        if self == CommitDurability::Relaxed || kept {
            return Ok(());
        }
        Err(StoreError::NotDurable(format!(
            "synchronous_commit is {commit}, fsync is {fsync} and full_page_writes is {pages} but all must be on; \
             set them on the server, or configure durability = \"relaxed\""
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_server_with_synchronous_commit_is_durable() {
        assert_eq!(CommitDurability::Full.judge_server("on", "on", "on"), Ok(()));
        assert_eq!(CommitDurability::Full.judge_server("remote_apply", "on", "on"), Ok(()));
        for settings in [("off", "on", "on"), ("local", "on", "on"), ("on", "off", "on"), ("on", "on", "off")] {
            let error = CommitDurability::Full.judge_server(settings.0, settings.1, settings.2).unwrap_err();
            assert!(matches!(error, StoreError::NotDurable(_)), "{settings:?}");
            assert_eq!(CommitDurability::Relaxed.judge_server(settings.0, settings.1, settings.2), Ok(()));
        }
    }

    #[test]
    fn only_wal_with_full_sync_is_durable() {
        assert_eq!(CommitDurability::Full.assess("wal", 2), Ok(()));
        assert_eq!(CommitDurability::Full.assess("wal", 3), Ok(()));
        for (mode, synchronous) in [("delete", 2), ("memory", 2), ("wal", 1), ("wal", 0)] {
            let error = CommitDurability::Full.assess(mode, synchronous).unwrap_err();
            assert!(matches!(error, StoreError::NotDurable(_)), "{mode} {synchronous}");
            assert_eq!(CommitDurability::Relaxed.assess(mode, synchronous), Ok(()));
        }
    }
}
