//! Removes lock files that no open job needs any more.
//!
//! A lock file must remain while an open job has a claim of the file's owner. A worker that finds the claim checks the
//! lock file, and a free lock proves that the owner is dead.
//!
//! A sweep first finds the dead owners. A dead owner makes no new claims. The sweep then reads the stored claims. Last,
//! the sweep removes the files to which no claim refers.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::os::owner::lock_owner_dir;

/// Removes lock files.
pub(crate) fn remove(files: BTreeSet<PathBuf>) {
    for path in files {
        // Another process may have removed the file concurrently.
        if let Err(error) = fs::remove_file(&path)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::debug!("cannot remove the unneeded lock file {}: {error}", path.display());
        }
    }
}

/// Returns the lock files in a directory whose lock is free.
pub(crate) fn unlocked_files(dir: &Path) -> BTreeSet<PathBuf> {
    // A process that creates a lock file holds the lock of the directory until the file is locked. This function holds
    // the lock of the directory, so an unlocked file has no living owner.
    let Ok(_alone) = lock_owner_dir(dir) else { return BTreeSet::new() };
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let locks = entries.filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("owner-") && name.ends_with(".lock")
    });
    let free =
        |path: &PathBuf| File::open(path).is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_ok());
    // The caller compares these paths with the paths in the stored claims, which are canonical.
    locks.filter(free).filter_map(|path| path.canonicalize().ok()).collect()
}
