//! Undoes the effects of a job (§10). Committed calls are undone one at a time, the last call first. Each undo is an
//! invocation of its own under the slot `<slot>~c`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::decide::call::ledger_row::replace_row;
use crate::decide::call::{action, resolution};
use crate::decide::common::calls_in_doubt;
use crate::decide::job::confirm;
use crate::decide::types::Invocation;
use crate::decide::{Context, Try};
use crate::encoding::canon;
use crate::event::{Body, DecidedBy, Verdict};
use crate::model::effect::{Answer, Output};
use crate::model::error::Code;
use crate::model::ids::Slot;
use crate::model::keys;
use crate::model::manifest::PinnedOperator;
use crate::rules::ledger::{LedgerRow, RowState};
use crate::state::{Call, Compensation, CompensationEnd, Durable, Job, label};
use crate::storage::{Draft, InboxRequest, InboxRow, ManualVerdict, Payload, Record};

/// Next action of compensation.
#[derive(Clone, Debug)]
pub enum UndoAction {
    /// Write the draft, then call [`next_undo_action`] again.
    Write(Draft),
    /// Bring this invocation to its final answer, then call [`next_undo_action`] again.
    Perform(Box<Invocation>),
}

/// Returns the next action of a job that undoes its effects, or `None` if compensation is complete or waits.
pub fn next_undo_action(durable: &Durable, context: &Context<'_>) -> Option<UndoAction> {
    let job = &durable.job;
    if !job.is_aborting() || job.state.is_terminal() {
        return None;
    }
    if let Some((slot, compensation)) = job.open_compensation() {
        // If verdicts contradict each other, it is unknown whether the call is undone. The compensation is then not
        // retried and does not count as done.
        return if is_contradicted(job, slot) {
            None
        } else {
            continue_compensation(durable, slot, compensation, context)
        };
    }
    let stands = !job.compensates()
        || calls_in_doubt(durable).next().is_some()
        || !undo_blockers(durable).is_empty()
        || job.failed_compensation().is_some();
    if stands {
        return None;
    }
    begin_compensation(durable, &job.next_to_undo()?).map(UndoAction::Write)
}

fn is_contradicted(job: &Job, slot: &Slot) -> bool {
    job.calls.get(slot).is_some_and(|call| call.conflict && !call.conflict_accepted)
}

/// Returns the calls whose effects are in an unclear state, each with the reason. Nothing may be undone until a
/// person decides about these calls.
pub(crate) fn undo_blockers(durable: &Durable) -> Vec<(Code, Slot)> {
    let job = &durable.job;
    let conflicts = job.calls.keys().filter(|slot| is_contradicted(job, slot));
    let conflicts = conflicts.map(|slot| (Code::ResolutionConflict, slot));
    let mismatches = job.mismatches().map(|slot| (Code::ConfirmationMismatch, slot));
    // A slot may be in several of the three lists. The filter below keeps only the first entry of each slot.
    let asked = job.changes_to_accept().map(|failed| (Code::ConfirmationRequired, &failed.slot));
    let mut reported = BTreeSet::new();
    let all = conflicts.chain(mismatches).chain(asked).filter(|(_, slot)| reported.insert(*slot));
    all.map(|(code, slot)| (code, slot.clone())).collect()
}

/// Returns the reasons why compensation waits. Each entry has the reason, the slot of the call that causes the wait,
/// and the time at which compensation continues by itself. The time is in microseconds since 1970 UTC.
pub(crate) fn undo_wait_reasons(durable: &Durable) -> Vec<(Code, Slot, Option<i64>)> {
    let job = &durable.job;
    if job.state.is_terminal() || !job.compensates() {
        return Vec::new();
    }
    if let Some((slot, _)) = job.open_compensation() {
        let wait = match is_contradicted(job, slot) {
            true => Some((Code::ResolutionConflict, None)),
            false => compensation_wait(durable, slot),
        };
        return wait.map(|(code, until_us)| (code, slot.clone(), until_us)).into_iter().collect();
    }
    let blocked = if job.next_to_undo().is_some() { undo_blockers(durable) } else { Vec::new() };
    if !blocked.is_empty() {
        return blocked.into_iter().map(|(code, slot)| (code, slot, None)).collect();
    }
    job.failed_compensation().map(|slot| (Code::CompensationFailed, slot.clone(), None)).into_iter().collect()
}

