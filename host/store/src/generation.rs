//! Noticing a restored or cloned database. That of a server has the mark of the server it is on as
//! well ([`crate::server`]).
//!
//! The database counts its openings for work (the first claim of a process), and a file outside
//! it keeps the same number. The database commits first, so it may be one ahead after a crash;
//! behind the file, or further ahead, it is not the one that was used here last. Neither is a new
//! one where another did work: that one was lost, and with it the memory of what was done. A
//! backup that was taken since the last opening for work is told by how far work has gone
//! ([`crate::high_water`]).

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use latchwork_core::storage::StoreError;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::Database;
use crate::dialect::Dialect;
use crate::error::Failure;
use crate::high_water::{HighWater, Known, Reached};
use crate::lock;
use crate::row::Stored;
use crate::script::Script;
use crate::server::Server;
use crate::statement::Name;
use crate::writer::{Tx, Work};

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    database_id: String,
    generation: i64,
    /// The server it is on, as the database says; the file does not.
    #[serde(skip)]
    server: String,
    /// How far it has come; the file does not say.
    #[serde(skip)]
    reached: Reached,
}

/// The file, and whether this process has opened the database for work.
pub(crate) struct Generation {
    dir: PathBuf,
    high_water: Arc<HighWater>,
    /// The connection since which it is entered: behind another one may be another server.
    entered: Mutex<Option<u64>>,
}

/// What the database keeps; only one on a server has the server's mark.
fn read_statement(dialect: Dialect) -> String {
    let (server, number) = match dialect {
        Dialect::Sqlite => ("''", "high_water"),
        Dialect::Postgres => (Dialect::SERVER, Dialect::LAST),
    };
    format!("SELECT database_id, generation, {server}, accepted, {number} FROM meta WHERE id = 1")
}

impl Generation {
    pub(crate) fn new(dir: &Path, high_water: Arc<HighWater>) -> Self {
        Self { dir: dir.to_owned(), high_water, entered: Mutex::default() }
    }

    /// Looks once whether the database has come as far as it had: what is asked of it from here on would
    /// else take it beyond.
    pub(crate) async fn notice(&self, store: &Database) {
        let look = async {
            let known = self.high_water.known()?;
            self.high_water.is_behind(&known, self.stored(store).await?.reached)
        };
        if let Err(error) = look.await {
            tracing::debug!(%error, "it is not known how far the database has come");
        }
    }

    /// Before the first claim: check, and count.
    pub(crate) async fn enter(&self, store: &Database) -> Result<(), StoreError> {
        let mut entered = self.entered.lock().await;
        let connections = store.server.connections();
        if *entered != Some(connections) {
            self.count(store, false).await?;
            *entered = Some(connections);
        }
        Ok(())
    }

    /// Whether the database is the one that was used here last.
    pub(crate) async fn check(&self, store: &Database) -> Result<(), StoreError> {
        let _alone = self.lock().await?;
        let known = self.high_water.known()?;
        let stored = self.stored(store).await?;
        judge_both(&stored, self.read()?.as_ref(), &known, store.dialect, &store.server)
    }

    /// From now on this database is the one.
    pub(crate) async fn accept(&self, store: &Database) -> Result<(), StoreError> {
        self.count(store, true).await
    }

    /// One process at a time, from reading the file to writing it: another that counted in
    /// between would make a file that was just read look like that of another time.
    async fn count(&self, store: &Database, accept: bool) -> Result<(), StoreError> {
        let _alone = self.lock().await?;
        self.meet(store).await?;
        let (file, server, known) = (self.read()?, store.server.clone(), self.high_water.known()?);
        let now = store.writer.work(Count { file, accept, known, server }).await??;
        self.high_water.forget_before(now.reached.accepted)?;
        self.write(&now)
    }

    /// A database that was never used for work is written down before it is: a crash between its
    /// first count and the file's would else make it look like one from elsewhere. Not over what
    /// is known of one that was used.
    async fn meet(&self, store: &Database) -> Result<(), StoreError> {
        let stored = self.stored(store).await?;
        let unused = self.read()?.is_none_or(|file| file.generation == 0 && file.database_id != stored.database_id);
        if stored.generation == 0 && unused { self.write(&stored) } else { Ok(()) }
    }

