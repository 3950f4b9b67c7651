//! Opening a SQLite file that cannot be written, for a caller that only reads.
//!
//! Nothing is made, locked or brought up to date. Where the file has its write-ahead log and the log's index beside
//! it, SQLite reads all three as they are. A log without its index needs one, so file and log are read as a copy in the
//! folder for temporary files. A file without a log is whole, and is read as one that does not change.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use latchwork_core::storage::StoreError;
use rustix::fs::{Access, access};
use sqlx::sqlite::SqliteConnectOptions;
use tempfile::TempDir;

use crate::connection::{Connect, Connection};
use crate::error::store_error;
use crate::open::MIGRATIONS;
use crate::row::Stored;
use crate::script::Script;
use crate::statement::{Hand, Name};

/// A database that is read as it is.
pub(crate) struct ReadOnly {
    /// What cannot be written, and why.
    pub(crate) why: String,
    /// The copy that is read; removed with this.
    _copy: Option<TempDir>,
}

/// Returns what of a database cannot be written: the file, its folder, or the folder of its owners. None: all can, or
/// there is no database yet.
pub(crate) fn why(path: &Path, owner_dir: &Path) -> Option<String> {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    // There is nothing to read in a file that was not made yet.
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

/// The refusal of a caller that writes.
pub(crate) fn refused(why: &str) -> StoreError {
    StoreError::ReadOnly(format!(
        "{why}; this command writes, and here only those that read work. Restore the right to write, or copy the database, \
         with the -wal beside it, to a place that can be written"
    ))
}

/// Connects for reading.
///
/// # Errors
/// The file is not readable, or has another schema than the one of this version.
pub(crate) async fn connect(
    path: &Path,
    why: String,
    hand: &Hand,
    options: impl Fn(&Path) -> SqliteConnectOptions,
) -> Result<(Connect, ReadOnly), StoreError> {
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let has_log = std::fs::metadata(beside(&real, "-wal")).is_ok_and(|log| log.len() > 0);
    let as_it_is = match has_log || beside(&real, "-shm").exists() {
        true => options(path).read_only(true),
        false => options(path).read_only(true).immutable(true),
    };
    let as_it_is = Connect::Sqlite(Box::new(as_it_is));
    match is_current(hand, &as_it_is, &why).await {
        Ok(()) => return Ok((as_it_is, ReadOnly { why, _copy: None })),
        Err(StoreError::Unavailable(error)) if has_log => {
            tracing::debug!(%error, "the write-ahead log has no index here: a copy is read");
        }
        Err(error) => return Err(error),
    }
    let (copy, file) = copied(&real).map_err(|error| {
        StoreError::Unavailable(format!(
            "its write-ahead log can be read in a copy only, which cannot be made in {}: {error}",
            std::env::temp_dir().display()
        ))
    })?;
    let connect = Connect::Sqlite(Box::new(options(&file)));
    is_current(hand, &connect, &why).await?;
    Ok((connect, ReadOnly { why, _copy: Some(copy) }))
}

/// Makes sure that the schema is the one of this version: it cannot be brought up to date.
async fn is_current(hand: &Hand, connect: &Connect, why: &str) -> Result<(), StoreError> {
    let mut conn = connect.once().await.map_err(|error| store_error(&error))?;
    let checked = version(hand, &mut conn).await;
    conn.close().await;
    let (found, last) = (checked?, MIGRATIONS.last().map_or(0, |(last, ..)| *last));
    match found {
        Some(found) if found == last => Ok(()),
        Some(found) if found > last => Err(StoreError::Unavailable(format!(
            "a newer version of Latchwork has changed it (schema {found}): use that version"
        ))),
        found => {
            let found =
                found.map_or("it has no tables of Latchwork".to_owned(), |found| format!("it has schema {found}"));
            Err(StoreError::ReadOnly(format!(
                "{found} where this version reads {last}, and it cannot be brought up to date: {why}. Copy it, with the -wal \
                 beside it, to a place that can be written and use the copy, or read it with the version that wrote it last"
            )))
        }
    }
}

/// The schema; none where there are no tables.
async fn version(hand: &Hand, conn: &mut Connection) -> Result<Option<i64>, StoreError> {
    let run = async |conn: &mut Connection, sql: &str| {
        let rows = hand.run(conn, Name::SCHEMA, Script::new(sql)).await.map_err(|error| store_error(&error))?;
        Stored::new(&rows[0][0], "_sqlx_migrations").int()
    };
    let there = "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table' AND name = '_sqlx_migrations'";
    if run(conn, there).await? == 0 {
        return Ok(None);
    }
    run(conn, "SELECT COALESCE(MAX(version), 0) FROM _sqlx_migrations WHERE success").await.map(Some)
}

/// File and log in a folder that only this user reads.
fn copied(path: &Path) -> std::io::Result<(TempDir, PathBuf)> {
    let folder = tempfile::Builder::new().prefix("latch-read-").tempdir()?;
    let file = folder.path().join("copy.db");
    for ending in ["", "-wal"] {
        let mut from = std::fs::File::open(beside(path, ending))?;
        std::io::copy(&mut from, &mut std::fs::File::create(beside(&file, ending))?)?;
    }
    Ok((folder, file))
}

/// The path with another ending behind it.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}