fn compensation_wait(durable: &Durable, slot: &Slot) -> Option<(Code, Option<i64>)> {
    let job = &durable.job;
    if job.open_gate(slot).is_some() {
        return Some((Code::RequiresApproval, None));
    }
    let call = job.calls.get(slot);
    let state = durable.rows.get(slot).map(|row| row.state);
    // True if no automatic resolution step is left: the call has no open try, or the verdict on the open try is
    // `unknown`. If the call is in doubt, a person then decides.
    let is_left_to_a_person = call.is_none_or(|call| match (call.open_try, call.verdict) {
        (Some(open), Some((try_no, Verdict::Unknown))) => open == try_no,
        (open, _) => open.is_none(),
    });
    if state == Some(RowState::Indeterminate) && is_left_to_a_person && !call.is_some_and(|call| call.committed) {
        return Some((Code::IndeterminateEffect, None));
    }
    let call = call.filter(|call| call.open_try.is_none() && !call.committed)?;
    call.retry_at_us.map(|until_us| (Code::RetryScheduled, Some(until_us)))
}

fn continue_compensation(
    durable: &Durable,
    slot: &Slot,
    compensation: &Compensation,
    context: &Context<'_>,
) -> Option<UndoAction> {
    let row = durable.rows.get(slot);
    let call = durable.job.calls.get(slot);
    if let Some(call) = call.filter(|call| call.committed && row.is_none_or(|row| row.state.is_final())) {
        return Some(UndoAction::Write(end_compensation(durable, slot, call)));
    }
    let open = call.and_then(|call| call.open_try).and_then(|try_no| durable.effects.get(&(slot.clone(), try_no)));
    let is_answered = open.is_some_and(|effect| !matches!(effect.answer, Answer::Unknown { .. }));
    let is_early = |until_us: Option<i64>| until_us.is_none_or(|until_us| until_us > context.now_us);
    if !is_answered && compensation_wait(durable, slot).is_some_and(|(_, until_us)| is_early(until_us)) {
        return None;
    }
    // After compensation was aborted, a compensating call in flight or in doubt is still resolved. No other
    // compensating call begins.
    let on_its_way = row.is_some_and(|row| matches!(row.state, RowState::Inflight | RowState::Indeterminate));
    if !durable.job.compensates() && !on_its_way && !call.is_some_and(|call| call.committed) {
        return None;
    }
    compensation_invocation(durable, slot, compensation).map(|invocation| UndoAction::Perform(Box::new(invocation)))
}

fn begin_compensation(durable: &Durable, of: &Slot) -> Option<Draft> {
    let (operator, own) = durable.job.undo_operator(of)?;
    let slot = of.compensation();
    let bytes = canon::value_to_canonical(&compensation_arguments(durable, of)?);
    let args = durable.payload_ref(&label::args(&slot), &bytes);
    let payloads = vec![Payload { label: label::args(&slot), bytes }];
    let events = vec![Body::CompensationStarted { slot, operator, own, args }];
    // This write withdraws the receipt of the action, so that no other job reuses it.
    let actions = action::withdraw_receipt(durable, of);
    Some(Draft { events, payloads, actions, kind: Record::LingerWhole, ..Draft::default() })
}

/// Returns the arguments of a compensation: the call that it undoes and the answer of that call.
pub(crate) fn compensation_arguments(durable: &Durable, of: &Slot) -> Option<Value> {
    let call = durable.job.calls.get(of)?;
    let mut fields = Map::new();
    fields.insert("operator".to_owned(), call.operator.as_str().into());
    let key = keys::external_key(&durable.job.header.job_id, of, call.first_attempt);
    fields.insert("external_key".to_owned(), key.into());
    let args = durable.args(of).map(|args| String::from_utf8_lossy(&args).into_owned());
    let answer = durable.answer(of);
    let output = answer.as_deref().and_then(|effect| match &effect.answer {
        Answer::Ok(output) => Some(output),
        _ => None,
    });
    insert_recorded_text(&mut fields, "args", args.as_deref());
    insert_recorded_text(&mut fields, "result", output.map(|output| output.result.as_str()));
    insert_recorded_text(&mut fields, "receipt", output.and_then(|output| output.receipt.as_deref()));
    Some(Value::Object(fields))
}

/// Inserts a recorded text as a JSON value. A text without a canonical form is inserted as a string under
/// `<name>_text`, and `name` is null.
fn insert_recorded_text(fields: &mut Map<String, Value>, name: &str, text: Option<&str>) {
    let canonical = text.and_then(|text| canon::canonicalize(text.as_bytes()).ok());
    let value = canonical.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if let (None, Some(text)) = (&value, text) {
        fields.insert(format!("{name}_text"), text.into());
    }
    fields.insert(name.to_owned(), value.unwrap_or(Value::Null));
}