    async fn stored(&self, store: &Database) -> Result<Kept, StoreError> {
        let rows = store.readers.run(Name::GENERATION_READ, Script::new(&read_statement(store.dialect))).await?;
        kept(Stored::new(&rows[0][0], "meta"))
    }

    fn path(&self) -> PathBuf {
        self.dir.join("generation")
    }

    /// Held until the file is dropped.
    async fn lock(&self) -> Result<File, StoreError> {
        let path = self.dir.join("generation.lock");
        let failed = {
            let path = path.clone();
            move |error: std::io::Error| StoreError::Unavailable(format!("cannot lock {}: {error}", path.display()))
        };
        let take = move || lock::exclusive(&path);
        // Others hold it for a few writes; waiting keeps a thread busy.
        let taken = tokio::task::spawn_blocking(take).await;
        taken.unwrap_or_else(|error| Err(std::io::Error::other(error))).map_err(failed)
    }

    fn read(&self) -> Result<Option<Kept>, StoreError> {
        let path = self.path();
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::Unavailable(format!("cannot read {}: {error}", path.display()))),
        };
        let kept = serde_json::from_slice(&bytes);
        Ok(Some(kept.map_err(|error| StoreError::Damaged(format!("file {}: {error}", path.display())))?))
    }

    fn write(&self, now: &Kept) -> Result<(), StoreError> {
        let failed =
            |error: std::io::Error| StoreError::Unavailable(format!("cannot write {}: {error}", self.path().display()));
        let fresh = self.dir.join("generation.new");
        let mut file = File::create(&fresh).map_err(failed)?;
        file.write_all(&serde_json::to_vec(now).expect("a text and a number")).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        fs::rename(&fresh, self.path()).map_err(failed)?;
        File::open(&self.dir).and_then(|dir| dir.sync_all()).map_err(failed)
    }
}

/// How often the database beside `owner_dir` has been used for work, as far as is known there.
pub fn times_used(owner_dir: &Path) -> Result<u64, StoreError> {
    let kept = Generation::new(owner_dir, Arc::new(HighWater::new(owner_dir))).read()?;
    Ok(kept.map_or(0, |kept| u64::try_from(kept.generation).unwrap_or(0)))
}

fn kept(mut row: Stored<'_>) -> Result<Kept, StoreError> {
    Ok(Kept {
        database_id: row.text()?,
        generation: row.int()?,
        server: row.text()?,
        reached: Reached { accepted: row.int()?, number: row.int()? },
    })
}

/// Whether the database is on its server, and its number fits the file's.
fn judge_both(
    stored: &Kept,
    file: Option<&Kept>,
    known: &Known,
    dialect: Dialect,
    server: &Server,
) -> Result<(), StoreError> {
    server.judge(&stored.server)?;
    judge(stored, file, dialect)?;
    server.judge_reached(known, stored.reached)
}

/// Whether the number in the database fits the file's. That of a server may have been raised by
/// workers on other machines; it never falls.
fn judge(stored: &Kept, file: Option<&Kept>, dialect: Dialect) -> Result<(), StoreError> {
    let restored = |what: String| Err(restored(&what));
    match file {
        None if stored.generation == 0 || dialect == Dialect::Postgres => Ok(()),
        None => restored(format!("it has been used for work {} times, but never from here", stored.generation)),
        // One that did no work is not missed.
        Some(file) if file.database_id != stored.database_id && stored.generation == 0 && file.generation == 0 => {
            Ok(())
        }
        Some(file) if file.database_id != stored.database_id && stored.generation == 0 => restored(format!(
            "it is new and empty, but another was used here for work {} times and is gone: put that one back, if it \
             was not removed on purpose",
            file.generation
        )),
        Some(file) if file.database_id != stored.database_id => {
            restored("another database was used here last".to_owned())
        }
        Some(file) if (file.generation..=file.generation + 1).contains(&stored.generation) => Ok(()),
        Some(file) if dialect == Dialect::Postgres && stored.generation > file.generation => Ok(()),
        Some(file) => {
            restored(format!("its generation is {}, the one used here last had {}", stored.generation, file.generation))
        }
    }
}

