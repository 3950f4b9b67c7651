//! Writes of ledger rows, mainly for calls that are not executed: answered calls, refused calls and calls in doubt.

use crate::decide::call::action;
use crate::decide::call::ledger_row::{replace_row, unexecuted_row};
use crate::decide::call::tries::overrides;
use crate::decide::types::{Invocation, NextAction};
use crate::decide::{Context, Try};
use crate::event::{Body, RefusedCall};
use crate::model::divergence::Divergence;
use crate::model::effect::{Answer, Effect, Provenance};
use crate::model::error::{Code, Failure};
use crate::model::ids::Slot;
use crate::model::manifest::RecoveryClass;
use crate::rules::ledger::{LedgerRow, RowState};
use crate::rules::retry;
use crate::state::{Call, Durable, label};
use crate::storage::Draft;

/// Returns the recorded final answer. Repairs the row first if the log is ahead of the row.
pub(crate) fn recorded_answer(durable: &Durable, slot: &Slot) -> NextAction {
    if let Some(row) = durable.rows.get(slot)
        && !row.state.is_final()
    {
        return NextAction::Write(repair(durable, row));
    }
    let call = durable.job.calls.get(slot);
    if !call.is_some_and(|call| call.committed) {
        // A final row without its events is a divergence, because the log is the authority.
        return NextAction::Diverge(Divergence::new(
            slot,
            "call",
            "final answer",
            "a final ledger row".to_owned(),
            "no command_committed event".to_owned(),
        ));
    }
    let Some(effect) = durable.answer(slot) else {
        return NextAction::Answer(Err(Failure::new(
            Code::Internal,
            format!("the recorded answer of {slot} is missing"),
        )));
    };
    NextAction::Answer(match &effect.answer {
        Answer::Ok(output) => Ok(output.result.clone()),
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => Err(failure.clone()),
    })
}

/// Returns the writes that a crash prevented: the write of the ledger row, and the write of the action key's
/// reservation. The crash came after the events were written.
fn repair(durable: &Durable, row: &LedgerRow) -> Draft {
    let slot = &row.slot;
    let finished = durable.job.calls.get(slot).and_then(|call| call.finished.as_ref());
    let ok = finished.is_some_and(|finished| finished.ok);
    let state = if ok { RowState::Committed } else { RowState::FailedFinal };
    let result_hash = finished.map(|finished| finished.answer.hash);
    let is_lost = durable.job.calls.get(slot).is_some_and(Call::is_lost);
    // The settling time still applies to a later verdict on a lost call.
    let next_try_us = row.next_try_us.filter(|_| is_lost);
    let ledger = vec![replace_row(durable, LedgerRow { state, result_hash, next_try_us, ..row.clone() })];
    let answer = durable.answer(slot);
    let receipt = match answer.as_deref().map(|effect| &effect.answer) {
        Some(Answer::Ok(output)) => Some(action::receipt(output)),
        _ => None,
    };
    let is_reused = finished.is_some_and(|finished| finished.provenance == Provenance::Reused);
    // A call that reused a receipt holds no key. The key of a lost call stays reserved, because the call may
    // have happened.
    let key = row.action_key.filter(|_| !is_reused && !is_lost && ok == receipt.is_some());
    let actions = action::settle_reservation(slot, &row.operator, key, receipt);
    Draft { ledger, actions, ..Draft::default() }
}

pub(crate) fn refuse(durable: &Durable, invocation: &Invocation, failure: Failure, context: &Context<'_>) -> Draft {
    let slot = &invocation.slot;
    let call = durable.job.calls.get(slot);
    let try_no = call.map_or(0, |call| call.tries + 1);
    let effect = Effect {
        slot: slot.clone(),
        try_no,
        answer: Answer::NotApplied(failure.clone()),
        provenance: Provenance::Executed,
        time_us: context.now_us,
        spent: None,
    };
    let (effects, effect) = action::store_once(durable, effect);
    let answer = durable.payload_ref(&label::answer(slot, try_no), &effect.to_bytes());
    let refused = Some(RefusedCall {
        operator: invocation.operator.clone(),
        args: invocation.args_ref,
        action_key: invocation.action_key,
    });
    let finished = Body::ToolInvocationFinished {
        slot: slot.clone(),
        try_no,
        ok: false,
        answer,
        provenance: Provenance::Executed,
        code: Some(failure.code),
        usage: None,
        spent: None,
        assumed_micro_usd: None,
        nondeterministic: false,
        refused,
    };
    let row = LedgerRow {
        state: RowState::FailedFinal,
        try_no,
        result_hash: Some(answer.hash),
        ..unexecuted_row(durable, invocation, context)
    };
    Draft {
        events: vec![finished, Body::CommandCommitted { slot: slot.clone() }],
        ledger: vec![replace_row(durable, row)],
        effects,
        ..Draft::default()
    }
}

/// Makes the last failure the final answer.
pub(crate) fn fail_final(durable: &Durable, slot: &Slot) -> Draft {
    let row = durable.rows.get(slot).expect("FailFinal is decided only with a row");
    let result_hash = durable.job.calls.get(slot).and_then(|c| c.finished.as_ref()).map(|f| f.answer.hash);
    Draft {
        events: vec![Body::CommandCommitted { slot: slot.clone() }],
        ledger: vec![replace_row(durable, LedgerRow { state: RowState::FailedFinal, result_hash, ..row.clone() })],
        actions: action::settle_reservation(slot, &row.operator, row.action_key, None),
        ..Draft::default()
    }
}

pub(crate) fn put_in_doubt(durable: &Durable, invocation: &Invocation, context: &Context<'_>) -> Draft {
    let slot = &invocation.slot;
    let call = durable.job.calls.get(slot);
    let old = durable.rows.get(slot);
    // A first try in doubt is resolved as soon as its process has ended. A later try in doubt first waits for a
    // backoff, as after a failure. A call that only a person can resolve waits for no backoff.
    let class = durable.job.pinned(&invocation.operator).map(|operator| operator.class);
    let by_itself = matches!(class, Some(RecoveryClass::Keyed | RecoveryClass::Queryable));
    let nth = Try::open(durable, slot).map_or(0, |open| open.earlier_tries(durable, slot));
    let backoff_us = || {
        let overrides = overrides(durable, slot, &invocation.operator);
        i64::from(retry::backoff_ms(nth, overrides.as_ref(), None, context.random as u32)) * 1000
    };
    let row = LedgerRow {
        state: RowState::Indeterminate,
        next_try_us: (nth > 0 && by_itself).then(|| context.now_us + backoff_us()),
        attempt: old.map_or(durable.job.attempt, |row| row.attempt),
        nonce: old.map_or(context.random, |row| row.nonce),
        try_no: call.map_or(0, |call| call.tries),
        first_attempt: call.map_or(durable.job.attempt, |call| call.first_attempt),
        world_changing: true,
        timeout_ms: invocation.timeout_ms,
        deadline_us: old.map_or(0, |row| row.deadline_us),
        ..unexecuted_row(durable, invocation, context)
    };
    Draft { ledger: vec![replace_row(durable, row)], ..Draft::default() }
}
