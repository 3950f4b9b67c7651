//! Clock and process states that a test controls.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};

use crate::storage::{Clock, Owner};

/// A clock that advances only when a test sets it.
pub struct ManualClock(Mutex<ClockState>);

struct ClockState {
    now_us: i64,
    boot_us: i64,
    boot: u32,
    dead: BTreeSet<String>,
}

impl Default for ManualClock {
    fn default() -> Self {
        Self(Mutex::new(ClockState {
            now_us: 1_700_000_000_000_000,
            boot_us: 3_600_000_000,
            boot: 1,
            dead: BTreeSet::new(),
        }))
    }
}

impl ManualClock {
    /// Advances the wall clock and the lease clock.
    pub fn advance_ms(&self, ms: u32) {
        let mut hands = self.clock_state();
        hands.now_us += i64::from(ms) * 1000;
        hands.boot_us += i64::from(ms) * 1000;
    }

    /// Sets only the wall clock, as a person or a time server may do.
    pub fn set_now_us(&self, now_us: i64) {
        self.clock_state().now_us = now_us;
    }

    /// Simulates a reboot: a new boot id, and the lease clock starts at 0.
    pub fn reboot(&self) {
        let mut hands = self.clock_state();
        hands.boot += 1;
        hands.boot_us = 0;
    }

    /// Simulates the death of this owner's process, which releases the owner's lock.
    pub fn kill(&self, owner: &Owner) {
        self.clock_state().dead.insert(owner.lock_content.clone());
    }

    pub(super) fn is_dead(&self, owner: &Owner) -> bool {
        self.clock_state().dead.contains(&owner.lock_content)
    }

    fn clock_state(&self) -> MutexGuard<'_, ClockState> {
        self.0.lock().expect("no holder of this lock panics")
    }
}

impl Clock for ManualClock {
    fn now_us(&self) -> i64 {
        self.clock_state().now_us
    }
    fn boot_us(&self) -> i64 {
        self.clock_state().boot_us
    }
    fn boot_id(&self) -> String {
        format!("boot-{}", self.clock_state().boot)
    }
}
