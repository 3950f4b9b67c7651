//! Retry of a finished job (§10): failed work is tried again in the same job, with the same slots and external keys.

use crate::decide::Context;
use crate::decide::call::ledger_row::replace_row;
use crate::decide::undo::undoable;
use crate::event::{Body, ReopenPurpose};
use crate::model::error::Code;
use crate::model::ids::{JobId, Slot, StepId};
use crate::model::job::JobState;
use crate::model::manifest::PluginKind;
use crate::model::step::StepState;
use crate::rules::ledger::{LedgerRow, RowState};
use crate::state::{Call, Durable, Step};
use crate::storage::{Draft, InboxRequest, InboxRow, Record};

/// Reason why a job cannot be retried.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RetryRefusal {
    /// The job is not finished, or nothing in it failed.
    #[error("job {job_id} is {}: only a PARTIAL or FAILED job can be retried", state.as_str())]
    State {
        /// ID of the job.
        job_id: JobId,
        /// State of the job.
        state: JobState,
    },
    /// Effects of the job were undone.
    #[error("{slot} undid an effect of the job: fork the job with `latch job fork`, or submit it again")]
    Compensated {
        /// Slot of the compensation.
        slot: Slot,
    },
    /// An effect of the job was found to differ from the record.
    #[error(
        "the effect of {slot} is not as recorded ({found}), and the rest of the job would build on it: submit the job \
         again with `latch run PLAN --new`"
    )]
    NotConfirmed {
        /// Slot of the call.
        slot: Slot,
        /// The state that the verifier found.
        found: String,
    },
    /// The job was cancelled or aborted.
    #[error("step {step} was cancelled together with the job: submit the job again with `latch run PLAN --new`")]
    StepCancelled {
        /// A step that was cancelled.
        step: StepId,
    },
    /// The step made other host calls after the failed call, and these calls are recorded. Another answer to the failed
    /// call would change these recorded calls.
    #[error(
        "the step made other host calls after the error of {slot}, which another answer would change: submit the job \
         again with `latch run PLAN --new`"
    )]
    Followed {
        /// Slot of the failed call.
        slot: Slot,
    },
    /// The step's code is deterministic and would fail again.
    #[error(
        "step {step} failed by itself ({code}) and would fail again: its code is deterministic. Fix the plan or the \
         plugin, then submit the job again with `latch run PLAN --new`"
    )]
    Deterministic {
        /// The step.
        step: StepId,
        /// Failure code of the step.
        code: Code,
    },
}

/// Steps and calls that a retry of the job repeats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetryRound {
    /// Steps that become pending again.
    pub steps: Vec<StepId>,
    /// Calls that are opened again.
    pub calls: Vec<Slot>,
}

/// Returns the work that a retry of the job would repeat.
///
/// # Errors
/// Returns the reason why the job cannot be retried.
pub fn retry_round(durable: &Durable) -> Result<RetryRound, RetryRefusal> {
    let job = &durable.job;
    if !matches!(job.state, JobState::Partial | JobState::Failed) {
        return Err(RetryRefusal::State { job_id: job.header.job_id.clone(), state: job.state });
    }
    let begun = job.compensations.keys().chain(job.calls.keys()).chain(durable.rows.keys());
    if let Some(slot) = begun.into_iter().find(|slot| slot.is_compensation()) {
        return Err(RetryRefusal::Compensated { slot: slot.clone() });
    }
    if let Some(failed) = job.ended_by_mismatch() {
        return Err(RetryRefusal::NotConfirmed { slot: failed.slot.clone(), found: failed.found.clone() });
    }
    if let Some(step) = job.steps.iter().find(|step| step.state == StepState::Cancelled) {
        return Err(RetryRefusal::StepCancelled { step: step.id.clone() });
    }
    let mut round = RetryRound::default();
    let mut stubborn = None;
    for step in job.steps.iter().filter(|step| step.state == StepState::FailedFinal) {
        match retryability(durable, step)? {
            Retryability::Step(call) => {
                round.steps.push(step.id.clone());
                round.calls.extend(call);
            }
            Retryability::Never(code) => {
                stubborn.get_or_insert((step.id.clone(), code));
            }
        }
    }
    if round.steps.is_empty() {
        return Err(match stubborn {
            Some((step, code)) => RetryRefusal::Deterministic { step, code },
            None => RetryRefusal::State { job_id: job.header.job_id.clone(), state: job.state },
        });
    }
    // The plan is in topological order, so each step comes after its dependencies.
    for step in &job.steps {
        let because = step.skipped.as_ref().and_then(|(_, because)| because.as_ref());
        if step.state == StepState::Skipped && because.is_some_and(|because| round.steps.contains(because)) {
            round.steps.push(step.id.clone());
        }
    }
    Ok(round)
}

