//! In-memory store that needs no async runtime and no real clock. This store is the reference model: every other store
//! must behave exactly like this store. One conformance suite checks all stores.

mod clock;
mod costs;
mod job;
mod journal;
mod maps;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::model::ids::{Hash, JobId, Slot};
use crate::rules::reuse::ReusableResult;
use crate::storage::admit::{ActionId, ActionKeys};
use crate::storage::{Counters, MapName};
use job::MemoryJob;

pub use clock::ManualClock;

/// A store in memory.
pub struct Memory {
    clock: Arc<ManualClock>,
    clock_margin_ms: u32,
    state: Mutex<MemoryState>,
}

#[derive(Default)]
struct MemoryState {
    jobs: BTreeMap<JobId, MemoryJob>,
    requests: BTreeMap<Hash, JobId>,
    /// Job ids in the order of acceptance.
    order: Vec<JobId>,
    actions: ActionKeys,
    /// Reusable results by tenant, operator and input.
    reusables: BTreeMap<ActionId, ReusableResult>,
    /// Effects of jobs whose log is in another store (staged commit).
    effects: BTreeMap<JobId, BTreeMap<(Slot, u32), Vec<u8>>>,
    values: BTreeMap<(MapName, String), Vec<u8>>,
    /// Lease clock time at which the lock of a dead owner was first seen to be released. The key is the content of the
    /// owner's lock file.
    dead_since_us: BTreeMap<String, i64>,
    inbox_id: i64,
    costs: costs::Costs,
    counters: Counters,
}

impl Memory {
    /// Returns an empty store that uses this clock.
    pub fn new(clock: Arc<ManualClock>, clock_margin_ms: u32) -> Self {
        Self { clock, clock_margin_ms, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, MemoryState> {
        self.state.lock().expect("no holder of this lock panics")
    }
}
