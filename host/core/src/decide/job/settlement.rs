//! Settles a job in which no step runs or can start: the job ends, waits or parks.

use crate::decide::call::action;
use crate::decide::common::{calls_in_doubt, recorded_invocation, single_event};
use crate::decide::job::advance::backoff_of_blocked;
use crate::decide::undo::compensation::undo_wait_reasons;
use crate::decide::{Context, Invocation};
use crate::event::{Body, Verdict};
use crate::model::error::Code;
use crate::model::job::JobState;
use crate::model::step::StepState;
use crate::plan::wait::{SHORT_WAIT_MS, WaitKind};
use crate::rules::ledger::RowState;
use crate::state::{Call, Durable, Step};
use crate::storage::{AttemptEnd, BatchKind, Draft};

/// State in which a job without running steps settles.
#[derive(Clone, Debug, PartialEq)]
pub enum JobSettlement {
    /// The job ends in this state.
    End(JobState),
    /// The job continues by itself at this time, in microseconds since 1970 UTC.
    WaitUntil(i64),
    /// The job waits for a decision or a request. The values are the reason and the slot that the job waits for.
    Park(Code, Option<crate::model::ids::Slot>),
}

/// Returns the state in which the job settles when no step runs or can start.
pub fn job_settlement(durable: &Durable) -> JobSettlement {
    let job = &durable.job;
    if job.is_aborting() {
        return aborting_settlement(durable);
    }
    let open: Vec<&Step> = job.steps.iter().filter(|step| !step.state.is_final()).collect();
    // A job does not complete while an effect still has to be confirmed.
    let asked = job.changes_to_accept().next().map(|failed| (Code::ConfirmationRequired, failed.slot.clone()));
    if open.is_empty() && asked.is_none() {
        return JobSettlement::End(final_state(durable));
    }
    let held = job.steps_on_hold();
    let times = open.iter().filter(|step| !held.contains(&step.id)).filter_map(|step| {
        step.retry_at_us.or_else(|| backoff_of_blocked(durable, step)).or_else(|| short_wait_end(durable, step))
    });
    if let Some(time_us) = times.min() {
        return JobSettlement::WaitUntil(time_us);
    }
    let waits = open.iter().find_map(|step| match step.state {
        StepState::WaitingApproval => Some((Code::RequiresApproval, crate::model::ids::Slot::of_step(&step.id))),
        StepState::Blocked => step.blocked.clone().map(|(slot, code)| (code, slot)),
        StepState::WaitingSignal => Some((wait_reason(durable, step), crate::model::ids::Slot::of_step(&step.id))),
        _ => None,
    });
    match asked.or(waits) {
        Some((code, slot)) => JobSettlement::Park(code, Some(slot)),
        None => JobSettlement::Park(Code::Internal, None),
    }
}

/// Returns the end of a wait that is short enough for the state `WAITING`, in microseconds since 1970 UTC. A
/// longer wait parks the job.
fn short_wait_end(durable: &Durable, step: &Step) -> Option<i64> {
    let wait = durable.job.open_wait(&step.id).filter(|wait| !wait.park)?;
    let short_us = i64::from(SHORT_WAIT_MS) * 1_000;
    wait.until_us.filter(|until_us| until_us.saturating_sub(durable.job.last_us) <= short_us)
}

/// Returns the reason why a wait step is not finished.
pub(crate) fn wait_reason(durable: &Durable, step: &Step) -> Code {
    match durable.job.waits.get(&step.id).and_then(|wait| wait.kind) {
        Some(WaitKind::Timer) => Code::WaitingTimer,
        _ => Code::RequiresSignal,
    }
}

/// Returns a call in doubt of an aborting job. The job cannot end before this call is resolved. Returns `None` if no
/// call is in doubt, or if only a person can decide the calls in doubt.
pub fn next_call_in_doubt(durable: &Durable) -> Option<Invocation> {
    let job = &durable.job;
    if !job.is_aborting() {
        return None;
    }
    calls_in_doubt(durable).find_map(|row| {
        let blocked = job.step(&row.slot.step()).is_some_and(|step| step.state == StepState::Blocked);
        let is_over = job.step(&row.slot.step()).is_some_and(|step| step.state.is_final());
        let is_left_to_a_person = |call: &Call| match call.open_try {
            Some(open) => call.verdict == Some((open, Verdict::Unknown)),
            None => is_over && !call.committed,
        };
        let waits = blocked && !row.slot.is_compensation() || job.calls.get(&row.slot).is_some_and(is_left_to_a_person);
        let call = job.calls.get(&row.slot).filter(|_| !waits)?;
        Some(recorded_invocation(durable, &row.slot, call))
    })
}