/// Returns true if a retry may end differently from the recorded execution. This is the case if at least one failure
/// has a cause other than the plugin's code and input, and is not a refusal by the plugin's SDK.
pub fn may_end_differently(durable: &Durable, round: &RetryRound) -> bool {
    let job = &durable.job;
    let failures = round.steps.iter().filter_map(|id| job.step(id)?.failure.as_ref().map(|failure| (id, failure)));
    failures.into_iter().any(|(id, failure)| {
        let call = round.calls.iter().find(|slot| slot.step() == *id).and_then(|slot| job.calls.get(slot));
        let recorded = call.and_then(|call| call.finished.as_ref()?.code);
        !recorded.unwrap_or(failure.code).fails_deterministically() && !failure.is_denied_by_sdk()
    })
}

enum Retryability {
    /// The step can be retried, together with the call that failed in it.
    Step(Option<Slot>),
    /// The step would fail again in the same way.
    Never(Code),
}

fn retryability(durable: &Durable, step: &Step) -> Result<Retryability, RetryRefusal> {
    let job = &durable.job;
    let own = Slot::of_step(&step.id);
    let is_error = |call: &Call| call.committed && call.finished.as_ref().is_some_and(|finished| !finished.ok);
    let operator = job.plan.step(&step.id).and_then(|planned| job.pinned(&planned.name));
    if operator.is_none_or(|operator| operator.kind == PluginKind::Tool) {
        return Ok(Retryability::Step(job.calls.get(&own).filter(|call| is_error(call)).map(|_| own)));
    }
    let calls: Vec<_> = job.calls_of(&step.id).collect();
    let errors: Vec<_> = calls.iter().filter(|(_, _, call)| is_error(call)).collect();
    let Some((k, slot, _)) = errors.last() else {
        let code = step.failure.as_ref().map_or(Code::Internal, |failure| failure.code);
        // These failures depend on the machine or on a missing plugin, so a retry may succeed.
        let may_pass = matches!(code, Code::StackOverflow | Code::WallClockLimit | Code::DependencyUnavailable);
        return Ok(if may_pass { Retryability::Step(None) } else { Retryability::Never(code) });
    };
    let is_last = calls.last().is_some_and(|(last, ..)| last == k);
    if !is_last || step.emits.iter().any(|emit| emit.after_calls > *k) {
        return Err(RetryRefusal::Followed { slot: (*slot).clone() });
    }
    Ok(Retryability::Step(Some((*slot).clone())))
}

/// Returns the purpose for which a request reopens a finished job.
pub(crate) fn purpose(row: &InboxRow) -> ReopenPurpose {
    match row.request {
        InboxRequest::Undo => ReopenPurpose::Undo,
        _ => ReopenPurpose::Retry,
    }
}

/// Returns the draft for a reopening request in the inbox of a finished job. The claim event follows in the same write.
/// Steps and calls that cannot be retried keep their results.
pub fn reopen_job(durable: &Durable, row: &InboxRow, context: &Context<'_>) -> Draft {
    if purpose(row) == ReopenPurpose::Undo {
        return undoable::reopen_for_undo(durable, row);
    }
    let RetryRound { steps, calls } = retry_round(durable).unwrap_or_default();
    let by = row.decider();
    let ledger = calls
        .iter()
        .filter_map(|slot| {
            let (row, call) = (durable.rows.get(slot)?, durable.job.calls.get(slot)?);
            let row = LedgerRow { result_hash: None, ..row.clone() };
            let row = if call.is_lost() {
                // A lost call returns to doubt under a new try number. Reopening the job never permits the execution of
                // a lost call.
                let (try_no, nonce) = (call.tries + 1, context.random);
                LedgerRow { state: RowState::Indeterminate, try_no, nonce, ..row }
            } else {
                LedgerRow { state: RowState::FailedDefinite, next_try_us: Some(context.now_us), ..row }
            };
            Some(replace_row(durable, row))
        })
        .collect();
    let events = vec![Body::JobReopened { by, steps, calls, purpose: ReopenPurpose::Retry }];
    // The log and the ledger must agree on the steps and calls that are open again.
    Draft { events, ledger, inbox_done: vec![row.id], kind: Record::FlushWhole, ..Draft::default() }
}
