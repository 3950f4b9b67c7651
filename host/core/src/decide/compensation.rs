//! Undoing what a job did (§10): one committed call after the other, the last one first, each as
//! an invocation of its own under the slot `<slot>~c`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::canon;
use crate::effect::{Answer, Output};
use crate::error::Code;
use crate::event::{Body, Decider, Verdict};
use crate::ids::Slot;
use crate::keys;
use crate::ledger::{Row, RowState};
use crate::manifest::Pinned;
use crate::state::{Call, Compensation, CompensationEnd, Draft, Durable, Job, label};
use crate::storage::{InboxRow, Payload, Request, Resolved};

use super::call::Invocation;
use super::end::in_doubt;
use super::row::{self, write};
use super::{Context, Try, action, confirm, inbox, ladder};

/// What comes next of undoing.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "taken apart at once")]
pub enum Undo {
    /// Write this, then ask again.
    Write(Draft),
    /// Bring this invocation to its final answer, then ask again.
    Perform(Box<Invocation>),
}

/// What a job that undoes what it did does next; none where it is done, or waits.
pub fn undo(durable: &Durable, context: &Context<'_>) -> Option<Undo> {
    let job = &durable.job;
    if !job.is_given_up() || job.state.is_terminal() {
        return None;
    }
    if let Some((slot, compensation)) = job.open_compensation() {
        // Whether it is undone already is not clear: it is neither tried again nor taken as done.
        return if is_contradicted(job, slot) { None } else { under_way(durable, slot, compensation, context) };
    }
    let stands = !job.compensates()
        || in_doubt(durable).next().is_some()
        || !compensation_blocked(durable).is_empty()
        || job.failed_compensation().is_some();
    if stands {
        return None;
    }
    begin(durable, &job.next_to_undo()?).map(Undo::Write)
}

fn is_contradicted(job: &Job, slot: &Slot) -> bool {
    job.calls.get(slot).is_some_and(|call| call.conflict && !call.conflict_accepted)
}

/// Why nothing may be undone before somebody has said how, and which calls it is about: what there is
/// to undo is not clear.
pub(crate) fn compensation_blocked(durable: &Durable) -> Vec<(Code, Slot)> {
    let job = &durable.job;
    let conflicts = job.calls.keys().filter(|slot| is_contradicted(job, slot));
    let conflicts = conflicts.map(|slot| (Code::ResolutionConflict, slot));
    let mismatches = job.mismatches().map(|slot| (Code::ConfirmationMismatch, slot));
    // Nobody could tell, and nobody has said yet.
    let asked = job.asked().map(|failed| (Code::ConfirmationRequired, &failed.slot));
    let mut told = BTreeSet::new();
    let all = conflicts.chain(mismatches).chain(asked).filter(|(_, slot)| told.insert(*slot));
    all.map(|(code, slot)| (code, slot.clone())).collect()
}

/// What undoing waits for: each reason, the call, and the time where it goes on by itself.
pub(crate) fn undo_waits(durable: &Durable) -> Vec<(Code, Slot, Option<i64>)> {
    let job = &durable.job;
    if job.state.is_terminal() || !job.compensates() {
        return Vec::new();
    }
    if let Some((slot, _)) = job.open_compensation() {
        let wait = match is_contradicted(job, slot) {
            true => Some((Code::ResolutionConflict, None)),
            false => waits(durable, slot),
        };
        return wait.map(|(code, until_us)| (code, slot.clone(), until_us)).into_iter().collect();
    }
    let blocked = if job.next_to_undo().is_some() { compensation_blocked(durable) } else { Vec::new() };
    if !blocked.is_empty() {
        return blocked.into_iter().map(|(code, slot)| (code, slot, None)).collect();
    }
    job.failed_compensation().map(|slot| (Code::CompensationFailed, slot.clone(), None)).into_iter().collect()
}