/// Returns the draft that settles the job.
pub fn settle_job(durable: &Durable, rest: &JobSettlement, _context: &Context<'_>) -> Draft<BatchKind> {
    let (record, end) = match rest {
        JobSettlement::WaitUntil(time_us) => {
            let wake_at_us = Some(*time_us);
            (single_event(Body::JobWaiting { until_us: *time_us }), AttemptEnd::Waiting { wake_at_us })
        }
        JobSettlement::Park(reason, slot) => {
            let body = Body::JobParked { reason: *reason, slot: slot.clone(), cause: None };
            (single_event(body), AttemptEnd::Parked)
        }
        JobSettlement::End(state) => {
            let mut record = action::release_keys_at_end(durable);
            let open = durable.job.steps.iter().filter(|step| !step.state.is_final());
            record.events.extend(open.map(|step| Body::StepCancelled { step_id: step.id.clone() }));
            let failed = || Body::JobFailed { code: mismatch_code(durable).or_else(|| first_failure(durable)) };
            let (body, end) = match state {
                JobState::Completed => (Body::JobCompleted {}, AttemptEnd::Completed),
                JobState::Partial => (Body::JobPartial {}, AttemptEnd::Partial),
                JobState::Cancelled => (Body::JobCancelled {}, AttemptEnd::Cancelled),
                _ => (failed(), AttemptEnd::Failed),
            };
            record.events.push(body);
            (record, end)
        }
    };
    record.with_kind(BatchKind::EndAttempt(end))
}

fn final_state(durable: &Durable) -> JobState {
    let job = &durable.job;
    let dry = crate::decide::is_dry(job.header.mode);
    let good = |step: &Step| step.state == StepState::Succeeded || (dry && step.state == StepState::Skipped);
    if job.steps.iter().all(good) {
        JobState::Completed
    } else if job.steps.iter().any(|step| step.state == StepState::Succeeded) {
        JobState::Partial
    } else {
        JobState::Failed
    }
}

/// Returns the settlement of an aborting job. A job is aborting if it was cancelled or aborted, or if it undoes its
/// effects after a failure. The job ends when no call is in doubt and all compensations are settled.
fn aborting_settlement(durable: &Durable) -> JobSettlement {
    if let Some(row) = calls_in_doubt(durable).next() {
        return JobSettlement::Park(Code::IndeterminateEffect, Some(row.slot.clone()));
    }
    match undo_wait_reasons(durable).into_iter().next() {
        Some((_, _, Some(time_us))) => return JobSettlement::WaitUntil(time_us),
        Some((code, slot, None)) => return JobSettlement::Park(code, Some(slot)),
        None => {}
    }
    // If undoing was aborted, a compensating call in doubt must still be decided.
    let open = durable.job.open_compensation().and_then(|(slot, _)| durable.rows.get(slot));
    if let Some(row) = open.filter(|row| matches!(row.state, RowState::Inflight | RowState::Indeterminate)) {
        return JobSettlement::Park(Code::IndeterminateEffect, Some(row.slot.clone()));
    }
    if durable.job.cancel.is_some() {
        return JobSettlement::End(JobState::Cancelled);
    }
    if !durable.job.aborted {
        return JobSettlement::End(final_state(durable));
    }
    let any = durable.job.steps.iter().any(|step| step.state == StepState::Succeeded);
    JobSettlement::End(if any { JobState::Partial } else { JobState::Failed })
}

fn mismatch_code(durable: &Durable) -> Option<Code> {
    durable.job.ended_by_mismatch().map(|_| Code::ConfirmationMismatch)
}

fn first_failure(durable: &Durable) -> Option<Code> {
    durable.job.steps.iter().find_map(|step| step.failure.as_ref().map(|failure| failure.code))
}
