//! Detects a restored or cloned database. On PostgreSQL the identity of the server is checked as well
//! ([`crate::server::checks`]).
//!
//! The database counts the processes that have used it for work. A process is counted before it first claims a job or
//! fires timers, and again after each new connection to a server. A file outside the database holds the same number.
//! The number is committed to the database before the file is written, so the database may be ahead by one after a
//! crash.
//!
//! A database with a lower number than the file is refused, because it is not the database that was last used here. On
//! SQLite, a database that is ahead by more than one is refused too. On PostgreSQL, the database may be ahead by any
//! number, because workers on other machines are counted too.
//!
//! A new database in the place of a used database is refused, because the used database is missing together with its
//! records. A restored backup has the same number as the file if the backup was taken after the last process was
//! counted. The high-water mark ([`crate::server::high_water`]) detects such a backup.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use latchwork_core::storage::StoreError;

use crate::os::{file_lock, private_files};
use crate::server::checks::{Server, restored_error};
use crate::server::high_water::{DatabasePosition, HighWaterMark, KnownPositions};
use crate::sql::dialect::Dialect;
use crate::sql::error::TransactionFailure;
use crate::sql::readers::Readers;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;
use crate::transaction::tx::Tx;
use crate::transaction::work::TransactionPart;
use crate::write::writer::Writer;

/// Identity and generation of a database. Represents both the generation file and the data read from the
/// database. The file contains only the first two fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredGeneration {
    database_id: String,
    generation: i64,
    /// Identity of the server, as stored in the database. Not in the file.
    #[serde(skip)]
    server: String,
    /// Position of the database. Not in the file.
    #[serde(skip)]
    position: DatabasePosition,
}

/// Parts of an open database through which the generation is read and written.
pub(crate) struct DatabaseAccess<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) readers: &'a Readers,
    pub(crate) writer: &'a Writer,
    pub(crate) server: &'a Arc<Server>,
}

/// Access to the generation file. Also records whether this process has been counted in the database.
pub(crate) struct Generation {
    dir: PathBuf,
    high_water: Arc<HighWaterMark>,
    /// Number of writing connections that had been made when this process was last counted. A new connection may lead
    /// to another server, so the process is counted again if the number has increased. `None` if the process was not
    /// counted yet.
    counted_connection: Mutex<Option<u64>>,
}

/// Returns the query for the stored generation. Only a database on PostgreSQL stores the server's identity.
fn read_statement(dialect: Dialect) -> String {
    let (server, number) = match dialect {
        Dialect::Sqlite => ("''", "high_water"),
        Dialect::Postgres => (Dialect::ACCEPTED_SERVER, Dialect::LAST_TRANSACTION),
    };
    format!("SELECT database_id, generation, {server}, accepted, {number} FROM meta WHERE id = 1")
}

impl Generation {
    pub(crate) fn new(dir: &Path, high_water: Arc<HighWaterMark>) -> Self {
        Self { dir: dir.to_owned(), high_water, counted_connection: Mutex::default() }
    }

    /// Checks whether the database is behind the high-water mark, and records the result. The check takes place at
    /// opening. Later writes may raise the position of a restored backup above the mark, and a later check would then
    /// miss the backup.
    pub(crate) async fn check_at_open(&self, store: &DatabaseAccess<'_>) {
        let look = async {
            let known = self.high_water.known_positions()?;
            self.high_water.is_behind(&known, self.stored(store).await?.position)
        };
        if let Err(error) = look.await {
            tracing::debug!(%error, "cannot determine the position of the database");
        }
    }

    /// Checks the database and counts this process, if this was not done yet. On PostgreSQL, both are repeated after
    /// each new writing connection.
    pub(crate) async fn begin_use(&self, store: &DatabaseAccess<'_>) -> Result<(), StoreError> {
        let mut entered = self.counted_connection.lock().await;
        let connections = store.server.connections();
        if *entered != Some(connections) {
            self.count_use(store, false).await?;
            *entered = Some(connections);
        }
        Ok(())
    }

    /// Checks that this is the database that was last used here.
    pub(crate) async fn check(&self, store: &DatabaseAccess<'_>) -> Result<(), StoreError> {
        let _alone = self.lock().await?;
        let known = self.high_water.known_positions()?;
        let stored = self.stored(store).await?;
        check_all(&stored, self.read()?.as_ref(), &known, store.dialect, store.server)
    }

    /// Accepts this database for use.
    pub(crate) async fn accept(&self, store: &DatabaseAccess<'_>) -> Result<(), StoreError> {
        self.count_use(store, true).await
    }

