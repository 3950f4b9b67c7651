//! Removing lock files of owners that nobody asks about any more.
//!
//! A lock file proves that its owner is gone, to whoever finds a claim of that owner. Where no
//! open job has a claim of it, nobody will look for the proof. An absent file proves nothing, so
//! a file that is needed must stay: who is gone is found first (it can claim nothing more), then
//! what is claimed is read, and only then is anything removed.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use latchwork_core::storage::StoreError;
use rustix::fs::{FlockOperation, flock};

use crate::lock;
use crate::row::Stored;
use crate::script::Script;
use crate::statement::Name;
use crate::{Database, OwnerLock};

const NAMED: &str = "SELECT DISTINCT o.lock_path FROM jobs j JOIN claims c ON c.job = j.id JOIN owners o ON o.id = \
                     c.owner WHERE j.state <= 5";

impl Database {
    /// Removes lock files in `dir` that no claim of an open job names: those of owners that are
    /// gone, and this process's own, which must claim nothing afterwards.
    pub async fn sweep_owners(&self, dir: &Path, own: &OwnerLock) -> Result<(), StoreError> {
        let mut free = gone(dir);
        free.insert(PathBuf::from(&own.owner().lock_path));
        let rows = self.readers.run(Name::OWNERS_NAMED, Script::new(NAMED)).await?;
        for row in rows.iter().flatten() {
            free.remove(Path::new(&Stored::new(row, "owners").text()?));
        }
        for path in free {
            // Another process that sweeps at the same time may have been first.
            if let Err(error) = fs::remove_file(&path)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                tracing::debug!("{} is of no use and cannot be removed: {error}", path.display());
            }
        }
        Ok(())
    }
}

/// Lock files in a directory that nobody holds.
fn gone(dir: &Path) -> BTreeSet<PathBuf> {
    // Whoever makes its own file now holds this lock until that one is locked.
    let Ok(_alone) = alone(dir) else { return BTreeSet::new() };
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let locks = entries.filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("owner-") && name.ends_with(".lock")
    });
    let free =
        |path: &PathBuf| File::open(path).is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_ok());
    // As claims name them.
    locks.filter(free).filter_map(|path| path.canonicalize().ok()).collect()
}

/// One process at a time makes or looks over lock files.
pub(crate) fn alone(dir: &Path) -> std::io::Result<File> {
    lock::exclusive(&dir.join("owners.lock"))
}