fn compensation_invocation(durable: &Durable, slot: &Slot, compensation: &Compensation) -> Option<Invocation> {
    let job = &durable.job;
    let of = slot.compensated()?;
    let planned = job.plan.step(&of.step()).filter(|_| compensation.is_self_undo && of.is_step());
    let pinned = job.pinned(&compensation.operator)?;
    Some(Invocation {
        slot: slot.clone(),
        operator: compensation.operator.clone(),
        args: durable.args(slot)?.to_vec(),
        args_ref: compensation.args,
        action_key: None,
        timeout_ms: planned.and_then(crate::plan::PlanStep::timeout_ms).unwrap_or(pinned.limits.timeout_ms),
        unusable: None,
        nonce: None,
        quiescence: None,
        reconcile_exhausted: false,
        max_cost_micro_usd: None,
        reserved_micro_usd: 0,
        month_micro_usd: None,
    })
}

/// Ends a compensation with the final answer of its call. On success, the same write releases the action key of
/// the undone call.
fn end_compensation(durable: &Durable, slot: &Slot, call: &Call) -> Draft {
    let finished = call.finished.as_ref();
    let slot = slot.clone();
    if !finished.is_some_and(|finished| finished.ok) {
        let code = finished.and_then(|finished| finished.code).unwrap_or(Code::Internal);
        let events = vec![Body::CompensationFailed { slot, code }];
        return Draft { events, kind: Record::Flush, ..Draft::default() };
    }
    let of = slot.compensated().and_then(|of| durable.rows.get(&of));
    let actions =
        of.map(|row| action::settle_reservation(&row.slot, &row.operator, row.action_key, None)).unwrap_or_default();
    let events = vec![Body::CompensationFinished { slot }];
    Draft { events, actions, kind: Record::FlushWhole, ..Draft::default() }
}

/// Returns the number of the try that would retry a failed compensation. Returns `None` if the compensation did not
/// fail.
///
/// A person's verdict on the failed compensation names this try number. A verdict with another number is outdated.
pub(crate) fn next_try_of_failed(durable: &Durable, slot: &Slot) -> Option<u32> {
    let failed = durable.job.failed_compensation() == Some(slot);
    durable.job.calls.get(slot).filter(|_| failed).map(|call| call.tries + 1)
}

/// Settles a failed compensation by leaving the effect of the original call in place. Returns `None` if the verdict
/// is not `abort`.
pub(crate) fn leave_failed_compensation(
    durable: &Durable,
    slot: &Slot,
    verdict: &ManualVerdict,
    by: &DecidedBy,
) -> Option<Draft> {
    matches!(verdict, ManualVerdict::Abort).then(|| leave_effect(durable, slot, by)).flatten()
}

/// Closes an open compensation whose outcome will stay unknown. Returns `None` if the slot has no open compensation
/// or the verdict is not `abort`.
pub(crate) fn mark_compensation_lost(
    durable: &Durable,
    slot: &Slot,
    open: &Try,
    verdict: &ManualVerdict,
    by: &DecidedBy,
    context: &Context<'_>,
) -> Option<Draft> {
    let compensation = durable.job.compensations.get(slot)?;
    let call = durable.job.calls.get(slot)?;
    if compensation.end.is_some() || !matches!(verdict, ManualVerdict::Abort) {
        return None;
    }
    let invocation = crate::decide::common::recorded_invocation(durable, slot, call);
    let lost = resolution::mark_lost(durable, &invocation, open, &by.actor, by.reason.clone(), context);
    let failed = Body::CompensationFailed { slot: slot.clone(), code: Code::InvocationLost };
    let left = Body::CompensationLeft { slot: slot.clone(), by: by.clone() };
    let events = vec![failed, left];
    Some(lost.merge(Draft { events, kind: Record::LingerWhole, ..Draft::default() }))
}

/// Puts a failed compensation in doubt again. A person's verdict on the compensation is then handled like a verdict on
/// any call in doubt. Returns `None` if the request is not the verdict `applied` or `not applied` on a failed
/// compensation.
pub(crate) fn reopen_failed_compensation(
    durable: &Durable,
    row: &InboxRow,
    by: &DecidedBy,
    context: &Context<'_>,
) -> Option<Draft> {
    let InboxRequest::Resolve { slot, try_no, verdict: ManualVerdict::Applied(_) | ManualVerdict::NotApplied } =
        &row.request
    else {
        return None;
    };
    if next_try_of_failed(durable, slot) != Some(*try_no) {
        return None;
    }
    let (call, compensation) = (durable.job.calls.get(slot)?, durable.job.compensations.get(slot)?);
    // The row is missing in one case: the compensating call was refused, and a crash came between the write of the
    // events and the write of the ledger row.
    let row = match durable.rows.get(slot) {
        Some(row) => row.clone(),
        None => crate::decide::call::ledger_row::unexecuted_row(
            durable,
            &compensation_invocation(durable, slot, compensation)?,
            context,
        ),
    };
    let row = LedgerRow {
        state: RowState::Indeterminate,
        try_no: call.tries + 1,
        nonce: context.random,
        next_try_us: None,
        result_hash: None,
        ..row
    };
    let events = vec![Body::CompensationReopened { slot: slot.clone(), by: by.clone() }];
    Some(Draft { events, ledger: vec![replace_row(durable, row)], kind: Record::LingerWhole, ..Draft::default() })
}