fn waits(durable: &Durable, slot: &Slot) -> Option<(Code, Option<i64>)> {
    let job = &durable.job;
    if job.undecided(slot).is_some() {
        return Some((Code::RequiresApproval, None));
    }
    let call = job.calls.get(slot);
    let state = durable.rows.get(slot).map(|row| row.state);
    // The ladder has no further rung: a person decides.
    let told = call.is_none_or(|call| match (call.open_try, call.verdict) {
        (Some(open), Some((try_no, Verdict::Unknown))) => open == try_no,
        (open, _) => open.is_none(),
    });
    if state == Some(RowState::Indeterminate) && told && !call.is_some_and(|call| call.committed) {
        return Some((Code::IndeterminateEffect, None));
    }
    let call = call.filter(|call| call.open_try.is_none() && !call.committed)?;
    call.retry_at_us.map(|until_us| (Code::RetryScheduled, Some(until_us)))
}

fn under_way(durable: &Durable, slot: &Slot, compensation: &Compensation, context: &Context<'_>) -> Option<Undo> {
    let row = durable.rows.get(slot);
    let call = durable.job.calls.get(slot);
    if let Some(call) = call.filter(|call| call.committed && row.is_none_or(|row| row.state.is_final())) {
        return Some(Undo::Write(ended(durable, slot, call)));
    }
    let open = call.and_then(|call| call.open_try).and_then(|try_no| durable.effects.get(&(slot.clone(), try_no)));
    let is_answered = open.is_some_and(|effect| !matches!(effect.answer, Answer::Unknown { .. }));
    let is_early = |until_us: Option<i64>| until_us.is_none_or(|until_us| until_us > context.now_us);
    if !is_answered && waits(durable, slot).is_some_and(|(_, until_us)| is_early(until_us)) {
        return None;
    }
    // Where undoing was abandoned, what is on its way is followed to its end, and nothing else begins.
    let on_its_way = row.is_some_and(|row| matches!(row.state, RowState::Inflight | RowState::Indeterminate));
    if !durable.job.compensates() && !on_its_way && !call.is_some_and(|call| call.committed) {
        return None;
    }
    invocation(durable, slot, compensation).map(|invocation| Undo::Perform(Box::new(invocation)))
}

fn begin(durable: &Durable, of: &Slot) -> Option<Draft> {
    let (operator, own) = durable.job.undone_by(of)?;
    let slot = of.compensation();
    let bytes = canon::value_to_canonical(&arguments(durable, of)?);
    let args = durable.payload_ref(&label::args(&slot), &bytes);
    let payloads = vec![Payload { label: label::args(&slot), bytes }];
    let events = vec![Body::CompensationStarted { slot, operator, own, args }];
    // From here on nobody can be told that the action was performed.
    let actions = action::taken_back(durable, of);
    Some(Draft { events, payloads, actions, whole: true, ..Draft::default() })
}

/// What a compensation is called with: the call that it undoes, and what came of it.
pub(crate) fn arguments(durable: &Durable, of: &Slot) -> Option<Value> {
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
    put(&mut fields, "args", args.as_deref());
    put(&mut fields, "result", output.map(|output| output.result.as_str()));
    put(&mut fields, "receipt", output.and_then(|output| output.receipt.as_deref()));
    Some(Value::Object(fields))
}

/// A recorded text as a value; one that has no canonical form is given as the text that it is.
fn put(fields: &mut Map<String, Value>, name: &str, text: Option<&str>) {
    let canonical = text.and_then(|text| canon::canonicalize(text.as_bytes()).ok());
    let value = canonical.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if let (None, Some(text)) = (&value, text) {
        fields.insert(format!("{name}_text"), text.into());
    }
    fields.insert(name.to_owned(), value.unwrap_or(Value::Null));
}

fn invocation(durable: &Durable, slot: &Slot, compensation: &Compensation) -> Option<Invocation> {
    let job = &durable.job;
    let of = slot.compensated()?;
    let planned = job.plan.step(&of.step()).filter(|_| compensation.own && of.is_step());
    let pinned = job.pinned(&compensation.operator)?;
    Some(Invocation {
        slot: slot.clone(),
        operator: compensation.operator.clone(),
        args: durable.args(slot)?.to_vec(),
        args_ref: compensation.args,
        action_key: None,
        timeout_ms: planned.and_then(crate::plan::Step::timeout_ms).unwrap_or(pinned.limits.timeout_ms),
        unfit: None,
        nonce: None,
        quiescence: None,
        asked_enough: false,
        most_micro_usd: None,
        reserved_micro_usd: 0,
        month_micro_usd: None,
    })
}

