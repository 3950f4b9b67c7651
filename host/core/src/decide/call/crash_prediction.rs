//! Predicts how an open call would be handled if the process had crashed at the end of a log prefix.
//!
//! The prediction uses the decisions of a resuming worker. It starts from the events of the prefix and the ledger row
//! that the barrier wrote. The answer of the tool is missing.

use std::collections::BTreeMap;

use crate::decide::Context;
use crate::decide::call::next::next_action;
use crate::decide::common::recorded_invocation;
use crate::decide::types::{Invocation, NextAction};
use crate::event::{Body, Verdict};
use crate::model::ids::Slot;
use crate::model::manifest::{PinnedOperator, RecoveryClass};
use crate::model::rules::Rules;
use crate::rules::ledger::{LedgerRow, Quiescence, RowState};
use crate::state::{Call, Durable, Job, Prefetched};
use crate::storage::{Draft, StartCalls};

/// Checks the decision about a call that is open at the end of the prefix. Allowed decisions are a reconcile request,
/// a keyed retry, a decision of the policy, and leaving the call to a person. Calls that only read may also be
/// repeated.
///
/// # Errors
/// Returns a description of a decision that is not allowed.
pub fn check_open_call(whole: &Durable, prefix: &Job, slot: &Slot, call: &Call) -> Result<(), String> {
    let Some(operator) = prefix.pinned(&call.operator).filter(|operator| operator.is_world_changing()) else {
        return Ok(());
    };
    if call.open_try == Some(0) {
        // The call is about to reuse a receipt, so nothing was started.
        return Ok(());
    }
    let mut found = state_after_crash(whole, prefix, slot, call);
    let rules = Rules::default();
    // The rebuilt row has no deadline and the clock margin is 0, so no decision waits for the timeout of the
    // call.
    let context = Context { now_us: prefix.last_us, random: 0, rules: &rules, clock_margin_ms: 0 };
    let mut asked = recorded_invocation(&found, slot, call);
    match next_action(&found, &asked, &context) {
        NextAction::CheckOwner => {}
        other => return Err(format!("{} before checking whether its owner is quiescent", action_name(&other))),
    }
    asked.quiescence = Some(Quiescence::Quiescent);
    match next_action(&found, &asked, &context) {
        NextAction::Write(draft) if puts_in_doubt(&draft, slot) => {
            for write in &draft.ledger {
                found.rows.insert(slot.clone(), write.row().clone());
            }
        }
        other => return Err(format!("{} instead of being in doubt", action_name(&other))),
    }
    check_resolution_step(&found, &asked, operator, &context)
}

/// Checks that the next resolution step of a call in doubt executes the call only as a keyed retry.
fn check_resolution_step(
    found: &Durable,
    asked: &Invocation,
    operator: &PinnedOperator,
    context: &Context<'_>,
) -> Result<(), String> {
    match next_action(found, asked, context) {
        NextAction::Block(_) | NextAction::WaitMs(_) => Ok(()),
        NextAction::Reconcile { .. } if operator.reconcile => Ok(()),
        NextAction::Write(draft) if !executes(&draft) => Ok(()),
        NextAction::Execute { barrier: Some(barrier), .. }
            if operator.class == RecoveryClass::Keyed && repeats(&barrier, &asked.slot) =>
        {
            Ok(())
        }
        other => Err(format!("{} while in doubt", action_name(&other))),
    }
}

/// Returns the stored data as a crash at the end of the prefix would leave it.
fn state_after_crash(whole: &Durable, prefix: &Job, slot: &Slot, call: &Call) -> Durable {
    let row = LedgerRow {
        slot: slot.clone(),
        operator: call.operator.clone(),
        args_hash: call.args.hash,
        state: RowState::Inflight,
        // The row belongs to the attempt before `prefix.attempt`. The resuming worker has the attempt
        // `prefix.attempt`.
        attempt: prefix.attempt.saturating_sub(1),
        nonce: 0,
        try_no: call.tries,
        first_attempt: call.first_attempt,
        first_started_us: prefix.last_us,
        world_changing: true,
        timeout_ms: 0,
        deadline_us: 0,
        next_try_us: None,
        result_hash: None,
        action_key: call.action_key,
    };
    Durable {
        job: prefix.clone(),
        secret: whole.secret,
        rows: BTreeMap::from([(slot.clone(), row)]),
        effects: BTreeMap::new(),
        payloads: whole.payloads.clone(),
        compatible_inbox_ids: Vec::new(),
        prefetched: Prefetched::default(),
    }
}

fn puts_in_doubt(draft: &Draft, slot: &Slot) -> bool {
    let doubted = |row: &LedgerRow| row.slot == *slot && row.state == RowState::Indeterminate;
    draft.ledger.iter().any(|write| doubted(write.row())) && !executes(draft)
}

fn executes(draft: &Draft) -> bool {
    draft.events.iter().any(|body| matches!(body, Body::ToolInvocationStarted { .. }))
}

fn repeats(barrier: &Draft<StartCalls>, slot: &Slot) -> bool {
    let repeat =
        |body: &Body| matches!(body, Body::InvocationResolved { slot: of, verdict: Verdict::Repeat, .. } if of == slot);
    barrier.events.iter().any(repeat)
}

fn action_name(next: &NextAction) -> &'static str {
    match next {
        NextAction::Answer(_) => "answered",
        NextAction::Write(_) => "recorded",
        NextAction::Execute { .. } => "executed",
        NextAction::Reconcile { .. } => "reconciled",
        NextAction::CheckOwner => "checked for quiescence",
        NextAction::FindKeyHolder | NextAction::ReadSpending => "looked up",
        NextAction::WaitMs(_) => "waited for",
        NextAction::Block(_) => "left to a person",
        NextAction::StopOldCall => "stopped",
        NextAction::Diverge(_) => "diverged",
        NextAction::Abandon => "dropped",
    }
}
