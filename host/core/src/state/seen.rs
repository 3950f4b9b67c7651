//! What a worker found of other jobs' work. It is never stored with the job and never decides
//! alone: whatever is written because of it is checked again where it is written.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ids::{Slot, StepId};
use crate::reuse::Reusable;
use crate::storage::ActionRow;

/// What was found, by who asked.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The reservation of a call's action key; none where the key is free.
    pub actions: BTreeMap<Slot, Option<ActionRow>>,
    /// An earlier result for a step; none where there is none.
    pub outcomes: BTreeMap<StepId, Option<Candidate>>,
    /// Whether reservations are looked at before anything is tried: one was refused already.
    pub look_first: bool,
}

/// An earlier result, and its bytes where they are still to be had.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What is known of it.
    pub reusable: Reusable,
    /// The output itself.
    pub output: Option<Arc<[u8]>>,
}

impl Seen {
    /// Forget what was found for the calls of a step.
    pub fn forget(&mut self, step: &StepId) {
        self.actions.retain(|slot, _| slot.step() != *step);
    }
}
