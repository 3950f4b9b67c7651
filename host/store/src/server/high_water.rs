//! Store of the high-water mark, in files outside the database. The mark is the number of the last transaction that
//! something outside the database relies on. Such a transaction starts a call, accepts a job or acknowledges a request.
//! A database behind the mark was restored from a backup.
//!
//! SQLite counts these transactions in `meta`. PostgreSQL numbers its transactions itself.
//!
//! A file is written after the transaction is durable and before any caller is notified. The file is not synced. A
//! killed process does not lose the write. A power failure may leave an older mark, which is harmless. Each acceptance
//! of a restored database starts a new file.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use latchwork_core::storage::StoreError;

use crate::os::private_files;

/// Number of slots in a file. Each slot has eight bytes, little-endian. Slot 0 records that the database was
/// once found to be behind the mark. Each process writes to one of the other slots. Several processes may share
/// a slot.
const SLOTS: u64 = 64;
const WIDTH: usize = 8;
const PREFIX: &str = "high-water-";

/// Position that a database has reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DatabasePosition {
    /// Number of times the database was accepted after a restore.
    pub(crate) accepted: i64,
    /// Number of the last transaction.
    pub(crate) number: i64,
}

/// High-water marks read from the files. Each acceptance of a restored database begins a new file. The key is the
/// number of this acceptance, and the value is the highest transaction number in the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownPositions(BTreeMap<i64, i64>);

impl KnownPositions {
    /// Returns the number of the last known acceptance.
    pub(crate) fn latest(&self) -> Option<i64> {
        self.0.keys().next_back().copied()
    }
}

/// High-water files of one database.
#[derive(Debug)]
pub(crate) struct HighWaterMark {
    dir: PathBuf,
    slot: u64,
    /// The file that this process writes to: the number of the acceptance to which the file belongs, the open file, and
    /// the last transaction number that this process wrote.
    open: Mutex<Option<(i64, File, i64)>>,
}

impl HighWaterMark {
    /// Returns the files in `dir`. `process_id` selects the slot to which this process writes.
    pub(crate) fn new(dir: &Path, process_id: u32) -> Self {
        let slot = 1 + u64::from(process_id) % (SLOTS - 1);
        Self { dir: dir.to_owned(), slot, open: Mutex::default() }
    }

    fn path(&self, accepted: i64) -> PathBuf {
        self.dir.join(format!("{PREFIX}{accepted}"))
    }

    fn file(&self, accepted: i64) -> io::Result<File> {
        private_files::open_file(&self.path(accepted))
    }

    /// Raises the mark to the number of a durable transaction that something outside the database relies on.
    pub(crate) fn raise(&self, reached: DatabasePosition) {
        if let Err(error) = self.try_raise(reached) {
            let dir = self.dir.display();
            tracing::warn!(%error, "cannot write the high-water mark in {dir}: a restored backup may go unnoticed");
        }
    }