/// The final answer of the call says how the compensation ended. The action that was undone is
/// free for others in the same write.
fn ended(durable: &Durable, slot: &Slot, call: &Call) -> Draft {
    let finished = call.finished.as_ref();
    let slot = slot.clone();
    if !finished.is_some_and(|finished| finished.ok) {
        let code = finished.and_then(|finished| finished.code).unwrap_or(Code::Internal);
        let events = vec![Body::CompensationFailed { slot, code }];
        return Draft { events, flush_now: true, ..Draft::default() };
    }
    let of = slot.compensated().and_then(|of| durable.rows.get(&of));
    let actions = of.map(|row| action::settled(&row.slot, &row.operator, row.action_key, None)).unwrap_or_default();
    let events = vec![Body::CompensationFinished { slot }];
    Draft { events, actions, flush_now: true, whole: true, ..Draft::default() }
}

/// The try in which a compensation that failed is taken up again: a word on it is about that one. None
/// where it did not fail.
pub(super) fn next_try_of_failed(durable: &Durable, slot: &Slot) -> Option<u32> {
    let failed = durable.job.failed_compensation() == Some(slot);
    durable.job.calls.get(slot).filter(|_| failed).map(|call| call.tries + 1)
}

/// What failed to be undone is left as it is. None for another verdict.
pub(super) fn left(durable: &Durable, slot: &Slot, verdict: &Resolved, by: &Decider) -> Option<Draft> {
    matches!(verdict, Resolved::Abort).then(|| resolve_left(durable, slot, by)).flatten()
}

/// Nobody will find out whether it was undone. None where it is no compensation, or for another verdict.
pub(super) fn lost(
    durable: &Durable,
    slot: &Slot,
    open: &Try,
    verdict: &Resolved,
    by: &Decider,
    context: &Context<'_>,
) -> Option<Draft> {
    let compensation = durable.job.compensations.get(slot)?;
    let call = durable.job.calls.get(slot)?;
    if compensation.end.is_some() || !matches!(verdict, Resolved::Abort) {
        return None;
    }
    let invocation = inbox::recorded_invocation(durable, slot, call);
    let lost = ladder::lost(durable, &invocation, open, &by.actor, by.reason.clone(), context);
    let failed = Body::CompensationFailed { slot: slot.clone(), code: Code::InvocationLost };
    let left = Body::CompensationLeft { slot: slot.clone(), by: by.clone() };
    let events = vec![failed, left];
    Some(lost.and(Draft { events, whole: true, ..Draft::default() }))
}

/// A failed compensation is in doubt again, before a person's word on it is taken like one on any
/// call in doubt. None where there is nothing to take up.
pub(super) fn taken_up(durable: &Durable, row: &InboxRow, by: &Decider, context: &Context<'_>) -> Option<Draft> {
    let Request::Resolve { slot, try_no, verdict: Resolved::Applied(_) | Resolved::NotApplied } = &row.request else {
        return None;
    };
    if next_try_of_failed(durable, slot) != Some(*try_no) {
        return None;
    }
    let (call, compensation) = (durable.job.calls.get(slot)?, durable.job.compensations.get(slot)?);
    // A crash between the events of a refusal and its row leaves the call without a row.
    let row = match durable.rows.get(slot) {
        Some(row) => row.clone(),
        None => row::unexecuted(durable, &invocation(durable, slot, compensation)?, context),
    };
    let row = Row {
        state: RowState::Indeterminate,
        try_no: call.tries + 1,
        nonce: context.random,
        next_try_us: None,
        result_hash: None,
        ..row
    };
    let events = vec![Body::CompensationReopened { slot: slot.clone(), by: by.clone() }];
    Some(Draft { events, ledger: vec![write(durable, row)], whole: true, ..Draft::default() })
}

