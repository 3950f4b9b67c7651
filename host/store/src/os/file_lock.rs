//! Locks on files beside the database.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::os::private_files;

/// Time after which a held lock is an error. Processes hold these locks in turn while they open a database or make a
/// few writes. A process that holds a lock longer is suspended or stuck. A longer timeout would only hide this fault.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);
/// Pause between two tries.
const RETRY_PAUSE: Duration = Duration::from_millis(5);

/// Takes the lock of a file. Creates the file if it is missing. The lock is held until the returned file is dropped.
/// Blocks the thread, and therefore must not be called on a thread of an async runtime.
pub(crate) fn exclusive(path: &Path) -> io::Result<File> {
    lock_within(path, LOCK_TIMEOUT)
}

fn lock_within(path: &Path, wait: Duration) -> io::Result<File> {
    let file = private_files::create_file(path)?;
    for _ in 0..=wait.as_millis() / RETRY_PAUSE.as_millis() {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) => std::thread::sleep(RETRY_PAUSE),
            Err(error) => return Err(error.into()),
        }
    }
    let message = format!("another process keeps it locked for {} s: resume or end that process", wait.as_secs());
    Err(io::Error::new(io::ErrorKind::WouldBlock, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_held_too_long_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.lock");
        let held = exclusive(&path).unwrap();
        let error = lock_within(&path, Duration::from_millis(20)).unwrap_err();
        assert!(error.to_string().contains("another process keeps it locked"), "{error}");
        drop(held);
        exclusive(&path).unwrap();
    }
}
