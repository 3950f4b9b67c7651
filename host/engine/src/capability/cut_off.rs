//! Simulated death of the host in the middle of a call, for the check of a plugin.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Ends a call before one of its operations that may change the world, as if the host were killed there.
#[derive(Debug)]
pub struct CutOff {
    operations_left: AtomicU32,
    is_cut: AtomicBool,
}

impl CutOff {
    /// Lets a number of operations begin.
    pub fn after(operations: u32) -> Self {
        Self { operations_left: AtomicU32::new(operations), is_cut: AtomicBool::new(false) }
    }

    /// Returns true if an operation was prevented.
    pub fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::SeqCst)
    }

    /// Counts an operation that is about to begin. Returns false if it must not begin.
    pub(crate) fn may_begin(&self) -> bool {
        let one_less = |left: u32| left.checked_sub(1);
        let may = self.operations_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok();
        if !may {
            self.is_cut.store(true, Ordering::SeqCst);
        }
        may
    }
}
