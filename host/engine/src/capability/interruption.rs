//! Simulated death of the host in the middle of a call, for the check of a plugin.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Ends a call before one of its operations that may change the world, as if the host were killed there.
#[derive(Debug)]
pub struct Interruption {
    operations_left: AtomicU32,
    has_interrupted: AtomicBool,
}

impl Interruption {
    /// Lets a number of operations begin.
    pub fn after(operations: u32) -> Self {
        Self { operations_left: AtomicU32::new(operations), has_interrupted: AtomicBool::new(false) }
    }

    /// Returns true if an operation was prevented.
    pub fn has_interrupted(&self) -> bool {
        self.has_interrupted.load(Ordering::SeqCst)
    }

    /// Counts an operation that is about to begin. Returns false if it must not begin.
    pub(crate) fn may_begin(&self) -> bool {
        let one_less = |left: u32| left.checked_sub(1);
        let may = self.operations_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok();
        if !may {
            self.has_interrupted.store(true, Ordering::SeqCst);
        }
        may
    }
}