    /// Checks the database and counts this process. A lock is held from reading the file to writing it. Without the
    /// lock, another process could be counted between the two. The number read from the file would then be too low for
    /// the database.
    async fn count_use(&self, store: &DatabaseAccess<'_>, accept: bool) -> Result<(), StoreError> {
        let _alone = self.lock().await?;
        self.record_unused(store).await?;
        let (file, server, known) = (self.read()?, store.server.clone(), self.high_water.known_positions()?);
        let now = store.writer.work(CountUse { file, accept, known, server }).await??;
        self.high_water.forget_before(now.position.accepted)?;
        self.write(&now)
    }

    /// Writes the generation file of a database that was never used for work. Does not replace a file that belongs to
    /// this database, or to another database that was used for work.
    ///
    /// The file is written before this process is counted. In the reverse order, a crash could leave a used database
    /// without a file. On SQLite, a used database without a file is refused as a restored database.
    async fn record_unused(&self, store: &DatabaseAccess<'_>) -> Result<(), StoreError> {
        let stored = self.stored(store).await?;
        let unused = self.read()?.is_none_or(|file| file.generation == 0 && file.database_id != stored.database_id);
        if stored.generation == 0 && unused { self.write(&stored) } else { Ok(()) }
    }

    async fn stored(&self, store: &DatabaseAccess<'_>) -> Result<StoredGeneration, StoreError> {
        let rows = store
            .readers
            .run(StatementName::GENERATION_READ, StatementBatch::new(&read_statement(store.dialect)))
            .await?;
        read_generation(RowReader::new(&rows[0][0], "meta"))
    }

    fn path(&self) -> PathBuf {
        self.dir.join("generation")
    }

    /// Takes the lock, which is held until the returned file is dropped.
    async fn lock(&self) -> Result<File, StoreError> {
        let path = self.dir.join("generation.lock");
        let failed = {
            let path = path.clone();
            move |error: std::io::Error| StoreError::Unavailable(format!("cannot lock {}: {error}", path.display()))
        };
        let take = move || file_lock::exclusive(&path);
        // A thread for blocking work takes the lock, because waiting for the lock blocks the thread. Other processes
        // hold the lock for a few writes.
        let taken = tokio::task::spawn_blocking(take).await;
        taken.unwrap_or_else(|error| Err(std::io::Error::other(error))).map_err(failed)
    }

    fn read(&self) -> Result<Option<StoredGeneration>, StoreError> {
        let path = self.path();
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::Unavailable(format!("cannot read {}: {error}", path.display()))),
        };
        let kept = serde_json::from_slice(&bytes);
        Ok(Some(kept.map_err(|error| StoreError::Damaged(format!("file {}: {error}", path.display())))?))
    }

    fn write(&self, now: &StoredGeneration) -> Result<(), StoreError> {
        let failed =
            |error: std::io::Error| StoreError::Unavailable(format!("cannot write {}: {error}", self.path().display()));
        let fresh = self.dir.join("generation.new");
        let mut file = private_files::create_file(&fresh).map_err(failed)?;
        file.write_all(&serde_json::to_vec(now).expect("a text and a number")).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        fs::rename(&fresh, self.path()).map_err(failed)?;
        File::open(&self.dir).and_then(|dir| dir.sync_all()).map_err(failed)
    }
}

/// Returns the number of processes that have used the database for work, according to the generation file in
/// `owner_dir`.
pub fn times_used(owner_dir: &Path) -> Result<u64, StoreError> {
    // The mark is not raised here, so its slot does not matter.
    let kept = Generation::new(owner_dir, Arc::new(HighWaterMark::new(owner_dir, 0))).read()?;
    Ok(kept.map_or(0, |kept| u64::try_from(kept.generation).unwrap_or(0)))
}

fn read_generation(mut row: RowReader<'_>) -> Result<StoredGeneration, StoreError> {
    Ok(StoredGeneration {
        database_id: row.text()?,
        generation: row.int()?,
        server: row.text()?,
        position: DatabasePosition { accepted: row.int()?, number: row.int()? },
    })
}

/// Checks server, generation and high-water mark of the database.
fn check_all(
    stored: &StoredGeneration,
    file: Option<&StoredGeneration>,
    known: &KnownPositions,
    dialect: Dialect,
    server: &Server,
) -> Result<(), StoreError> {
    server.check_identity(&stored.server)?;
    check_number(stored, file, dialect)?;
    server.check_position(known, stored.position)
}

