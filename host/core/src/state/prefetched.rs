//! Data of other jobs that a worker has read: reservations of action keys and reusable results.
//!
//! The data is not stored with the job and may be out of date. The store therefore checks it again in every write
//! that is based on it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::ids::{Slot, StepId};
use crate::rules::reuse::ReusableResult;
use crate::storage::ActionRow;

/// Data of other jobs that a worker has read, by the slot or step for which it was read.
#[derive(Clone, Debug, Default)]
pub struct Prefetched {
    /// Reservation of a call's action key, or `None` if the key is free.
    pub actions: BTreeMap<Slot, Option<ActionRow>>,
    /// Earlier result for a step, or `None` if there is no such result.
    pub outcomes: BTreeMap<StepId, Option<ReuseCandidate>>,
    /// True if the worker must read the reservation of an action key before it tries to reserve the key. Set after the
    /// store refused a reservation, or a registration to wait for a key.
    pub query_keys_first: bool,
}

/// An earlier result, with its output if the output is still stored.
#[derive(Clone, Debug)]
pub struct ReuseCandidate {
    /// Description of the earlier result.
    pub reusable: ReusableResult,
    /// The output of the earlier step, if it is still stored.
    pub output: Option<Arc<[u8]>>,
}

impl Prefetched {
    /// Forgets the reservations that were read for the calls of a step. The worker must then read them again.
    pub fn forget_step(&mut self, step: &StepId) {
        self.actions.retain(|slot, _| slot.step() != *step);
    }
}