    fn try_raise(&self, reached: DatabasePosition) -> io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.as_ref().is_none_or(|(accepted, ..)| *accepted != reached.accepted) {
            *open = Some((reached.accepted, self.file(reached.accepted)?, 0));
        }
        let Some((_, file, last)) = open.as_mut() else { return Ok(()) };
        if reached.number > *last {
            file.write_all_at(&reached.number.to_le_bytes(), self.slot * WIDTH as u64)?;
            *last = reached.number;
        }
        Ok(())
    }

    /// Reads the known positions. The caller must read the position of the database afterwards. In the reverse order,
    /// transactions that other processes write between the two reads would seem to be missing from the database.
    pub(crate) fn known_positions(&self) -> Result<KnownPositions, StoreError> {
        let mut known = KnownPositions::default();
        for (accepted, _) in self.files()? {
            known.0.insert(accepted, self.highest(accepted)?);
        }
        Ok(known)
    }

    /// Returns true if the position `reached` of the database is behind a known position. `reached` must be read after
    /// `known`, see [`known_positions`](Self::known_positions).
    ///
    /// If the transaction number of the database is lower than the mark, the file records that the database is behind.
    /// Further transactions do not remove this record. Only an acceptance of the database ends it.
    pub(crate) fn is_behind(&self, known: &KnownPositions, reached: DatabasePosition) -> Result<bool, StoreError> {
        if known.latest().is_some_and(|latest| latest > reached.accepted) {
            return Ok(true);
        }
        let behind = known.0.get(&reached.accepted).is_some_and(|number| *number > reached.number);
        if behind {
            let noted = self.file(reached.accepted).and_then(|file| file.write_all_at(&i64::MAX.to_le_bytes(), 0));
            noted.map_err(|error| self.failed(&error))?;
        }
        Ok(behind)
    }

    fn highest(&self, accepted: i64) -> Result<i64, StoreError> {
        let bytes = match fs::read(self.path(accepted)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(self.failed(&error)),
        };
        let (numbers, _) = bytes.as_chunks::<WIDTH>();
        Ok(numbers.iter().map(|number| i64::from_le_bytes(*number)).max().unwrap_or_default())
    }

    /// Removes the files of earlier acceptances.
    pub(crate) fn forget_before(&self, accepted: i64) -> Result<(), StoreError> {
        for (of, path) in self.files()? {
            if of < accepted {
                fs::remove_file(path).map_err(|error| self.failed(&error))?;
            }
        }
        Ok(())
    }

    fn files(&self) -> Result<Vec<(i64, PathBuf)>, StoreError> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.failed(&error)),
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| self.failed(&error))?;
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse().ok());
            files.extend(number.map(|number| (number, entry.path())));
        }
        Ok(files)
    }

    fn failed(&self, error: &io::Error) -> StoreError {
        let dir = self.dir.display();
        StoreError::Unavailable(format!("cannot read or write the high-water mark in {dir}: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(accepted: i64, number: i64) -> DatabasePosition {
        DatabasePosition { accepted, number }
    }

    fn behind(water: &HighWaterMark, reached: DatabasePosition) -> bool {
        water.is_behind(&water.known_positions().unwrap(), reached).unwrap()
    }

    /// A database does not count as behind if another process raises the mark after the known positions were
    /// read.
    #[test]
    fn concurrent_writes_do_not_look_missing() {
        let dir = tempfile::tempdir().unwrap();
        let (here, there) = (HighWaterMark::new(dir.path(), 1), HighWaterMark::new(dir.path(), 2));
        there.raise(position(0, 5));
        let known = here.known_positions().unwrap();
        let reached = position(0, 5);
        there.raise(position(0, 6));
        assert!(!here.is_behind(&known, reached).unwrap());
        assert!(!behind(&here, position(0, 6)));
    }

    #[test]
    fn database_below_high_water_mark_is_behind() {
        let dir = tempfile::tempdir().unwrap();
        let water = HighWaterMark::new(dir.path(), 1);
        assert!(!behind(&water, position(0, 0)), "nothing is known");
        water.raise(position(0, 7));
        water.raise(position(0, 5));
        assert!(!behind(&water, position(0, 7)));
        assert!(!behind(&water, position(0, 9)), "other processes wrote, or a process was killed");
        assert!(behind(&water, position(0, 6)));
        assert!(behind(&water, position(0, 100)), "once found behind it stays so");
        water.raise(position(0, 200));
        assert!(behind(&water, position(0, 200)));
        water.raise(position(1, 9));
        assert!(!behind(&water, position(1, 9)), "accepted");
        assert!(behind(&water, position(0, 300)), "from before the acceptance");
        water.forget_before(1).unwrap();
        assert_eq!(water.known_positions().unwrap().latest(), Some(1));
        assert!(!behind(&HighWaterMark::new(dir.path(), 1), position(1, 9)));
    }
}