/// Checks that the generation in the database fits the generation in the file. The generation never decreases. On
/// PostgreSQL the generation in the database may be higher by any number, because workers on other machines are counted
/// too.
fn check_number(
    stored: &StoredGeneration,
    file: Option<&StoredGeneration>,
    dialect: Dialect,
) -> Result<(), StoreError> {
    let restored = |what: String| Err(restored_error(&what));
    match file {
        None if stored.generation == 0 || dialect == Dialect::Postgres => Ok(()),
        None => restored(format!("it was used for work {} times, but never from this directory", stored.generation)),
        // Neither the database of the file nor this database was ever used for work, so no records were lost.
        Some(file) if file.database_id != stored.database_id && stored.generation == 0 && file.generation == 0 => {
            Ok(())
        }
        Some(file) if file.database_id != stored.database_id && stored.generation == 0 => restored(format!(
            "it is new and empty, but another database was used here for work {} times and is missing: put that \
             one back unless it was removed on purpose",
            file.generation
        )),
        Some(file) if file.database_id != stored.database_id => {
            restored("it is not the database that was last used here".to_owned())
        }
        Some(file) if (file.generation..=file.generation + 1).contains(&stored.generation) => Ok(()),
        Some(file) if dialect == Dialect::Postgres && stored.generation > file.generation => Ok(()),
        Some(file) => restored(format!(
            "its generation is {}, but the database last used here had {}",
            stored.generation, file.generation
        )),
    }
}

/// Work that checks the database and counts this process in one transaction.
struct CountUse {
    file: Option<StoredGeneration>,
    accept: bool,
    /// Known positions, read before the transaction.
    known: KnownPositions,
    server: Arc<Server>,
}

#[async_trait]
impl TransactionPart for CountUse {
    type Output = Result<StoredGeneration, StoreError>;

    /// Returns false. Work for which this function returns true is refused on a restored database. [`CountUse`] must
    /// run there too, because it checks the database itself and may accept the database.
    fn starts_work(&self) -> bool {
        false
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Output, TransactionFailure> {
        let rows = tx
            .run(
                StatementName::GENERATION_READ,
                StatementBatch::new(&format!("{}{}", read_statement(tx.dialect), tx.dialect.for_update())),
            )
            .await?;
        let mut stored = read_generation(RowReader::new(&rows[0][0], "meta"))?;
        if self.accept {
            let last = self.file.as_ref().filter(|file| file.database_id == stored.database_id);
            stored.generation = stored.generation.max(last.map_or(0, |file| file.generation));
            stored.position.accepted = stored.position.accepted.max(self.known.latest().unwrap_or_default()) + 1;
        } else if let Err(error) = check_all(&stored, self.file.as_ref(), &self.known, tx.dialect, &self.server) {
            return Ok(Err(error));
        }
        stored.generation += 1;
        stored.server = self.server.identity().text();
        let mut statements = StatementBatch::new(match tx.dialect {
            Dialect::Sqlite => "UPDATE meta SET generation = ?, accepted = ? WHERE id = 1",
            Dialect::Postgres => {
                "UPDATE meta SET generation = ?, accepted = ?, server = ?, written = CAST(CAST(pg_current_xact_id() AS TEXT) \
                 AS BIGINT) WHERE id = 1"
            }
        });
        statements.int(stored.generation).int(stored.position.accepted);
        if tx.dialect == Dialect::Postgres {
            statements.text(stored.server.as_str());
        }
        tx.run_last(StatementName::GENERATION_WRITE, statements).await?;
        Ok(Ok(stored))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generation_file_detects_restored_database() {
        let kept = |id: &str, generation| StoredGeneration {
            database_id: id.to_owned(),
            generation,
            server: String::new(),
            position: DatabasePosition::default(),
        };
        let ok = |stored: &StoredGeneration, file: Option<&StoredGeneration>| {
            check_number(stored, file, Dialect::Sqlite).is_ok()
        };
        assert!(ok(&kept("a", 0), None));
        assert!(ok(&kept("a", 3), Some(&kept("a", 3))));
        assert!(ok(&kept("a", 4), Some(&kept("a", 3))), "a crash between the two");
        assert!(ok(&kept("b", 0), Some(&kept("a", 0))), "a new database for one without work");
        assert!(!ok(&kept("b", 0), Some(&kept("a", 3))), "a new database in place of a lost one");
        assert!(!ok(&kept("a", 2), Some(&kept("a", 3))), "an older one put back");
        assert!(!ok(&kept("a", 0), Some(&kept("a", 3))), "a very old one put back");
        assert!(!ok(&kept("a", 5), Some(&kept("a", 3))), "one that was used elsewhere");
        assert!(!ok(&kept("b", 3), Some(&kept("a", 3))), "another one");
        assert!(!ok(&kept("a", 3), None), "one from elsewhere");
        let ok = |stored: &StoredGeneration, file: Option<&StoredGeneration>| {
            check_number(stored, file, Dialect::Postgres).is_ok()
        };
        assert!(ok(&kept("a", 3), None), "a machine that joins others");
        assert!(ok(&kept("a", 5), Some(&kept("a", 3))), "other processes worked");
        assert!(!ok(&kept("a", 2), Some(&kept("a", 3))), "an older one put back");
        assert!(!ok(&kept("b", 3), Some(&kept("a", 3))), "another one");
        assert!(!ok(&kept("b", 0), Some(&kept("a", 3))), "a new one in place of a lost one");
    }
}
