//! Durability is checked, not assumed: what was set is read back.

use latchwork_core::storage::StoreError;
use sqlx::SqliteConnection;
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};

use crate::error::store_error;
use crate::row::Stored;
use crate::statement::{Hand, Name};

/// What survives a power failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Everything that was acknowledged.
    #[default]
    Full,
    /// A consistent state, perhaps without the last commits. Everything survives the end of the
    /// process alone.
    Relaxed,
}

impl Durability {
    pub(crate) fn set(self, options: SqliteConnectOptions) -> SqliteConnectOptions {
        let synchronous = match self {
            Durability::Full => SqliteSynchronous::Full,
            Durability::Relaxed => SqliteSynchronous::Normal,
        };
        options.journal_mode(SqliteJournalMode::Wal).synchronous(synchronous)
    }

    /// Read back what the connection does.
    pub(crate) async fn verify(self, hand: &Hand, conn: &mut SqliteConnection) -> Result<(), StoreError> {
        let sql = "PRAGMA journal_mode;PRAGMA synchronous".to_owned();
        let rows = hand.run(conn, Name::SETTINGS, sql, SqliteArguments::default());
        let rows = rows.await.map_err(|error| store_error(&error))?;
        let journal_mode = Stored::new(&rows[0][0], "pragma").text()?;
        let synchronous = Stored::new(&rows[1][0], "pragma").int()?;
        self.judge(&journal_mode, synchronous)
    }

    fn judge(self, journal_mode: &str, synchronous: i64) -> Result<(), StoreError> {
        // 2 is FULL, 3 is EXTRA.
        if self == Durability::Relaxed || (journal_mode == "wal" && matches!(synchronous, 2 | 3)) {
            return Ok(());
        }
        Err(StoreError::NotDurable(format!(
            "journal_mode is {journal_mode} and synchronous is {synchronous} where wal and 2 (FULL) were set; move it \
             to a file system that can do this, or configure durability = \"relaxed\""
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wal_with_full_sync_is_durable() {
        assert_eq!(Durability::Full.judge("wal", 2), Ok(()));
        assert_eq!(Durability::Full.judge("wal", 3), Ok(()));
        for (mode, synchronous) in [("delete", 2), ("memory", 2), ("wal", 1), ("wal", 0)] {
            let error = Durability::Full.judge(mode, synchronous).unwrap_err();
            assert!(matches!(error, StoreError::NotDurable(_)), "{mode} {synchronous}");
            assert_eq!(Durability::Relaxed.judge(mode, synchronous), Ok(()));
        }
    }
}
