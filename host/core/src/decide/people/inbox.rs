//! Turns inbox requests into events, in order of arrival. A request that no longer applies, or that repeats an earlier
//! request, is removed from the inbox and changes nothing. Such a request causes no error, because it was acknowledged
//! when it arrived.

use crate::decide::Context;
use crate::decide::common::{single_event, unblock};
use crate::decide::job::{confirm, waits};
use crate::decide::people::{gates, verdict};
use crate::decide::undo::compensation;
use crate::event::{Body, Verdict};
use crate::model::error::Code;
use crate::model::ids::{Hash, Slot};
use crate::model::step::StepState;
use crate::state::Durable;
use crate::storage::{BatchKind, Draft, InboxRequest, InboxRow};

/// Returns the draft that removes a row from the inbox without an effect, because its proof is not valid.
pub fn discard_request(row: &InboxRow) -> Draft<BatchKind> {
    let draft: Draft = Draft { inbox_done: vec![row.id], ..Draft::default() };
    draft.into()
}

/// Returns the draft for one inbox row. The caller has checked the proof of the row. If the draft does not remove the
/// row, call this function again after writing the draft.
pub fn apply_request(durable: &Durable, row: &InboxRow, context: &Context<'_>) -> Draft<BatchKind> {
    let by = row.decider();
    if let Some(draft) = compensation::reopen_failed_compensation(durable, row, &by, context) {
        return draft.into();
    }
    let draft = match &row.request {
        InboxRequest::Approve { slot, gate_hash } => {
            gates::approve(durable, slot, *gate_hash, row.verified_decider(), context)
        }
        InboxRequest::Reject { slot, gate_hash } => gates::reject(durable, slot, *gate_hash, row.verified_decider()),
        InboxRequest::Signal { key, payload } => waits::apply_signal(durable, key, payload, &by.actor),
        InboxRequest::Timer { name, due_us } => {
            return Draft { inbox_done: vec![row.id], ..waits::fire_timer(durable, name, *due_us) };
        }
        InboxRequest::Resolve { slot, try_no, verdict } => {
            verdict::resolve(durable, slot, *try_no, verdict, &by, context)
        }
        InboxRequest::Confirm { slot, gone } => confirm::accept_change(durable, slot, by, *gone),
        InboxRequest::Continue => single_event(Body::JobUnparked { cause: "continue".to_owned() })
            .merge(unblock_waiters_for_changes(durable))
            .merge(compensation::continue_past_failures(durable, &by)),
        InboxRequest::Abort => single_event(Body::JobUnparked { cause: "abort".to_owned() }),
        InboxRequest::Cancel if durable.job.cancel.is_none() => single_event(Body::JobCancelRequested { by }),
        InboxRequest::Cancel => Draft::default(),
        InboxRequest::LateEffect { slot, try_no } => apply_late_effect(durable, slot, *try_no),
        InboxRequest::KeySettled { key, .. } => unblock_key_waiters(durable, *key),
        // `reopen_job` handles this request on a finished job. On an open job, the request changes nothing.
        InboxRequest::Retry | InboxRequest::Undo => Draft::default(),
    };
    Draft { inbox_done: vec![row.id], ..draft }.into()
}

/// Returns the draft for one inbox row of a finished job. The final state of the job does not change.
pub fn apply_audit_request(durable: &Durable, row: &InboxRow) -> Draft<BatchKind> {
    let by = row.decider();
    let draft = match &row.request {
        InboxRequest::LateEffect { slot, try_no } => apply_late_effect(durable, slot, *try_no),
        InboxRequest::Confirm { slot, gone } => confirm::accept_change(durable, slot, by, *gone),
        _ => Draft::default(),
    };
    Draft { inbox_done: vec![row.id], ..draft }.with_kind(BatchKind::Audit)
}

/// Handles the answer recorded by a worker that had lost its lease.
fn apply_late_effect(durable: &Durable, slot: &Slot, try_no: u32) -> Draft {
    let Some(call) = durable.job.calls.get(slot) else {
        return Draft::default();
    };
    if call.open_try == Some(try_no) {
        return unblock(durable, slot);
    }
    match call.verdicts.get(&try_no) {
        Some(Verdict::NotApplied | Verdict::Lost) => {
            let message = "an answer of the call came after it had been resolved".to_owned();
            single_event(Body::ResolutionConflict { slot: slot.clone(), try_no, message })
        }
        _ => Draft::default(),
    }
}

/// Unblocks the steps that wait until a person has changed something outside of the job: a grant, or the machine. The
/// next try uses the current grants.
fn unblock_waiters_for_changes(durable: &Durable) -> Draft {
    let waiting = durable.job.steps.iter().filter(|step| {
        let is_changed_outside = matches!(&step.blocked, Some((_, Code::GrantRequired | Code::MachineFault)));
        is_changed_outside && step.state == StepState::Blocked
    });
    let events = waiting.map(|step| Body::StepUnblocked { step_id: step.id.clone() }).collect();
    Draft { events, ..Draft::default() }
}

/// Unblocks the steps that wait for this action key, because the key holder's call has settled.
fn unblock_key_waiters(durable: &Durable, key: Hash) -> Draft {
    let waits = |step: &&crate::state::Step| {
        step.state == StepState::Blocked && step.key_holder.as_ref().is_some_and(|holder| holder.action_key == key)
    };
    let unblocked = |step: &crate::state::Step| Body::StepUnblocked { step_id: step.id.clone() };
    Draft { events: durable.job.steps.iter().filter(waits).map(unblocked).collect(), ..Draft::default() }
}
