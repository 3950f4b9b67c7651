//! Removes lock files that no open job needs any more.
//!
//! A worker that finds a claim checks the lock file of the claim's owner. A free lock proves that the owner is dead.
//! The file must therefore remain while an open job has a claim of the owner.
//!
//! A sweep first finds the dead owners. A dead owner makes no new claims. The sweep then reads the stored claims. Last,
//! it removes the files to which no claim refers.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use latchwork_core::storage::StoreError;
use rustix::fs::{FlockOperation, flock};

use crate::file_lock;
use crate::row::RowReader;
use crate::statement::StatementName;
use crate::statement_batch::StatementBatch;
use crate::{Database, OwnerLock};

const NAMED: &str = "SELECT DISTINCT o.lock_path FROM jobs j JOIN claims c ON c.job = j.id JOIN owners o ON o.id = \
                     c.owner WHERE j.state <= 5";

impl Database {
    /// Removes the lock files of dead owners and of this process from `dir`, unless a claim of an open job
    /// refers to the file. This process must not claim anything afterwards.
    pub async fn sweep_owners(&self, dir: &Path, own: &OwnerLock) -> Result<(), StoreError> {
        let mut free = unlocked_files(dir);
        free.insert(PathBuf::from(&own.owner().lock_path));
        let rows = self.readers.run(StatementName::OWNERS_NAMED, StatementBatch::new(NAMED)).await?;
        for row in rows.iter().flatten() {
            free.remove(Path::new(&RowReader::new(row, "owners").text()?));
        }
        for path in free {
            // Another process may have removed the file concurrently.
            if let Err(error) = fs::remove_file(&path)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                tracing::debug!("cannot remove the unneeded lock file {}: {error}", path.display());
            }
        }
        Ok(())
    }
}

/// Returns the lock files in a directory whose lock is free.
fn unlocked_files(dir: &Path) -> BTreeSet<PathBuf> {
    // A process that creates a lock file holds the lock of the directory until the new file is locked.
    let Ok(_alone) = lock_owner_dir(dir) else { return BTreeSet::new() };
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let locks = entries.filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("owner-") && name.ends_with(".lock")
    });
    let free =
        |path: &PathBuf| File::open(path).is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_ok());
    // Claims store canonical paths.
    locks.filter(free).filter_map(|path| path.canonicalize().ok()).collect()
}

/// Takes the lock of the directory. Only the process that holds this lock may create or sweep lock files.
pub(crate) fn lock_owner_dir(dir: &Path) -> std::io::Result<File> {
    file_lock::exclusive(&dir.join("owners.lock"))
}
