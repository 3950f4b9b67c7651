//! Decides the next action for one invocation. The ledger's decision becomes a draft to write, an answer, or a
//! request to the worker.

use crate::decide::call::action::KeyState;
use crate::decide::call::barrier::continue_try;
use crate::decide::call::permission::execute_if_permitted;
use crate::decide::call::row::{fail_final, put_in_doubt, recorded_answer, refuse};
use crate::decide::call::stopped_step::block_step;
use crate::decide::call::tries::mark_caught_up;
use crate::decide::call::{action, budget, resolution};
use crate::decide::people::gates;
use crate::decide::types::{Invocation, NextAction};
use crate::decide::{Context, Try, WAIT_IN_PLACE_MS, answered};
use crate::model::divergence::Divergence;
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, Slot};
use crate::model::manifest::{PinnedOperator, PluginKind};
use crate::plan;
use crate::rules::ledger::{Caller, LedgerDecision as D, Quiescence, Rejection, SlotFacts};
use crate::rules::{ledger, policy};
use crate::state::Durable;
use crate::storage::{Draft, Record};

/// Returns the next action for the invocation.
pub fn next_action(durable: &Durable, invocation: &Invocation, context: &Context<'_>) -> NextAction {
    let job = &durable.job;
    let slot = &invocation.slot;
    let Some(planned) = job.plan.step(&slot.step()) else {
        return NextAction::Abandon;
    };
    let row = durable.rows.get(slot);
    let call = job.calls.get(slot);
    let mut over_budget = None;
    let forbidden = match forbidden(durable, planned, invocation) {
        Some(failure) => Some(failure),
        None => match budget::check(durable, invocation, context) {
            budget::BudgetCheck::Within => None,
            budget::BudgetCheck::NeedsMonthlySpending => return NextAction::ReadSpending,
            budget::BudgetCheck::Exceeded(event, failure) => {
                over_budget = Some(event);
                Some(failure)
            }
        },
    };
    let caller = Caller {
        attempt: job.attempt,
        current_attempt: job.attempt,
        nonce: invocation.nonce,
        operator: invocation.operator.clone(),
        args_hash: invocation.args_ref.hash,
        action_key: invocation.action_key,
        now_us: context.now_us,
    };
    let standing = action::key_state(durable, slot, &invocation.operator, invocation.action_key, &invocation.args);
    let open_effect = call.and_then(|call| call.open_try).and_then(|n| durable.effects.get(&(slot.clone(), n)));
    let found = SlotFacts {
        row,
        event: call.map(|call| (&call.operator, call.args.hash, call.action_key)),
        committed_event: call.is_some_and(|call| call.committed),
        open_effect: open_effect.is_some(),
        any_world_effect: has_stray_effect(durable, invocation),
        quiescence: invocation.quiescence.unwrap_or(Quiescence::Quiescent),
        forbidden: forbidden.as_ref().map(|failure| failure.code),
        owns_action_key: matches!(standing, KeyState::Keyless | KeyState::NotLookedUp | KeyState::Free),
    };
    match ledger::decide(&caller, &found) {
        D::Rejected(Rejection::Mismatch) => NextAction::Diverge(mismatch(durable, invocation)),
        D::Rejected(Rejection::Forbidden(Code::Cancelled)) => NextAction::Abandon,
        D::Rejected(Rejection::Forbidden(code)) => {
            let failure = forbidden.unwrap_or_else(|| Failure::new(code, "forbidden"));
            let mut draft = refuse(durable, invocation, failure, context);
            if let Some(event) = over_budget {
                // The refusal must be durable before the guest receives it. If a crash lost the refusal, a budget
                // raised later could change the answer at this slot.
                draft.events.insert(0, *event);
                draft.kind = Record::Flush;
            }
            NextAction::Write(draft)
        }
        D::Rejected(Rejection::Stale) => NextAction::Abandon,
        D::Rejected(Rejection::ActionInProgress) => handle_held_key(durable, invocation, standing, context),
        D::ReturnRecordedResult => recorded_answer(durable, slot),
        D::CatchUp => {
            let effect = open_effect.expect("catch-up is decided only with an effect");
            let started = Try::open(durable, slot).expect("catch-up is decided only with an open try");
            NextAction::Write(answered(durable, invocation, &started, mark_caught_up(effect), context))
        }
        D::Ladder => resolution::next_resolution_step(durable, invocation, context),
        D::Continue => continue_try(durable, invocation, context),
        // The log shows an open try at this slot, which this worker started earlier in the same attempt. The worker
        // checks the quiescence of this try before it continues, because a request of the try may still be in transit.
        D::StopOldCall => NextAction::StopOldCall,
        D::WaitOtherWorker { wait_ms } => NextAction::WaitMs(wait_ms),
        D::Indeterminate { .. } if row.is_some() && invocation.quiescence.is_none() => NextAction::CheckOwner,
        D::Indeterminate { .. } => NextAction::Write(put_in_doubt(durable, invocation, context)),
        D::WaitUntil(time_us) => backoff(slot, time_us, context),
        D::FailFinal => NextAction::Write(fail_final(durable, slot)),
        D::AllowExecute => execute_if_permitted(durable, planned, invocation, &standing, context),
    }
}

