//! Classifies failures of the database for callers.

use latchwork_core::storage::{InboxError, StoreError, WriteError};

/// Primary result codes of SQLite with special handling.
const BUSY: u32 = 5;
const LOCKED: u32 = 6;
const READONLY: u32 = 8;
const IOERR: u32 = 10;
/// Extended result code of SQLite: the index of the write-ahead log cannot grow. The only cause is a full disk.
const IOERR_SHMSIZE: u32 = 4_874;
const CORRUPT: u32 = 11;
const FULL: u32 = 13;
const CANTOPEN: u32 = 14;
const NOTADB: u32 = 26;

/// SQLSTATE codes of PostgreSQL with special handling.
const UNIQUE_VIOLATION: &str = "23505";
const IDLE_IN_TRANSACTION: &str = "25P03";
const IN_FAILED_TRANSACTION: &str = "25P02";
const READ_ONLY_TRANSACTION: &str = "25006";
const INVALID_AUTHORIZATION: &str = "28000";
const INVALID_PASSWORD: &str = "28P01";
const INVALID_CATALOG: &str = "3D000";
const SERIALIZATION_FAILURE: &str = "40001";
const DEADLOCK_DETECTED: &str = "40P01";
const INSUFFICIENT_PRIVILEGE: &str = "42501";
const DISK_FULL: &str = "53100";
const TOO_MANY_CONNECTIONS: &str = "53300";
const LOCK_NOT_AVAILABLE: &str = "55P03";
const ADMIN_SHUTDOWN: &str = "57P01";
const CRASH_SHUTDOWN: &str = "57P02";
const CANNOT_CONNECT_NOW: &str = "57P03";
const IDLE_SESSION: &str = "57P05";
const DATA_CORRUPTED: &str = "XX001";
const INDEX_CORRUPTED: &str = "XX002";

/// Reason why a transaction did not commit.
#[derive(Debug)]
pub(crate) enum TransactionFailure {
    /// The database failed.
    Sql(sqlx::Error),
    /// The database returned inconsistent data, or something outside the database failed.
    Store(StoreError),
    /// Another writer interfered. The transaction must be repeated.
    Retry,
}

impl From<sqlx::Error> for TransactionFailure {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for TransactionFailure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<TransactionFailure> for StoreError {
    fn from(failure: TransactionFailure) -> Self {
        match failure {
            TransactionFailure::Sql(error) => store_error(&error),
            TransactionFailure::Store(error) => error,
            TransactionFailure::Retry => {
                StoreError::Unavailable("other workers kept interfering with the transaction; try again".to_owned())
            }
        }
    }
}

/// Reason why the caller of queued work gets no result of the work.
#[derive(Clone, Debug)]
pub(crate) enum WriteFailure {
    /// Nothing was written.
    Store(StoreError),
    /// The work may have been written.
    Unknown(String),
}

impl From<WriteFailure> for WriteError {
    fn from(trouble: WriteFailure) -> Self {
        match trouble {
            WriteFailure::Store(error) => error.into(),
            WriteFailure::Unknown(message) => Self::Unknown(message),
        }
    }
}

impl From<WriteFailure> for StoreError {
    fn from(trouble: WriteFailure) -> Self {
        match trouble {
            WriteFailure::Store(error) => error,
            WriteFailure::Unknown(message) => {
                Self::Unavailable(format!("it failed while committing; the write may or may not be durable: {message}"))
            }
        }
    }
}

impl From<WriteFailure> for InboxError {
    fn from(trouble: WriteFailure) -> Self {
        Self::Store(trouble.into())
    }
}

/// Returns true if another writer interfered. A repetition of the transaction may then succeed.
pub(crate) fn is_transient(error: &sqlx::Error) -> bool {
    match database_code(error) {
        Some(DatabaseCode::Sqlite(code)) => matches!(code & 0xff, BUSY | LOCKED),
        Some(DatabaseCode::Postgres(state)) => matches!(
            state.as_str(),
            SERIALIZATION_FAILURE | DEADLOCK_DETECTED | LOCK_NOT_AVAILABLE | UNIQUE_VIOLATION | IN_FAILED_TRANSACTION
        ),
        None => false,
    }
}

/// Returns true if the connection is lost or could not be made. A new connection may succeed now or later. An
/// uncommitted transaction has written nothing.
pub(crate) fn is_connection_lost(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => true,
        error => match database_code(error) {
            Some(DatabaseCode::Postgres(state)) => {
                state.starts_with("08")
                    || matches!(
                        state.as_str(),
                        ADMIN_SHUTDOWN
                            | CRASH_SHUTDOWN
                            | CANNOT_CONNECT_NOW
                            | TOO_MANY_CONNECTIONS
                            | IDLE_IN_TRANSACTION
                            | IDLE_SESSION
                    )
            }
            _ => false,
        },
    }
}

