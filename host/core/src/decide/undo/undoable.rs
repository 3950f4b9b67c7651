//! Undo of a finished job (§10): the reasons to refuse an undo, and the reopening of the job.

use crate::decide::call::action;
use crate::event::{Body, ReopenPurpose};
use crate::model::error::Code;
use crate::model::ids::{JobId, Operator, Slot};
use crate::model::job::JobState;
use crate::state::{CompensationEnd, Durable};
use crate::storage::{ActionWrite, Draft, InboxRow, Record};

/// Reason why a job cannot be undone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UndoRefusal {
    /// The job is still open.
    #[error("job {job_id} is {}: only a COMPLETED, PARTIAL or FAILED job can be undone. To undo the effects \
             of an open job, cancel it: `latch job cancel {job_id}`", state.as_str())]
    Open {
        /// ID of the job.
        job_id: JobId,
        /// State of the job.
        state: JobState,
    },
    /// The job was already cancelled or undone.
    #[error("job {job_id} {}: each of its effects is undone or was left", ended(*by_undo))]
    Cancelled {
        /// ID of the job.
        job_id: JobId,
        /// True if the job was undone after its end.
        by_undo: bool,
    },
    /// No call of the job changed the world.
    #[error("job {job_id} has no committed effect: there is nothing to undo")]
    NoEffect {
        /// ID of the job.
        job_id: JobId,
    },
    /// Every effect is undone, or a person decided to leave it.
    #[error("every effect of job {job_id} is undone or was left by a person: there is nothing more to undo")]
    Undone {
        /// ID of the job.
        job_id: JobId,
    },
    /// No operator can undo the remaining effects.
    #[error(
        "nothing can undo the effects of job {job_id} ({}): the plugin exports no `compensate`, and the plan names no \
             `compensate_with`",
        list(slots)
    )]
    Impossible {
        /// ID of the job.
        job_id: JobId,
        /// Slots of the calls whose effects stay.
        slots: Vec<Slot>,
    },
    /// The job ended because an effect was not as recorded.
    #[error(
        "the effect of {slot} is not as recorded ({found}), which ended the job: an undo could destroy later changes \
             by others. Undo it by hand"
    )]
    NotConfirmed {
        /// Slot of the call.
        slot: Slot,
        /// The state that the verifier found.
        found: String,
    },
}

fn ended(by_undo: bool) -> &'static str {
    if by_undo { "was already undone" } else { "was cancelled" }
}

fn list(slots: &[Slot]) -> String {
    slots.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A call that an undo of the job would undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallToUndo {
    /// Slot of the call.
    pub slot: Slot,
    /// Operator of the call.
    pub operator: Operator,
    /// Operator that undoes the call.
    pub by: Operator,
    /// True if the call's own plugin undoes the call by its `compensate` export.
    pub own: bool,
}

/// Returns the calls that an undo of the job would undo, in the order of undoing.
///
/// # Errors
/// Returns the reason why the job cannot be undone.
pub fn calls_to_undo(durable: &Durable) -> Result<Vec<CallToUndo>, UndoRefusal> {
    let job = &durable.job;
    let job_id = || job.header.job_id.clone();
    match job.state {
        JobState::Completed | JobState::Partial | JobState::Failed => {}
        JobState::Cancelled => {
            return Err(UndoRefusal::Cancelled { job_id: job_id(), by_undo: job.undo.is_some() });
        }
        state => return Err(UndoRefusal::Open { job_id: job_id(), state }),
    }
    if let Some(failed) = job.ended_by_mismatch() {
        return Err(UndoRefusal::NotConfirmed { slot: failed.slot.clone(), found: failed.found.clone() });
    }
    let effects = job.effects_in_reverse();
    if effects.is_empty() {
        return Err(UndoRefusal::NoEffect { job_id: job_id() });
    }
    let open: Vec<_> = effects.into_iter().filter(|(slot, _)| !job.is_undo_finished(slot)).collect();
    if open.is_empty() {
        return Err(UndoRefusal::Undone { job_id: job_id() });
    }
    let one = |(slot, call): &(&Slot, &crate::state::Call)| {
        let (by, own) = job.undo_operator(slot)?;
        Some(CallToUndo { slot: (*slot).clone(), operator: call.operator.clone(), by, own })
    };
    let due: Vec<CallToUndo> = open.iter().filter_map(one).collect();
    if due.is_empty() {
        let slots = open.into_iter().map(|(slot, _)| slot.clone()).collect();
        return Err(UndoRefusal::Impossible { job_id: job_id(), slots });
    }
    Ok(due)
}

/// Reopens the job to undo its effects. Withdraws the receipts that were restored when an earlier compensation
/// was aborted.
pub(crate) fn reopen_for_undo(durable: &Durable, row: &InboxRow) -> Draft {
    let actions = withdraw_unsettled_receipts(durable);
    let (steps, calls) = (Vec::new(), Vec::new());
    let events = vec![Body::JobReopened { by: row.decider(), steps, calls, purpose: ReopenPurpose::Undo }];
    Draft { events, actions, inbox_done: vec![row.id], kind: Record::FlushWhole, ..Draft::default() }
}

/// Withdraws the receipts of unfinished compensations, for a job that was reopened for an undo without being
/// loaded. Returns an empty draft for every other job.
pub fn withdraw_receipts_after_unloaded_reopen(durable: &Durable) -> Draft {
    let job = &durable.job;
    let was_unread = matches!(job.parked, Some((Code::AttemptsExhausted, _)));
    let actions = if job.undo.is_some() && was_unread { withdraw_unsettled_receipts(durable) } else { Vec::new() };
    Draft { actions, kind: Record::LingerWhole, ..Draft::default() }
}

fn withdraw_unsettled_receipts(durable: &Durable) -> Vec<ActionWrite> {
    let undecided = durable
        .job
        .compensations
        .iter()
        .filter(|(_, compensation)| matches!(compensation.end, None | Some(CompensationEnd::Failed(_))));
    let of = undecided.filter_map(|(slot, _)| slot.compensated());
    of.flat_map(|of| action::withdraw_receipt(durable, &of)).collect()
}