/// Returns the additional writes of `latch job resolve --continue`. If a compensation failed, leaves the effect of the
/// original call in place. Accepts the present state of each effect that differs from the record, so that compensation
/// can undo the effect in this state.
pub(crate) fn continue_past_failures(durable: &Durable, by: &DecidedBy) -> Draft {
    let job = &durable.job;
    let left = job.failed_compensation().and_then(|slot| leave_effect(durable, slot, by));
    let slots: BTreeSet<&Slot> = job.mismatches().filter(|_| job.compensates()).collect();
    let taken = slots.into_iter().map(|slot| confirm::accept_change(durable, slot, by.clone(), false));
    left.into_iter().chain(taken).fold(Draft::default(), Draft::merge)
}

/// Counts a failed compensation as settled. The effect of the original call stays, and the receipt of the original call
/// can be reused again.
fn leave_effect(durable: &Durable, slot: &Slot, by: &DecidedBy) -> Option<Draft> {
    let actions = action::restore_receipt(durable, &slot.compensated()?);
    let events = vec![Body::CompensationLeft { slot: slot.clone(), by: by.clone() }];
    Some(Draft { events, actions, kind: Record::LingerWhole, ..Draft::default() })
}

/// State of undoing for a call that took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UndoState {
    /// The compensation has not begun yet.
    Waiting,
    /// The compensation is in flight.
    InFlight,
    /// The call is undone.
    Compensated,
    /// The compensation failed, and a person has to decide.
    Failed(Code),
    /// The call was not undone, and its effect stays.
    Left(Option<Code>),
    /// No operator can undo the call.
    Impossible,
    /// It is unknown whether there is an effect to undo.
    Unknown,
}

/// Returns every call that took effect in a job that undoes its effects, in the order of undoing.
pub(crate) fn undo_states(durable: &Durable) -> Vec<(Slot, UndoState, Option<Compensation>)> {
    let job = &durable.job;
    if !job.wants_compensation() && job.compensations.is_empty() {
        return Vec::new();
    }
    let goes_on = job.compensates() && !job.state.is_terminal();
    let why = job.ended_by_mismatch().map(|_| Code::ConfirmationMismatch);
    // A compensating call that is in doubt or lost may have undone the effect.
    let is_in_doubt = |slot: &Slot| {
        let slot = slot.compensation();
        let open = durable.rows.get(&slot).is_some_and(|row| row.state == RowState::Indeterminate);
        open || job.calls.get(&slot).is_some_and(Call::is_lost)
    };
    let standing = |slot: &Slot, compensation: Option<&Compensation>| match compensation.map(|c| c.end) {
        Some(Some(CompensationEnd::Done)) => UndoState::Compensated,
        Some(end) if !(goes_on && end.is_none()) && is_in_doubt(slot) => UndoState::Unknown,
        Some(Some(CompensationEnd::Failed(code))) if goes_on => UndoState::Failed(code),
        Some(Some(CompensationEnd::Failed(code) | CompensationEnd::Abandoned(code))) => UndoState::Left(Some(code)),
        Some(None) if goes_on => UndoState::InFlight,
        None if job.is_effect_gone(slot) => UndoState::Left(Some(Code::ConfirmationMismatch)),
        None if job.undo_operator(slot).is_none() => UndoState::Impossible,
        None if goes_on => UndoState::Waiting,
        _ => UndoState::Left(why),
    };
    let one = |(slot, _): (&Slot, &Call)| {
        let compensation = job.compensations.get(&slot.compensation());
        (slot.clone(), standing(slot, compensation), compensation.cloned())
    };
    let is_lost = |(slot, call): &(&Slot, &Call)| {
        let changing = job.pinned(&call.operator).is_some_and(PinnedOperator::is_world_changing);
        !slot.is_compensation() && call.is_lost() && changing
    };
    let lost = job.calls.iter().filter(is_lost).map(|(slot, _)| (slot.clone(), UndoState::Unknown, None));
    job.effects_in_reverse().into_iter().map(one).chain(lost).collect()
}

/// Returns the recorded output of the call that a compensation undoes, exactly as received.
pub fn undone_output(durable: &Durable, slot: &Slot) -> Option<Output> {
    match &durable.answer(&slot.compensated()?)?.answer {
        Answer::Ok(output) => Some(output.clone()),
        _ => None,
    }
}
