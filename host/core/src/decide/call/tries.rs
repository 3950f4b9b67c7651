//! Facts about the tries of a call.

use crate::decide::Try;
use crate::decide::types::Invocation;
use crate::event::{Body, Verdict};
use crate::model::effect::{Effect, Provenance};
use crate::model::ids::{Operator, Slot};
use crate::model::retry::RetrySpec;
use crate::rules::retry;
use crate::state::Durable;

/// Returns the event `tool_invocation_started`, which a barrier contains.
pub(crate) fn started_event(invocation: &Invocation, started: &Try) -> Body {
    Body::ToolInvocationStarted {
        slot: invocation.slot.clone(),
        operator: invocation.operator.clone(),
        try_no: started.try_no,
        args: invocation.args_ref,
        first_attempt: started.first_attempt,
        timeout_ms: started.timeout_ms,
        action_key: invocation.action_key,
    }
}

/// Returns true if the call may be executed at all. A compensating call may be executed while the job
/// compensates. Any other call may be executed while the job is not aborting.
pub(crate) fn may_execute(durable: &Durable, slot: &Slot) -> bool {
    let job = &durable.job;
    if slot.is_compensation() { job.compensates() } else { !job.is_aborting() }
}

/// Returns true if the open try is a keyed retry of a try in doubt.
pub(crate) fn is_keyed_retry(durable: &Durable, slot: &Slot) -> bool {
    let verdict = durable.job.calls.get(slot).and_then(|call| call.verdict);
    matches!(verdict, Some((_, Verdict::Repeat)))
}

/// Returns an effect that was found in the effect store. Changes the provenance `executed` to `caught_up`. Every other
/// provenance stays.
pub(crate) fn mark_caught_up(effect: &Effect) -> Effect {
    let provenance = if effect.provenance.is_executed() { Provenance::CaughtUp } else { effect.provenance };
    Effect { provenance, ..effect.clone() }
}

/// Returns the retry overrides that apply to a call.
pub(crate) fn overrides(durable: &Durable, slot: &Slot, operator: &Operator) -> Option<RetrySpec> {
    let of_step = durable.job.plan.step(&slot.step()).and_then(|step| step.retry.as_ref());
    retry::overrides(of_step, durable.job.pinned(operator).and_then(|pinned| pinned.retry.as_ref()))
}