/// Returns true if the database currently refuses all writes.
pub(crate) fn is_read_only(error: &sqlx::Error) -> bool {
    matches!(database_code(error), Some(DatabaseCode::Postgres(state)) if state == READ_ONLY_TRANSACTION)
}

/// Converts a failure into a store error with a message for people.
pub(crate) fn store_error(error: &sqlx::Error) -> StoreError {
    match database_code(error) {
        Some(DatabaseCode::Sqlite(code)) => of_sqlite(code, &database_message(error)),
        Some(DatabaseCode::Postgres(state)) => of_postgres(&state, &database_message(error)),
        None => match error {
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => StoreError::Damaged(error.to_string()),
            sqlx::Error::Io(cause) if cause.kind() == std::io::ErrorKind::TimedOut => {
                StoreError::Unavailable("the server does not answer: check the server and the network".to_owned())
            }
            // The server's certificate was refused. The TLS library reports the refusal as a read error.
            sqlx::Error::Io(cause) if cause.kind() == std::io::ErrorKind::InvalidData => not_encrypted(cause),
            sqlx::Error::Io(cause) => StoreError::Unavailable(format!(
                "cannot reach the server ({cause}): check that it is running, and check host, port and network"
            )),
            sqlx::Error::Tls(cause) => not_encrypted(cause),
            _ => StoreError::Unavailable(error.to_string()),
        },
    }
}

fn not_encrypted(cause: impl std::fmt::Display) -> StoreError {
    StoreError::Unavailable(format!(
        "cannot make an encrypted connection ({cause}): check `sslmode` and `sslrootcert` in its URL"
    ))
}

fn of_sqlite(code: u32, text: &str) -> StoreError {
    match code & 0xff {
        _ if code == IOERR_SHMSIZE => disk_full(text),
        CORRUPT | NOTADB => StoreError::Damaged(format!(
            "SQLite reports: {text}; restore it from a backup, or save what can be read with `sqlite3 FILE .recover`"
        )),
        FULL => disk_full(text),
        READONLY => StoreError::Unavailable(format!("its file cannot be written ({text}): check its permissions")),
        CANTOPEN => StoreError::Unavailable(format!(
            "its file cannot be opened ({text}): check the path and the permissions of file and directory"
        )),
        BUSY | LOCKED => StoreError::Unavailable(format!("another process keeps it locked ({text})")),
        IOERR => StoreError::Unavailable(format!(
            "the disk failed or is full ({text}): check the free space and the system log"
        )),
        _ => StoreError::Unavailable(text.to_owned()),
    }
}

fn of_postgres(state: &str, text: &str) -> StoreError {
    match state {
        DATA_CORRUPTED | INDEX_CORRUPTED => StoreError::Damaged(format!(
            "PostgreSQL reports: {text}; restore it from a backup, or fail over to an undamaged standby"
        )),
        DISK_FULL => disk_full(text),
        READ_ONLY_TRANSACTION => StoreError::Unavailable(format!(
            "it is read-only ({text}): connect to the primary, not to a standby, and check default_transaction_read_only"
        )),
        TOO_MANY_CONNECTIONS => StoreError::Unavailable(format!(
            "the server has no free connections ({text}): raise max_connections, or run fewer workers"
        )),
        INVALID_PASSWORD | INVALID_AUTHORIZATION => StoreError::Unavailable(format!(
            "the server refused the login ({text}): check user and password in its URL, PGPASSWORD or ~/.pgpass, \
             and the server's pg_hba.conf"
        )),
        INVALID_CATALOG => {
            StoreError::Unavailable(format!("{text}: create it with `createdb`, or use another database"))
        }
        INSUFFICIENT_PRIVILEGE => StoreError::Unavailable(format!(
            "the user lacks a privilege ({text}): make it the owner of the database, or create the tables as another user and grant it \
             SELECT, INSERT, UPDATE and DELETE on all tables and USAGE on all sequences of the schema"
        )),
        LOCK_NOT_AVAILABLE => StoreError::Unavailable(format!("another process keeps the rows locked ({text})")),
        _ => StoreError::Unavailable(text.to_owned()),
    }
}

fn disk_full(text: &str) -> StoreError {
    StoreError::Unavailable(format!("the disk is full ({text}): nothing was written; free some space and try again"))
}

fn database_message(error: &sqlx::Error) -> String {
    error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())
}

/// Error code of the database.
enum DatabaseCode {
    /// Extended result code of SQLite. The lowest byte is the primary code.
    Sqlite(u32),
    /// Five-character SQLSTATE of PostgreSQL.
    Postgres(String),
}

fn database_code(error: &sqlx::Error) -> Option<DatabaseCode> {
    let error = error.as_database_error()?;
    let code = error.code()?;
    if error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>().is_some() {
        return Some(DatabaseCode::Postgres(code.into_owned()));
    }
    code.parse::<u32>().ok().map(DatabaseCode::Sqlite)
}

/// Returns the error of a closed store.
pub(crate) fn closed_error() -> StoreError {
    StoreError::Unavailable("the store has been closed".to_owned())
}
