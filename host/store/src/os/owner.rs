//! Lock file that a process holds while it lives. A free lock proves to other processes on the same kernel that
//! the owner is dead.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};

use latchwork_core::storage::{Clock, Owner, StoreError};

use crate::os::{file_lock, private_files};

/// This process as an owner of jobs. The lock is held until this value is dropped or the process ends in any way. The
/// file remains after the end of the process, because a free lock proves that the process is dead. A sweep removes the
/// file when no open job has a claim of this owner.
#[derive(Debug)]
pub struct OwnerLock {
    owner: Owner,
    _file: File,
}

impl OwnerLock {
    /// Creates and locks a file in `dir`. `content` must be random and new: it becomes the file's content and
    /// part of its name. `worker` is the name that people see.
    pub fn acquire(dir: &Path, worker: &str, content: &str, clock: &dyn Clock) -> Result<Self, StoreError> {
        let path = dir.join(format!("owner-{content}.lock"));
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            StoreError::Unavailable(format!("cannot {what} the lock file {}: {error}", path.display()))
        };
        private_files::create_directory(dir).map_err(|error| failed("create the directory of", &error))?;
        // Hold the sweep lock until the file is locked. Otherwise a sweep could remove the unlocked file as the
        // file of a dead owner.
        let _alone = lock_owner_dir(dir).map_err(|error| failed("prepare", &error))?;
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| failed("create", &error))?;
        // Lock the file before writing its content. Otherwise another process could find the content together with a
        // free lock, and would conclude that this process is dead.
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|error| failed("lock", &error))?;
        file.write_all(content.as_bytes()).map_err(|error| failed("write", &error))?;
        let meta = file.metadata().map_err(|error| failed("read", &error))?;
        let path = path.canonicalize().map_err(|error| failed("find", &error))?;
        let owner = Owner {
            worker: worker.to_owned(),
            boot_id: clock.boot_id(),
            lock_path: path.to_string_lossy().into_owned(),
            lock_dev: meta.dev(),
            lock_ino: meta.ino(),
            lock_content: content.to_owned(),
        };
        Ok(Self { owner, _file: file })
    }

    /// Returns the identity of this process, which is stored with each claim of the process.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }
}

/// Returns true if the lock file of the owner proves that the owner is dead: the file exists with the recorded device,
/// inode and content, and its lock is free. Returns false if nothing can be proved. The caller must have checked that
/// the owner belongs to the current boot of this machine.
pub fn is_owner_dead(owner: &Owner) -> bool {
    // The path comes from the database, which other hosts write to. A pipe at this path must not block, and a link is
    // no lock file.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(&owner.lock_path, flags, Mode::empty()).map(File::from) else { return false };
    let Ok(meta) = file.metadata() else { return false };
    if !meta.is_file() {
        return false;
    }
    if (meta.dev(), meta.ino()) != (owner.lock_dev, owner.lock_ino) {
        return false;
    }
    let mut content = String::new();
    let longest = owner.lock_content.len() as u64 + 1;
    if (&file).take(longest).read_to_string(&mut content).is_err() || content != owner.lock_content {
        return false;
    }
    // The check takes a shared lock. If two processes checked with exclusive locks at the same time, one check would
    // fail, and a dead owner would seem to be alive.
    flock(&file, FlockOperation::NonBlockingLockShared).is_ok()
}

/// Takes the lock of the directory. Only the process that holds this lock may create or sweep lock files.
pub(crate) fn lock_owner_dir(dir: &Path) -> std::io::Result<File> {
    file_lock::exclusive(&dir.join("owners.lock"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::clock::StoreClock;

    fn take(dir: &Path, content: &str) -> OwnerLock {
        OwnerLock::acquire(dir, "worker", content, &StoreClock::new().unwrap()).unwrap()
    }

    #[test]
    fn only_a_free_lock_proves_a_dead_owner() {
        let dir = tempfile::tempdir().unwrap();
        let lock = take(dir.path(), "one");
        let owner = lock.owner().clone();
        assert!(!is_owner_dead(&owner), "the owner lives");
        drop(lock);
        assert!(is_owner_dead(&owner));
        assert!(is_owner_dead(&owner), "a check changes nothing");
        assert!(!is_owner_dead(&Owner { lock_dev: owner.lock_dev + 1, ..owner.clone() }));
        assert!(!is_owner_dead(&Owner { lock_ino: owner.lock_ino + 1, ..owner.clone() }));
        for content in ["", "on", "oneone", "two"] {
            std::fs::write(&owner.lock_path, content).unwrap();
            assert!(!is_owner_dead(&owner), "content {content:?}");
        }
        std::fs::write(&owner.lock_path, "one").unwrap();
        assert!(is_owner_dead(&owner));
        std::fs::remove_file(&owner.lock_path).unwrap();
        assert!(!is_owner_dead(&owner), "an absent file proves nothing");
    }

    #[test]
    fn a_lock_file_is_not_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        drop(take(dir.path(), "one"));
        let again = OwnerLock::acquire(dir.path(), "worker", "one", &StoreClock::new().unwrap());
        assert!(matches!(again, Err(StoreError::Unavailable(_))));
    }
}
