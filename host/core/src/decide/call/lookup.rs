//! Lookups in the store that a step needs before it can continue. The worker performs them.

use std::collections::BTreeSet;

use crate::decide::Context;
use crate::decide::call::action;
use crate::decide::call::action::{KeyState, step_action_key};
use crate::decide::job::reuse;
use crate::decide::people::gate_rules::is_gated;
use crate::model::ids::{Hash, Operator, Slot, StepId};
use crate::model::step::StepState;
use crate::state::Durable;

/// A lookup for the worker to perform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Find the holder of an action key before an approval is requested.
    Action {
        /// Slot of the call.
        slot: Slot,
        /// Operator of the call.
        operator: Operator,
        /// Action key of the call.
        key: Hash,
    },
    /// Find an earlier result for a step.
    Outcome {
        /// The step.
        step_id: StepId,
        /// Operator of the step.
        operator: Operator,
        /// Hash of the step's inputs.
        input_hash: Hash,
    },
}

/// Returns the lookups needed now. The list is empty in nearly every case.
pub fn needed_lookups(durable: &Durable, context: &Context<'_>, running: &BTreeSet<StepId>) -> Vec<Lookup> {
    let job = &durable.job;
    if job.is_aborting() {
        return Vec::new();
    }
    let ready = |step: &crate::state::Step| step.state == StepState::Ready && !running.contains(&step.id);
    let steps = job.steps.iter().zip(&job.plan.steps).filter(|(step, _)| ready(step));
    steps
        .filter_map(|(step, planned)| {
            let operator = job.pinned(&planned.name)?;
            if let Some(input_hash) = reuse::wanted_input_hash(durable, step, planned, operator) {
                let (step_id, operator) = (step.id.clone(), planned.name.clone());
                return Some(Lookup::Outcome { step_id, operator, input_hash });
            }
            let slot = Slot::of_step(&step.id);
            let asks =
                is_gated(durable, context, planned, (&planned.name, operator), true) && !job.gates.contains_key(&slot);
            if !asks || !matches!(action::planned_key_state(durable, planned), KeyState::NotLookedUp) {
                return None;
            }
            let key = step_action_key(durable, &slot).ok().flatten()?;
            Some(Lookup::Action { slot, operator: planned.name.clone(), key })
        })
        .collect()
}
