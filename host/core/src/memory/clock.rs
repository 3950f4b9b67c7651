//! Time and the life of processes, as a test wants them.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};

use crate::storage::{Clock, Owner};

/// A clock that stands still until it is set.
pub struct ManualClock(Mutex<Hands>);

struct Hands {
    now_us: i64,
    boot_us: i64,
    boot: u32,
    dead: BTreeSet<String>,
}

impl Default for ManualClock {
    fn default() -> Self {
        Self(Mutex::new(Hands {
            now_us: 1_700_000_000_000_000,
            boot_us: 3_600_000_000,
            boot: 1,
            dead: BTreeSet::new(),
        }))
    }
}

impl ManualClock {
    /// Let time pass on both clocks.
    pub fn advance_ms(&self, ms: u32) {
        let mut hands = self.hands();
        hands.now_us += i64::from(ms) * 1000;
        hands.boot_us += i64::from(ms) * 1000;
    }

    /// Set the wall clock alone, as a person or a time server may.
    pub fn set_now_us(&self, now_us: i64) {
        self.hands().now_us = now_us;
    }

    /// Start the kernel anew: another boot id, the lease clock from 0.
    pub fn reboot(&self) {
        let mut hands = self.hands();
        hands.boot += 1;
        hands.boot_us = 0;
    }

    /// End the process of this owner: its lock is free from now on.
    pub fn kill(&self, owner: &Owner) {
        self.hands().dead.insert(owner.lock_content.clone());
    }

    pub(super) fn is_dead(&self, owner: &Owner) -> bool {
        self.hands().dead.contains(&owner.lock_content)
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.0.lock().expect("no holder of this lock panics")
    }
}

impl Clock for ManualClock {
    fn now_us(&self) -> i64 {
        self.hands().now_us
    }
    fn boot_us(&self) -> i64 {
        self.hands().boot_us
    }
    fn boot_id(&self) -> String {
        format!("boot-{}", self.hands().boot)
    }
}
