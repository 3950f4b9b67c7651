//! Drafts that stop the step of a call: it is blocked until something changes, or skipped.

use crate::decide::blocked;
use crate::decide::types::Invocation;
use crate::event::{Body, WouldCall};
use crate::model::error::Code;
use crate::model::ids::Slot;
use crate::model::step::StepState;
use crate::state::{Durable, label};
use crate::storage::{Draft, Payload};

/// Returns true if the step of the call runs and can therefore be stopped. Another call of the same step may have
/// stopped the step already.
pub(crate) fn is_running(durable: &Durable, slot: &Slot) -> bool {
    let state = durable.job.step(&slot.step()).map(|step| step.state);
    matches!(state, Some(StepState::Ready | StepState::Running))
}

/// Skips the step of a call that a dry run does not make. The call is shown with its arguments.
pub(crate) fn skip_call(invocation: &Invocation) -> Draft {
    let slot = &invocation.slot;
    let call = (!slot.is_step()).then(|| {
        let (slot, operator) = (slot.clone(), invocation.operator.clone());
        Box::new(WouldCall { slot, operator, args: invocation.args_ref })
    });
    let skip = Body::StepSkipped { step_id: slot.step(), reason: Code::ModeForbids, because: None, call };
    let payload = Payload { label: label::args(slot), bytes: invocation.args.clone() };
    Draft { events: vec![skip], payloads: vec![payload], ..Draft::default() }
}

/// Blocks the step that waits for this call. Returns no event for a compensating call, because the whole job waits
/// for a compensating call.
pub(crate) fn block_step(slot: &Slot, reason: Code) -> Vec<Body> {
    if slot.is_compensation() { Vec::new() } else { vec![blocked(&slot.step(), slot, reason)] }
}