/// What `--continue` means beyond going on: failed compensations are left as they are, and effects
/// that are not what was recorded are undone as they are.
pub(super) fn left_behind(durable: &Durable, by: &Decider) -> Draft {
    let job = &durable.job;
    let left = job.failed_compensation().and_then(|slot| resolve_left(durable, slot, by));
    let slots: BTreeSet<&Slot> = job.mismatches().filter(|_| job.compensates()).collect();
    let taken = slots.into_iter().map(|slot| confirm::accept(durable, slot, by.clone(), false));
    left.into_iter().chain(taken).fold(Draft::default(), Draft::and)
}

/// What could not be undone stays, and counts as done.
fn resolve_left(durable: &Durable, slot: &Slot, by: &Decider) -> Option<Draft> {
    let actions = action::given_again(durable, &slot.compensated()?);
    let events = vec![Body::CompensationLeft { slot: slot.clone(), by: by.clone() }];
    Some(Draft { events, actions, whole: true, ..Draft::default() })
}

/// How a call that took effect stands with regard to undoing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Its turn has not come.
    Waiting,
    /// It is its turn.
    UnderWay,
    /// It is undone.
    Compensated,
    /// It could not be undone, and somebody has to decide.
    Failed(Code),
    /// It was not undone, and stays so.
    Left(Option<Code>),
    /// Nothing can undo it.
    Impossible,
    /// Nobody knows whether there is anything to undo.
    Unknown,
}

/// Every call that took effect in a job that undoes what it did, in the order of undoing.
pub(crate) fn undone(durable: &Durable) -> Vec<(Slot, Standing, Option<Compensation>)> {
    let job = &durable.job;
    if !job.is_to_be_undone() && job.compensations.is_empty() {
        return Vec::new();
    }
    let goes_on = job.compensates() && !job.state.is_terminal();
    let why = job.ended_by_mismatch().map(|_| Code::ConfirmationMismatch);
    // What was to undo it may have happened.
    let is_in_doubt = |slot: &Slot| {
        let slot = slot.compensation();
        let open = durable.rows.get(&slot).is_some_and(|row| row.state == RowState::Indeterminate);
        open || job.calls.get(&slot).is_some_and(Call::is_lost)
    };
    let standing = |slot: &Slot, compensation: Option<&Compensation>| match compensation.map(|c| c.end) {
        Some(Some(CompensationEnd::Done)) => Standing::Compensated,
        Some(end) if !(goes_on && end.is_none()) && is_in_doubt(slot) => Standing::Unknown,
        Some(Some(CompensationEnd::Failed(code))) if goes_on => Standing::Failed(code),
        Some(Some(CompensationEnd::Failed(code) | CompensationEnd::Left(code))) => Standing::Left(Some(code)),
        Some(None) if goes_on => Standing::UnderWay,
        None if job.is_gone(slot) => Standing::Left(Some(Code::ConfirmationMismatch)),
        None if job.undone_by(slot).is_none() => Standing::Impossible,
        None if goes_on => Standing::Waiting,
        _ => Standing::Left(why),
    };
    let one = |(slot, _): (&Slot, &Call)| {
        let compensation = job.compensations.get(&slot.compensation());
        (slot.clone(), standing(slot, compensation), compensation.cloned())
    };
    let is_lost = |(slot, call): &(&Slot, &Call)| {
        let changing = job.pinned(&call.operator).is_some_and(Pinned::is_world_changing);
        !slot.is_compensation() && call.is_lost() && changing
    };
    let lost = job.calls.iter().filter(is_lost).map(|(slot, _)| (slot.clone(), Standing::Unknown, None));
    job.effects_in_reverse().into_iter().map(one).chain(lost).collect()
}

/// The recorded output of the call that a compensation undoes, as it was received.
pub fn undone_output(durable: &Durable, slot: &Slot) -> Option<Output> {
    match &durable.answer(&slot.compensated()?)?.answer {
        Answer::Ok(output) => Some(output.clone()),
        _ => None,
    }
}