/// Handles a call whose action key another slot holds, in this job or in another job. An unknown holder is looked
/// up first.
///
/// If the holder has other arguments, the call is refused. If the holder has a receipt, the receipt becomes the
/// answer. Otherwise the step waits for the holder.
fn handle_held_key(
    durable: &Durable,
    invocation: &Invocation,
    standing: KeyState,
    context: &Context<'_>,
) -> NextAction {
    match standing {
        KeyState::Performed(holder, output) => {
            // The holder may have run under rules without this requirement.
            let unmet = policy::refuse_unmet(context.rules, &invocation.operator, output.result.as_bytes());
            NextAction::Write(match unmet {
                Some(failure) => refuse(durable, invocation, failure, context),
                None => action::reuse_receipt(durable, invocation, &holder, output, context),
            })
        }
        KeyState::InProgress(holder) => {
            NextAction::Block(action::wait_for_key_holder(&invocation.slot, &invocation.operator, holder))
        }
        KeyState::OtherArgs(holder) => {
            NextAction::Write(refuse(durable, invocation, action::other_args_failure(&holder), context))
        }
        KeyState::Keyless | KeyState::NotLookedUp | KeyState::Free => NextAction::FindKeyHolder,
    }
}

/// Returns true if the slot has an effect of a world-changing call. If the slot has such an effect but no ledger row,
/// the row was lost.
fn has_stray_effect(durable: &Durable, invocation: &Invocation) -> bool {
    let slot = &invocation.slot;
    // Try 0 is an answer of the host itself: a refusal or another job's receipt.
    let exists = durable.effects.range((slot.clone(), 1)..=(slot.clone(), u32::MAX)).next().is_some();
    exists && durable.job.pinned(&invocation.operator).is_some_and(PinnedOperator::is_world_changing)
}

fn forbidden(durable: &Durable, planned: &plan::PlanStep, invocation: &Invocation) -> Option<Failure> {
    let job = &durable.job;
    // Compensating calls are executed only in an aborting job, and an aborting job executes no other calls.
    if !crate::decide::call::tries::may_execute(durable, &invocation.slot) {
        return Some(Failure::new(Code::Cancelled, "the job is being cancelled"));
    }
    if let Some(failure) = &invocation.unusable {
        return Some(failure.clone());
    }
    let Some(operator) = job.pinned(&invocation.operator) else {
        let message = format!("no loaded plugin served the operator {} when the job was accepted", invocation.operator);
        return Some(Failure::new(Code::InvalidInput, message));
    };
    if operator.kind != PluginKind::Tool {
        let message = format!("{} is served by a step plugin; only tools can be called", invocation.operator);
        return Some(Failure::new(Code::InvalidInput, message));
    }
    if let Some(failure) = policy::forbids(job.header.mode, planned, operator) {
        return Some(failure);
    }
    gates::closed_gate_failure(job.gates.get(&invocation.slot)?)
}

fn backoff(slot: &Slot, time_us: i64, context: &Context<'_>) -> NextAction {
    let wait_ms = u32::try_from((time_us - context.now_us).max(0) / 1000 + 1).unwrap_or(u32::MAX);
    if wait_ms <= WAIT_IN_PLACE_MS || slot.is_step() {
        return NextAction::WaitMs(wait_ms);
    }
    NextAction::Block(Draft { events: block_step(slot, Code::RetryScheduled), ..Draft::default() })
}

fn mismatch(durable: &Durable, invocation: &Invocation) -> Divergence {
    let slot = &invocation.slot;
    let recorded = durable.job.calls.get(slot).map(|call| (call.operator.clone(), call.args.hash));
    let (operator, args) = recorded
        .or_else(|| durable.rows.get(slot).map(|row| (row.operator.clone(), row.args_hash)))
        .expect("a mismatch is decided only against a row or an event");
    if operator != invocation.operator {
        return Divergence::new(slot, "call", "operator", operator.to_string(), invocation.operator.to_string());
    }
    let recorded = durable.job.calls.get(slot).map(|call| call.action_key);
    let recorded = recorded.or_else(|| durable.rows.get(slot).map(|row| row.action_key)).flatten();
    if args == invocation.args_ref.hash && recorded != invocation.action_key {
        let word = |key: Option<Hash>| key.map_or_else(|| "none".to_owned(), Hash::to_hex);
        return Divergence::new(slot, "call", "action key", word(recorded), word(invocation.action_key));
    }
    let kept = durable.args(slot).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Divergence::new(
        slot,
        "call",
        "arguments",
        kept.unwrap_or_else(|| format!("salted hash {args}")),
        String::from_utf8_lossy(&invocation.args).into_owned(),
    )
}
