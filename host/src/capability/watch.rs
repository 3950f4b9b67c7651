//! Until when a call may act on the world, and whether it has begun to.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::HostFault;
use crate::os::clock;

const BEGUN: u8 = 1;
const CLOSED: u8 = 2;

/// Shared by the store of a call and the tasks that send on its behalf.
///
/// A call that was not begun has certainly changed nothing, whatever became of the guest; one
/// that was begun is in doubt unless it answered. And nothing may be begun or sent once the
/// time has passed or the call has ended: whoever resolves the call counts on it.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    deadline_boot_us: u64,
    state: Arc<AtomicU8>,
    hindered: Arc<Mutex<Hindered>>,
}

/// What the host kept from a call: it explains an exception that the guest does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hindered {
    /// The last refusal, with the line of `latch.toml` that would allow it.
    pub(crate) denied: Option<String>,
    /// The last granted place that could not be reached, and why.
    pub(crate) unreachable: Option<String>,
}

impl Watch {
    pub(crate) fn until(deadline_boot_us: u64) -> Self {
        Self { deadline_boot_us, state: Arc::default(), hindered: Arc::default() }
    }

    /// The host refused something.
    pub(crate) fn deny(&self, said: String) {
        self.hindered.lock().unwrap_or_else(PoisonError::into_inner).denied = Some(said);
    }

    /// A granted place could not be reached.
    pub(crate) fn miss(&self, said: String) {
        self.hindered.lock().unwrap_or_else(PoisonError::into_inner).unreachable = Some(said);
    }

    /// What the host kept from the call so far.
    pub(crate) fn hindered(&self) -> Hindered {
        self.hindered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the time has passed, or the call has ended.
    pub(crate) fn check(&self) -> Result<(), HostFault> {
        let open = self.state.load(Ordering::SeqCst) & CLOSED == 0;
        if open && clock::boot_us() < self.deadline_boot_us { Ok(()) } else { Err(HostFault::Deadline) }
    }

    /// Time left.
    pub(crate) fn left(&self) -> std::time::Duration {
        std::time::Duration::from_micros(self.deadline_boot_us.saturating_sub(clock::boot_us()))
    }

    /// An operation that may change the world is about to be begun.
    pub(crate) fn begin(&self) -> Result<(), HostFault> {
        self.check()?;
        let begin = |state| if state & CLOSED == 0 { Some(state | BEGUN) } else { None };
        match self.state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, begin) {
            Ok(_) => Ok(()),
            Err(_) => Err(HostFault::Deadline),
        }
    }

    /// End the call; says whether anything was begun. A task that is still about to begin, on
    /// another thread, does not after this.
    pub(crate) fn close(&self) -> bool {
        self.state.fetch_or(CLOSED, Ordering::SeqCst) & BEGUN != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_begins_after_the_deadline() {
        let late = Watch::until(clock::boot_us());
        assert_eq!(late.begin(), Err(HostFault::Deadline));
        assert!(!late.close());
        let early = Watch::until(clock::boot_us() + 60_000_000);
        early.clone().begin().unwrap();
        assert!(early.close(), "clones share what was begun");
    }

    #[test]
    fn nothing_begins_after_the_end() {
        let watch = Watch::until(clock::boot_us() + 60_000_000);
        assert!(!watch.close());
        assert_eq!(watch.clone().begin(), Err(HostFault::Deadline));
        assert_eq!(watch.check(), Err(HostFault::Deadline));
        assert!(!watch.close(), "what was refused was not begun");
    }
}
