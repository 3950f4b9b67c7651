//! Granted folders that exist for one run only, for the check of a plugin.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Simulated fault of the granted folders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FolderFault {
    /// No fault.
    #[default]
    Fair,
    /// Every access fails.
    Broken,
    /// The change with this number, from 0, fails.
    ChangeRefused(u32),
}

/// Granted folders that are removed after a run. They are never flushed to a disk, and can have a fault.
#[derive(Debug, Default)]
pub struct ScratchFolders {
    fault: Mutex<FolderFault>,
    /// Number of changes that were tried since the last fault was set.
    changes: AtomicU32,
    is_used: AtomicBool,
    is_refused: AtomicBool,
}

impl ScratchFolders {
    /// Sets the fault of all later accesses.
    pub fn set_fault(&self, fault: FolderFault) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
        self.changes.store(0, Ordering::Relaxed);
    }

    /// Returns true if a file was opened, listed or changed since the last call of this function.
    pub fn was_used(&self) -> bool {
        self.is_used.swap(false, Ordering::Relaxed)
    }

    /// Returns true if a fault ever made an access fail.
    pub fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }

    /// Counts a change that is about to begin. Returns false if it fails.
    pub(crate) fn may_change(&self) -> bool {
        let number = self.changes.fetch_add(1, Ordering::Relaxed);
        self.may(|fault| fault == FolderFault::Broken || fault == FolderFault::ChangeRefused(number))
    }

    /// Returns false if a read that is about to begin fails.
    pub(crate) fn may_read(&self) -> bool {
        self.may(|fault| fault == FolderFault::Broken)
    }

    fn may(&self, is_refused: impl Fn(FolderFault) -> bool) -> bool {
        self.is_used.store(true, Ordering::Relaxed);
        let refused = is_refused(*self.fault.lock().unwrap_or_else(PoisonError::into_inner));
        self.is_refused.fetch_or(refused, Ordering::Relaxed);
        !refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_refuse_the_accesses_that_they_name() {
        let folders = ScratchFolders::default();
        assert!(!folders.was_used() && folders.may_read() && folders.may_change() && folders.was_used());
        assert!(!folders.was_used() && !folders.is_refused());
        folders.set_fault(FolderFault::ChangeRefused(1));
        assert_eq!([(); 3].map(|()| folders.may_change()), [true, false, true]);
        assert!(folders.may_read() && folders.is_refused());
        folders.set_fault(FolderFault::Broken);
        assert!(!folders.may_read() && !folders.may_change());
    }
}
