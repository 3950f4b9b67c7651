//! Barriers that nobody heard of: their commit got no answer, so they may be durable or not. Nothing was
//! executed under them. Where one is found durable, its own writer goes on (§4), in the time it began with.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use latchwork_core::decide::Try;
use latchwork_core::ids::Slot;
use latchwork_core::state::Draft;

use super::run::Run;

/// The last one of each invocation.
#[derive(Default)]
pub(super) struct Unheard(Mutex<BTreeMap<Slot, Sent>>);

/// A barrier that was sent.
struct Sent {
    /// The nonce of its try.
    nonce: u64,
    /// The boot-time clock from which the time of the try counts.
    since_boot_us: u64,
}

impl Unheard {
    fn known(&self) -> MutexGuard<'_, BTreeMap<Slot, Sent>> {
        self.0.lock().expect("nothing panics while it holds the list")
    }
}

impl Run {
    /// Notes the barrier in a draft before it is sent. Reads have none.
    pub(super) fn sends_barrier(&self, slot: &Slot, draft: &Draft, started: &Try, since_boot_us: u64) {
        if draft.acquire {
            self.unheard.known().insert(slot.clone(), Sent { nonce: started.nonce, since_boot_us });
        }
    }

    /// The barrier is durable and its call begins: from here on nobody may begin it again.
    pub(super) fn heard_barrier(&self, slot: &Slot) {
        self.unheard.known().remove(slot);
    }

    /// The nonce of a barrier that this worker sent and never heard of.
    pub(super) fn unheard_nonce(&self, slot: &Slot) -> Option<u64> {
        self.unheard.known().get(slot).map(|sent| sent.nonce)
    }

    /// From when the time of a try counts: from before its barrier was sent, if that was earlier than now.
    pub(super) fn since(&self, slot: &Slot, started: &Try, now_boot_us: u64) -> u64 {
        let known = self.unheard.known();
        known.get(slot).filter(|sent| sent.nonce == started.nonce).map_or(now_boot_us, |sent| sent.since_boot_us)
    }
}
