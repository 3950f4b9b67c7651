//! Opens a SQLite file that cannot be written, for a caller that only reads.
//!
//! Nothing is created, locked or migrated. If the write-ahead log and its index exist beside the file, SQLite reads the
//! three files in place. A log without an index cannot be read in place, so file and log are copied to the folder for
//! temporary files. A file without a log is complete and is opened as immutable.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use tempfile::TempDir;

use latchwork_core::storage::StoreError;

use crate::open::connect_options::base_options;
use crate::open::migrations::MIGRATIONS;
use crate::sql::connection::{Connection, Connector};
use crate::sql::error::store_error;
use crate::sql::row::RowReader;
use crate::sql::statement::{StatementExecutor, StatementName};
use crate::sql::statement_batch::StatementBatch;

/// A database opened for reading only.
pub(crate) struct ReadOnly {
    /// Path that cannot be written, and the cause.
    pub(crate) reason: String,
    /// Copy that is being read. Dropping this value removes the copy.
    _copy: Option<TempDir>,
}

/// Returns the part of a database that cannot be written: the file, its folder or the folder of its owners. Returns
/// `None` if all three can be written or the database does not exist yet.
pub(crate) fn write_obstacle(path: &Path, owner_dir: &Path) -> Option<String> {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    // A missing or empty file is a database that does not exist yet.
    if !std::fs::metadata(&path).is_ok_and(|file| file.len() > 0) {
        return None;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let all = [
        (path.as_path(), Access::WRITE_OK),
        (folder, Access::WRITE_OK | Access::EXEC_OK),
        (owner_dir, Access::WRITE_OK),
    ];
    all.into_iter().filter(|(path, _)| path.exists()).find_map(|(path, wanted)| {
        let error = access(path, wanted).err()?;
        Some(format!("{} cannot be written: {}", path.display(), std::io::Error::from(error)))
    })
}

/// Returns the error for a caller that needs to write.
pub(crate) fn refusal(why: &str) -> StoreError {
    StoreError::ReadOnly(format!(
        "{why}; this command needs to write; only reading commands work here. Restore write permission, or copy the database, \
         with the -wal file beside it, to a writable place"
    ))
}

/// Connects for reading.
///
/// # Errors
/// The file is not readable, or its schema has another version.
pub(crate) async fn connect(
    path: &Path,
    why: String,
    executor: &StatementExecutor,
) -> Result<(Connector, ReadOnly), StoreError> {
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let has_log = std::fs::metadata(with_suffix(&real, "-wal")).is_ok_and(|log| log.len() > 0);
    let as_it_is = match has_log || with_suffix(&real, "-shm").exists() {
        true => base_options(path).read_only(true),
        false => base_options(path).read_only(true).immutable(true),
    };
    let as_it_is = Connector::Sqlite(Box::new(as_it_is));
    match is_current(executor, &as_it_is, &why).await {
        Ok(()) => return Ok((as_it_is, ReadOnly { reason: why, _copy: None })),
        Err(StoreError::Unavailable(error)) if has_log => {
            tracing::debug!(%error, "the write-ahead log has no index here; reading a copy");
        }
        Err(error) => return Err(error),
    }
    let (copy, file) = copy_for_reading(&real).map_err(|error| {
        StoreError::Unavailable(format!(
            "its write-ahead log must be copied for reading, but the copy cannot be made in {}: {error}",
            std::env::temp_dir().display()
        ))
    })?;
    let connect = Connector::Sqlite(Box::new(base_options(&file)));
    is_current(executor, &connect, &why).await?;
    Ok((connect, ReadOnly { reason: why, _copy: Some(copy) }))
}

/// Checks that the schema has the version of this program, because a file that cannot be written cannot be migrated.
async fn is_current(executor: &StatementExecutor, connect: &Connector, why: &str) -> Result<(), StoreError> {
    let mut conn = connect.connect_once().await.map_err(|error| store_error(&error))?;
    let checked = version(executor, &mut conn).await;
    conn.close().await;
    let (found, last) = (checked?, MIGRATIONS.last().map_or(0, |(last, ..)| *last));
    match found {
        Some(found) if found == last => Ok(()),
        Some(found) if found > last => Err(StoreError::Unavailable(format!(
            "a newer version of Latchwork has changed it (schema {found}): use that version"
        ))),
        found => {
            let found = found.map_or("it has no Latchwork tables".to_owned(), |found| format!("it has schema {found}"));
            Err(StoreError::ReadOnly(format!(
                "{found} but this version needs schema {last}, and it cannot be migrated: {why}. Copy it, with the -wal file \
                 beside it, to a writable place and use the copy, or read it with the version that last wrote it"
            )))
        }
    }
}

/// Returns the schema version, or `None` if there are no tables.
async fn version(executor: &StatementExecutor, conn: &mut Connection) -> Result<Option<i64>, StoreError> {
    let run = async |conn: &mut Connection, sql: &str| {
        let rows = executor
            .run(conn, StatementName::SCHEMA, StatementBatch::new(sql))
            .await
            .map_err(|error| store_error(&error))?;
        RowReader::new(&rows[0][0], "_sqlx_migrations").int()
    };
    let there = "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table' AND name = '_sqlx_migrations'";
    if run(conn, there).await? == 0 {
        return Ok(None);
    }
    run(conn, "SELECT COALESCE(MAX(version), 0) FROM _sqlx_migrations WHERE success").await.map(Some)
}

/// Copies file and log to a folder that only this user can read.
fn copy_for_reading(path: &Path) -> std::io::Result<(TempDir, PathBuf)> {
    let folder = tempfile::Builder::new().prefix("latch-read-").tempdir()?;
    let file = folder.path().join("copy.db");
    for ending in ["", "-wal"] {
        let mut from = std::fs::File::open(with_suffix(path, ending))?;
        std::io::copy(&mut from, &mut std::fs::File::create(with_suffix(&file, ending))?)?;
    }
    Ok((folder, file))
}

/// Returns the path with `ending` appended.
fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}
