//! How far work has gone, kept outside the database: the number of the last transaction that somebody
//! relies on (a call that may begin, an accepted job, a request). A database that has not come as far was
//! put back from a backup, however young that is.
//!
//! SQLite counts these transactions in `meta`; a server numbers its own. The file is written once the
//! transaction is durable, and before anybody hears of it; it is not synced, because a kill does not undo
//! it, and after a power failure it lags behind, which is harmless. Each acceptance of a restored
//! database begins another file.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use latchwork_core::storage::StoreError;

/// Numbers in a file, of eight bytes each, the lowest first. The first one says that the database was
/// once found behind; each process has one of the others, some perhaps the same.
const SLOTS: u64 = 64;
const WIDTH: usize = 8;
const PREFIX: &str = "high-water-";

/// Where a database stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    /// How often somebody accepted it as restored.
    pub(crate) accepted: i64,
    /// The last transaction.
    pub(crate) number: i64,
}

/// What is known outside the database, by acceptance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(BTreeMap<i64, i64>);

impl Known {
    /// The last acceptance.
    pub(crate) fn latest(&self) -> Option<i64> {
        self.0.keys().next_back().copied()
    }
}

/// The files of one database.
#[derive(Debug)]
pub(crate) struct HighWater {
    dir: PathBuf,
    slot: u64,
    /// The file that is written to, and what it holds of this process.
    open: Mutex<Option<(i64, File, i64)>>,
}

impl HighWater {
    pub(crate) fn new(dir: &Path) -> Self {
        let slot = 1 + u64::from(std::process::id()) % (SLOTS - 1);
        Self { dir: dir.to_owned(), slot, open: Mutex::default() }
    }

    fn path(&self, accepted: i64) -> PathBuf {
        self.dir.join(format!("{PREFIX}{accepted}"))
    }

    fn file(&self, accepted: i64) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(self.path(accepted))
    }

    /// A transaction is durable that somebody relies on.
    pub(crate) fn raise(&self, reached: Reached) {
        if let Err(error) = self.try_raise(reached) {
            let dir = self.dir.display();
            tracing::warn!(%error, "how far work has gone cannot be kept in {dir}: a backup may be put back unnoticed");
        }
    }

    fn try_raise(&self, reached: Reached) -> io::Result<()> {
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

    /// What is known here. It is asked for before the database is: what others write in between would
    /// else look as if it were missing.
    pub(crate) fn known(&self) -> Result<Known, StoreError> {
        let mut known = Known::default();
        for (accepted, _) in self.files()? {
            known.0.insert(accepted, self.highest(accepted)?);
        }
        Ok(known)
    }

    /// Whether the database has not come as far as was known before it was asked. Once it was found so it
    /// stays so, whatever is written to it, until it is accepted.
    pub(crate) fn is_behind(&self, known: &Known, reached: Reached) -> Result<bool, StoreError> {
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

    /// What was known before an acceptance is of no use any more.
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
        StoreError::Unavailable(format!("how far work has gone cannot be read or kept in {dir}: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(accepted: i64, number: i64) -> Reached {
        Reached { accepted, number }
    }

    fn behind(water: &HighWater, reached: Reached) -> bool {
        water.is_behind(&water.known().unwrap(), reached).unwrap()
    }

    /// Another process is at work between the two looks.
    #[test]
    fn what_is_written_while_the_database_is_asked_is_not_missing() {
        let dir = tempfile::tempdir().unwrap();
        let (here, there) = (HighWater::new(dir.path()), HighWater::new(dir.path()));
        there.raise(at(0, 5));
        let known = here.known().unwrap();
        let reached = at(0, 5);
        there.raise(at(0, 6));
        assert!(!here.is_behind(&known, reached).unwrap());
        assert!(!behind(&here, at(0, 6)));
    }

    #[test]
    fn a_database_that_has_not_come_as_far_is_behind() {
        let dir = tempfile::tempdir().unwrap();
        let water = HighWater::new(dir.path());
        assert!(!behind(&water, at(0, 0)), "nothing is known");
        water.raise(at(0, 7));
        water.raise(at(0, 5));
        assert!(!behind(&water, at(0, 7)));
        assert!(!behind(&water, at(0, 9)), "others were at work, or a process was killed");
        assert!(behind(&water, at(0, 6)));
        assert!(behind(&water, at(0, 100)), "once found behind it stays so");
        water.raise(at(0, 200));
        assert!(behind(&water, at(0, 200)));
        water.raise(at(1, 9));
        assert!(!behind(&water, at(1, 9)), "accepted");
        assert!(behind(&water, at(0, 300)), "of before it was accepted");
        water.forget_before(1).unwrap();
        assert_eq!(water.known().unwrap().latest(), Some(1));
        assert!(!behind(&HighWater::new(dir.path()), at(1, 9)));
    }
}
