//! Decides whether a call that the ledger allows may begin. The decision depends on mode, policy, gates and
//! the state of the call's action key.

use std::sync::Arc;

use crate::decide::call::action::KeyState;
use crate::decide::call::barrier::start;
use crate::decide::call::row::refuse;
use crate::decide::call::stopped_step::{block_step, skip_call};
use crate::decide::call::tries::mark_caught_up;
use crate::decide::people::gate_rules::is_gated;
use crate::decide::people::gates;
use crate::decide::people::gates::{gate_hash, request_gate};
use crate::decide::types::{Invocation, NextAction};
use crate::decide::{Context, TRIES_MAX, answered, is_dry};
use crate::event::Verdict;
use crate::model::divergence::Divergence;
use crate::model::effect::{Answer, Effect, Provenance};
use crate::model::error::{Code, Failure};
use crate::model::ids::Slot;
use crate::model::manifest::{Determinism, PinnedOperator};
use crate::plan;
use crate::rules::policy;
use crate::state::{Call, Durable, label};
use crate::storage::{Draft, Payload, Record};

pub(crate) fn execute_if_permitted(
    durable: &Durable,
    planned: &plan::PlanStep,
    invocation: &Invocation,
    standing: &KeyState,
    context: &Context<'_>,
) -> NextAction {
    let job = &durable.job;
    let slot = &invocation.slot;
    let operator = job.pinned(&invocation.operator).expect("forbidden where it is not pinned");
    // A failed compensation that a person retries is subject to policy and gates again, like a first try.
    let anew = |call: &Call| slot.is_compensation() && call.tries == call.tries_before_round;
    let first = job.calls.get(slot).is_none_or(|call| call.is_unstarted() || anew(call));
    if let Some(spent) = job.calls.get(slot).and_then(exhausted_tries) {
        let message = format!("it was executed {spent} times, and each time it did not take effect");
        return NextAction::Write(refuse(
            durable,
            invocation,
            Failure::new(Code::DependencyUnavailable, message),
            context,
        ));
    }
    if first && is_dry(job.header.mode) && operator.is_world_changing() {
        return NextAction::Block(skip_call(invocation));
    }
    // The mode is not checked for a compensating call, because an effect may be undone in every mode.
    let mode = Some(job.header.mode).filter(|_| first && !slot.is_compensation());
    let withdrawn = mode.and_then(|mode| policy::refuse_withdrawn_mode(context.rules, mode, operator));
    let unverifiable = || policy::refuse_unverifiable(context.rules, &invocation.operator, operator).filter(|_| first);
    if let Some(failure) = withdrawn.or_else(unverifiable) {
        return NextAction::Write(refuse(durable, invocation, failure, context));
    }
    // No approval is requested for an action that was already performed, so the key holder is looked up first.
    if first && matches!(standing, KeyState::NotLookedUp) {
        let asks = !slot.is_step()
            && !job.gates.contains_key(slot)
            && is_gated(durable, context, planned, (&invocation.operator, operator), false);
        if asks || durable.prefetched.query_keys_first {
            return NextAction::FindKeyHolder;
        }
    }
    if first && let Some(next) = check_call_gate(durable, planned, invocation, operator, context) {
        return next;
    }
    let (barrier, started) = start(durable, invocation, operator, Provenance::Executed, context);
    if let Some(effect) = stored_model_answer(durable, slot, operator, started.try_no) {
        return NextAction::Write(answered(durable, invocation, &started, mark_caught_up(&effect), context));
    }
    NextAction::Execute { barrier, started }
}

/// Returns the number of executions in this round of retries if the last execution did not take effect and no try is
/// left. Returns `None` in all other cases.
fn exhausted_tries(call: &Call) -> Option<u32> {
    let spent = call.tries.saturating_sub(call.tries_before_round);
    let in_vain = call.verdict == Some((call.tries, Verdict::NotApplied));
    (in_vain && spent >= TRIES_MAX).then_some(spent)
}

/// Returns the stored answer of a model call. A crash in staged commit may have left the answer without its events.
/// The answer was paid for, so it is used. Any other read is repeated.
fn stored_model_answer(durable: &Durable, slot: &Slot, operator: &PinnedOperator, try_no: u32) -> Option<Arc<Effect>> {
    let asks = operator.determinism == Determinism::Stable && !operator.is_world_changing();
    let effect = durable.effects.get(&(slot.clone(), try_no)).filter(|_| asks)?;
    matches!(effect.answer, Answer::Ok(_)).then(|| effect.clone())
}

/// Handles the gate of a call inside a step plugin and of a compensating call. The gate of a plan step was
/// decided before the step ran.
fn check_call_gate(
    durable: &Durable,
    planned: &plan::PlanStep,
    invocation: &Invocation,
    operator: &PinnedOperator,
    context: &Context<'_>,
) -> Option<NextAction> {
    let job = &durable.job;
    let slot = &invocation.slot;
    let hash = gate_hash(operator, invocation.operator.as_str(), slot, &invocation.args, job.header.mode);
    match job.gates.get(slot) {
        Some(gate) if gate.hash != hash => {
            let divergence = Divergence::new(slot, "call", "approved arguments", gate.hash.to_hex(), hash.to_hex());
            Some(NextAction::Diverge(divergence))
        }
        Some(gate) if gate.decision.is_some() && gates::is_still_approved(durable, context, gate) => None,
        Some(gate) if gate.decision.is_none() => {
            Some(NextAction::Block(Draft { events: block_step(slot, Code::RequiresApproval), ..Draft::default() }))
        }
        found => {
            if slot.is_step() {
                return None;
            }
            // The compensation of a plan step follows the gate rules of the step itself.
            let own = slot.compensated().is_some_and(|of| of.is_step());
            let needed = || is_gated(durable, context, planned, (&invocation.operator, operator), own);
            if found.is_none() && !needed() {
                return None;
            }
            let (mut events, decided) =
                request_gate(durable, context, slot, hash, invocation.args_ref, &invocation.operator);
            let mut draft = Draft { kind: Record::Flush, ..Draft::default() };
            if found.is_none() && !durable.payloads.contains_key(&label::args(slot)) {
                draft.payloads.push(Payload { label: label::args(slot), bytes: invocation.args.clone() });
            }
            if decided {
                return Some(NextAction::Write(Draft { events, ..draft }));
            }
            events.extend(block_step(slot, Code::RequiresApproval));
            Some(NextAction::Block(Draft { events, ..draft }))
        }
    }
}
