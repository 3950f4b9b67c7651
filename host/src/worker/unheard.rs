//! Barriers that nobody heard of: their commit got no answer, so they may be durable or not. Nothing was
//! executed under them. Where one is found durable, its own writer goes on (§4), in the time it began with.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use latchwork_core::decide::Try;
use latchwork_core::ids::Slot;

use super::run::Run;

/// One for each invocation: the try, and the boot-time clock from which its time counts.
#[derive(Default)]
pub(super) struct Unheard(Mutex<BTreeMap<Slot, (u64, u64)>>);

impl Unheard {
    fn known(&self) -> MutexGuard<'_, BTreeMap<Slot, (u64, u64)>> {
        self.0.lock().expect("nothing panics while it holds the list")
    }
}

impl Run {
    /// Notes a barrier before it is sent.
    pub(super) fn sends_barrier(&self, slot: &Slot, started: &Try, since_boot_us: u64) {
        self.unheard.known().insert(slot.clone(), (started.nonce, since_boot_us));
    }

    /// The barrier is durable and its call begins: from here on nobody may begin it again.
    pub(super) fn heard_barrier(&self, slot: &Slot) {
        self.unheard.known().remove(slot);
    }

    /// The nonce of a barrier that this worker sent and never heard of.
    pub(super) fn unheard_nonce(&self, slot: &Slot) -> Option<u64> {
        self.unheard.known().get(slot).map(|(nonce, _)| *nonce)
    }

    /// From when the time of a try counts: from before its barrier was sent, if that was earlier than now.
    pub(super) fn since(&self, slot: &Slot, started: &Try, now_boot_us: u64) -> u64 {
        let known = self.unheard.known();
        known.get(slot).filter(|(nonce, _)| *nonce == started.nonce).map_or(now_boot_us, |(_, since)| *since)
    }
}
