//! Requests of others become events, in the order of their arrival. A request that no longer
//! applies is taken note of and changes nothing: it was acknowledged, and duplicates are answered alike.

use crate::event::{Body, PayloadRef, Verdict};
use crate::ids::{Hash, Slot};
use crate::state::{Call, Draft, Durable};
use crate::step::StepState;
use crate::storage::{InboxRow, Request};

use super::call::Invocation;
use super::{Context, compensation, confirm, gates, verdict, waits};

/// What to write about one inbox row. Where that does not take the row out, ask again behind it.
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
        // A job that is over is reopened before anything else happens: see `reopened`.
        Request::Retry | Request::Undo => Draft::default(),
    };
    Draft { inbox_done: vec![row.id], ..draft }
}

/// What to write about one inbox row of a job that is over: it changes nothing of what the job came to.
pub fn audited(durable: &Durable, row: &InboxRow) -> Draft {
    let by = row.decider();
    let draft = match &row.request {
        Request::LateEffect { slot, try_no } => late(durable, slot, *try_no),
        Request::Confirm { slot, gone } => confirm::accept(durable, slot, by, *gone),
        _ => Draft::default(),
    };
    Draft { inbox_done: vec![row.id], flush_now: true, ..draft }
}

/// The invocation of a slot, as its record has it.
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

/// The answer of a worker that had lost its lease.
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

/// The action that steps of this job wait for is over: they look again.
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
