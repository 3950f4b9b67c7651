//! Until when a call may act on the world, and whether it has begun to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::HostFault;
use crate::os::clock;

/// Shared by the store of a call and the tasks that send on its behalf.
///
/// A call that was not begun has certainly changed nothing, whatever became of the guest; one
/// that was begun is in doubt unless it answered. And nothing may be begun or sent once the
/// time has passed: whoever resolves the call counts on it.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    deadline_boot_us: u64,
    begun: Arc<AtomicBool>,
}

impl Watch {
    pub(crate) fn until(deadline_boot_us: u64) -> Self {
        Self { deadline_boot_us, begun: Arc::default() }
    }

    /// Whether the time has passed.
    pub(crate) fn check(&self) -> Result<(), HostFault> {
        if clock::boot_us() < self.deadline_boot_us { Ok(()) } else { Err(HostFault::Deadline) }
    }

    /// Time left.
    pub(crate) fn left(&self) -> std::time::Duration {
        std::time::Duration::from_micros(self.deadline_boot_us.saturating_sub(clock::boot_us()))
    }

    /// An operation that may change the world is about to be begun.
    pub(crate) fn begin(&self) -> Result<(), HostFault> {
        self.check()?;
        self.begun.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// Whether one was.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_begins_after_the_deadline() {
        let late = Watch::until(clock::boot_us());
        assert_eq!(late.begin(), Err(HostFault::Deadline));
        assert!(!late.has_begun());
        let early = Watch::until(clock::boot_us() + 60_000_000);
        assert!(!early.has_begun());
        early.clone().begin().unwrap();
        assert!(early.has_begun(), "clones share what was begun");
    }
}
