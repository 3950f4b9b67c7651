//! Barriers whose commit was never acknowledged. Such a barrier may or may not be durable, and its call was not
//! executed. If the barrier turns out to be durable, the worker that sent it continues with the call (semantics §4).
//! The timeout of the call still counts from the start of the original try.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use latchwork_core::decide::Try;
use latchwork_core::model::ids::Slot;

/// Last unacknowledged barrier of each invocation.
#[derive(Default)]
pub(crate) struct UnacknowledgedBarriers(Mutex<BTreeMap<Slot, SentBarrier>>);

/// Barrier that was sent and not acknowledged.
struct SentBarrier {
    /// Nonce of the try.
    nonce: u64,
    /// Boot-clock time from which the timeout of the try counts, in microseconds.
    since_boot_us: u64,
}

impl UnacknowledgedBarriers {
    fn lock_barriers(&self) -> MutexGuard<'_, BTreeMap<Slot, SentBarrier>> {
        self.0.lock().expect("nothing panics while it holds the list")
    }

    /// Notes the barrier of a try before the barrier is sent.
    pub(crate) fn note_barrier_sent(&self, slot: &Slot, started: &Try, since_boot_us: u64) {
        self.lock_barriers().insert(slot.clone(), SentBarrier { nonce: started.nonce, since_boot_us });
    }

    /// Removes the barrier of an invocation, because the barrier is durable and its call begins. Without the removal,
    /// this worker could start the call a second time under the same barrier.
    pub(crate) fn note_barrier_acknowledged(&self, slot: &Slot) {
        self.lock_barriers().remove(slot);
    }

    /// Returns the nonce of a barrier that this worker sent without getting an acknowledgement.
    pub(crate) fn pending_nonce(&self, slot: &Slot) -> Option<u64> {
        self.lock_barriers().get(slot).map(|sent| sent.nonce)
    }

    /// Returns the boot-clock time from which the timeout of a try counts. If the barrier of the try was already sent,
    /// returns the time noted with the barrier. Otherwise returns `now_boot_us`.
    pub(crate) fn try_started_boot_us(&self, slot: &Slot, started: &Try, now_boot_us: u64) -> u64 {
        let known = self.lock_barriers();
        known.get(slot).filter(|sent| sent.nonce == started.nonce).map_or(now_boot_us, |sent| sent.since_boot_us)
    }
}