/// That it is not the database that was worked with last.
pub(crate) fn restored(what: &str) -> StoreError {
    StoreError::Restored(format!(
        "{what}; nothing is executed until this is accepted (`latch doctor --accept-restore`), because calls made since may \
         be unknown to it"
    ))
}

/// Check and count, in one transaction.
struct Count {
    file: Option<Kept>,
    accept: bool,
    /// How far it had come.
    known: Known,
    server: Arc<Server>,
}

#[async_trait]
impl Work for Count {
    type Done = Result<Kept, StoreError>;

    /// It judges for itself, and may be the one that accepts.
    fn starts(&self) -> bool {
        false
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Done, Failure> {
        let rows = tx
            .run(Name::GENERATION_READ, Script::new(&format!("{}{}", read_statement(tx.dialect), tx.dialect.hold())))
            .await?;
        let mut stored = kept(Stored::new(&rows[0][0], "meta"))?;
        if self.accept {
            let last = self.file.as_ref().filter(|file| file.database_id == stored.database_id);
            stored.generation = stored.generation.max(last.map_or(0, |file| file.generation));
            stored.reached.accepted = stored.reached.accepted.max(self.known.latest().unwrap_or_default()) + 1;
        } else if let Err(error) = judge_both(&stored, self.file.as_ref(), &self.known, tx.dialect, &self.server) {
            return Ok(Err(error));
        }
        stored.generation += 1;
        stored.server = self.server.place().text();
        let mut script = Script::new(match tx.dialect {
            Dialect::Sqlite => "UPDATE meta SET generation = ?, accepted = ? WHERE id = 1",
            Dialect::Postgres => {
                "UPDATE meta SET generation = ?, accepted = ?, server = ?, written = CAST(CAST(pg_current_xact_id() AS TEXT) \
                 AS BIGINT) WHERE id = 1"
            }
        });
        script.int(stored.generation).int(stored.reached.accepted);
        if tx.dialect == Dialect::Postgres {
            script.text(stored.server.as_str());
        }
        tx.run_last(Name::GENERATION_WRITE, script).await?;
        Ok(Ok(stored))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_tells_a_restored_database() {
        let kept = |id: &str, generation| Kept {
            database_id: id.to_owned(),
            generation,
            server: String::new(),
            reached: Reached::default(),
        };
        let ok = |stored: &Kept, file: Option<&Kept>| judge(stored, file, Dialect::Sqlite).is_ok();
        assert!(ok(&kept("a", 0), None));
        assert!(ok(&kept("a", 3), Some(&kept("a", 3))));
        assert!(ok(&kept("a", 4), Some(&kept("a", 3))), "a crash between the two");
        assert!(ok(&kept("b", 0), Some(&kept("a", 0))), "a new database for one without work");
        assert!(!ok(&kept("b", 0), Some(&kept("a", 3))), "a new database in the place of a lost one");
        assert!(!ok(&kept("a", 2), Some(&kept("a", 3))), "an older one put back");
        assert!(!ok(&kept("a", 0), Some(&kept("a", 3))), "a very old one put back");
        assert!(!ok(&kept("a", 5), Some(&kept("a", 3))), "one that was used elsewhere");
        assert!(!ok(&kept("b", 3), Some(&kept("a", 3))), "another one");
        assert!(!ok(&kept("a", 3), None), "one from elsewhere");
        let ok = |stored: &Kept, file: Option<&Kept>| judge(stored, file, Dialect::Postgres).is_ok();
        assert!(ok(&kept("a", 3), None), "a machine that joins others");
        assert!(ok(&kept("a", 5), Some(&kept("a", 3))), "others were at work");
        assert!(!ok(&kept("a", 2), Some(&kept("a", 3))), "an older one put back");
        assert!(!ok(&kept("b", 3), Some(&kept("a", 3))), "another one");
        assert!(!ok(&kept("b", 0), Some(&kept("a", 3))), "a new one in the place of a lost one");
    }
}
