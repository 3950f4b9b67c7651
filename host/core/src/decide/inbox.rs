//! Turns inbox requests into events, in order of arrival. A request that no longer applies is removed from the
//! inbox and changes nothing. It was already acknowledged, and duplicates get the same answer.

use crate::event::{Body, PayloadRef, Verdict};
use crate::ids::{Hash, Slot};
use crate::state::{Call, Draft, Durable};
use crate::step::StepState;
use crate::storage::{InboxRow, Request};

use super::call::Invocation;
use super::{Context, compensation, confirm, gates, verdict, waits};

/// Returns the draft for one inbox row. If the draft does not remove the row, call this function again after
/// writing the draft.
pub fn inbox(durable: &Durable, row: &InboxRow, context: &Context<'_>) -> Draft {
    let by = row.decider();
    if let Some(draft) = compensation::taken_up(durable, row, &by, context) {
        return draft;
    }
    let draft = match &row.request {
        Request::Approve { slot, gate_hash } => gates::approve(durable, slot, *gate_hash, by, context),
        Request::Reject { slot, gate_hash } => gates::reject(durable, slot, *gate_hash, by),
        Request::Signal { key, payload } => waits::signal(durable, key, payload, &by.actor),
        Request::Timer { name, due_us } => waits::fire(durable, name, *due_us),
        Request::Resolve { slot, try_no, verdict } => verdict::resolve(durable, slot, *try_no, verdict, &by, context),
        Request::Confirm { slot, gone } => confirm::accept(durable, slot, by, *gone),
        Request::Continue => {
            one(Body::JobUnparked { cause: "continue".to_owned() }).and(compensation::left_behind(durable, &by))
        }
        Request::Abort => one(Body::JobUnparked { cause: "abort".to_owned() }),
        Request::Cancel if durable.job.cancel.is_none() => one(Body::JobCancelRequested { by }),
        Request::Cancel => Draft::default(),
        Request::LateEffect { slot, try_no } => late(durable, slot, *try_no),
        Request::KeySettled { key, .. } => key_settled(durable, *key),
        // A finished job is reopened before any other request is handled. See `reopened`.
        Request::Retry | Request::Undo => Draft::default(),
    };
    Draft { inbox_done: vec![row.id], ..draft }
}

/// Returns the draft for one inbox row of a finished job. The outcome of the job does not change.
pub fn audited(durable: &Durable, row: &InboxRow) -> Draft {
    let by = row.decider();
    let draft = match &row.request {
        Request::LateEffect { slot, try_no } => late(durable, slot, *try_no),
        Request::Confirm { slot, gone } => confirm::accept(durable, slot, by, *gone),
        _ => Draft::default(),
    };
    Draft { inbox_done: vec![row.id], flush_now: true, ..draft }
}

/// Rebuilds the invocation of a slot from its records.
pub(super) fn recorded_invocation(durable: &Durable, slot: &Slot, call: &Call) -> Invocation {
    let row = durable.rows.get(slot);
    Invocation {
        slot: slot.clone(),
        operator: call.operator.clone(),
        args: durable.args(slot).map(|bytes| bytes.to_vec()).unwrap_or_default(),
        args_ref: PayloadRef { ..call.args },
        action_key: row.and_then(|row| row.action_key),
        timeout_ms: row.map_or(0, |row| row.timeout_ms),
        unfit: None,
        nonce: None,
        quiescence: None,
        asked_enough: false,
        most_micro_usd: None,
        reserved_micro_usd: 0,
        month_micro_usd: None,
    }
}

pub(super) fn one(body: Body) -> Draft {
    Draft { events: vec![body], ..Draft::default() }
}

/// Handles the answer recorded by a worker that had lost its lease.
fn late(durable: &Durable, slot: &Slot, try_no: u32) -> Draft {
    let Some(call) = durable.job.calls.get(slot) else {
        return Draft::default();
    };
    if call.open_try == Some(try_no) {
        return unblock(durable, slot);
    }
    match call.verdicts.get(&try_no) {
        Some(Verdict::NotApplied | Verdict::Lost) => {
            let message = "an answer of the call came after it had been resolved".to_owned();
            one(Body::ResolutionConflict { slot: slot.clone(), try_no, message })
        }
        _ => Draft::default(),
    }
}

/// Unblocks the steps that wait for this action key, because the key holder's call has settled.
fn key_settled(durable: &Durable, key: Hash) -> Draft {
    let waits = |step: &&crate::state::Step| {
        step.state == StepState::Blocked && step.holder.as_ref().is_some_and(|holder| holder.action_key == key)
    };
    let unblocked = |step: &crate::state::Step| Body::StepUnblocked { step_id: step.id.clone() };
    Draft { events: durable.job.steps.iter().filter(waits).map(unblocked).collect(), ..Draft::default() }
}

pub(super) fn unblock(durable: &Durable, slot: &Slot) -> Draft {
    let step_id = slot.step();
    let waits = durable.job.step(&step_id).is_some_and(|step| {
        step.state == StepState::Blocked && step.blocked.as_ref().is_some_and(|(on, _)| on == slot)
    });
    if waits { one(Body::StepUnblocked { step_id }) } else { Draft::default() }
}
