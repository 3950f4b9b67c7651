//! What a failure of SQLite means to the caller.

use latchwork_core::storage::{InboxError, StoreError, WriteError};

/// Primary result codes of SQLite that have a meaning of their own here.
const BUSY: u32 = 5;
const LOCKED: u32 = 6;
const READONLY: u32 = 8;
const IOERR: u32 = 10;
const CORRUPT: u32 = 11;
const FULL: u32 = 13;
const CANTOPEN: u32 = 14;
const NOTADB: u32 = 26;

/// Why a transaction did not come to its end.
#[derive(Debug)]
pub(crate) enum Failure {
    /// SQLite failed.
    Sql(sqlx::Error),
    /// What it answered cannot be right, or something beside it failed.
    Store(StoreError),
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Sql(error) => store_error(&error),
            Failure::Store(error) => error,
        }
    }
}

/// What became of work that was given to the writer but has no outcome of its own.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    /// Nothing of it was written.
    Store(StoreError),
    /// It may have been written.
    Unknown(String),
}

impl From<Trouble> for WriteError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Store(error) => error.into(),
            Trouble::Unknown(message) => Self::Unknown(message),
        }
    }
}

impl From<Trouble> for StoreError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Store(error) => error,
            Trouble::Unknown(message) => {
                Self::Unavailable(format!("it failed while committing, perhaps after the fact: {message}"))
            }
        }
    }
}

impl From<Trouble> for InboxError {
    fn from(trouble: Trouble) -> Self {
        Self::Store(trouble.into())
    }
}

/// Whether another process holds the database: try again.
pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(BUSY | LOCKED))
}

/// The failure in words.
pub(crate) fn store_error(error: &sqlx::Error) -> StoreError {
    let Some(code) = primary_code(error) else {
        return match error {
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => StoreError::Damaged(error.to_string()),
            _ => StoreError::Unavailable(error.to_string()),
        };
    };
    match code {
        CORRUPT | NOTADB => StoreError::Damaged(format!(
            "SQLite says: {}; restore it from a backup, or save what can be read with `sqlite3 FILE .recover`",
            text(error)
        )),
        FULL => StoreError::Unavailable(format!(
            "the disk is full ({}): nothing of this was written; free some space and go on",
            text(error)
        )),
        READONLY => {
            StoreError::Unavailable(format!("its file cannot be written ({}): check its permissions", text(error)))
        }
        CANTOPEN => StoreError::Unavailable(format!(
            "its file cannot be opened ({}): check the path and the permissions of file and directory",
            text(error)
        )),
        BUSY | LOCKED => StoreError::Unavailable(format!("another process keeps it locked ({})", text(error))),
        IOERR => StoreError::Unavailable(format!("the disk failed ({}): look into the system's log", text(error))),
        _ => StoreError::Unavailable(text(error)),
    }
}

fn text(error: &sqlx::Error) -> String {
    error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())
}

/// The lowest byte of SQLite's extended result code.
fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error()?.code()?;
    code.parse::<u32>().ok().map(|code| code & 0xff)
}
