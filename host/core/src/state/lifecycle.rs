//! Applies the events of the job itself to its state: claims, settlement, requests of people and ends.

use super::{Job, Step};
use crate::event::{Body, Event, ReopenPurpose};
use crate::model::job::{JobInput, JobState};
use crate::model::step::{StepInput, StepState};
use crate::state::error::{FoldError, invalid_event};

impl Job {
    pub(super) fn apply_job(&mut self, event: &Event) -> Result<(), FoldError> {
        match &event.body {
            Body::JobClaimed { .. } => self.apply_claim(event)?,
            Body::JobWaiting { until_us } => {
                self.move_job(event, JobInput::Wait)?;
                self.waiting_until_us = Some(*until_us);
            }
            Body::JobReleased { .. } => self.move_job(event, JobInput::Released)?,
            Body::JobParked { reason, slot, cause } => {
                self.move_job(event, JobInput::Park)?;
                self.parked = Some((*reason, slot.clone()));
                self.parked_cause.clone_from(cause);
            }
            Body::JobUnparked { cause } => {
                self.undo_abandoned |= cause == "abort" && self.is_aborting();
                if cause == "continue" && self.is_aborting() {
                    self.calls.values_mut().for_each(|call| call.conflict_accepted = call.conflict);
                }
                self.continued |= cause == "continue";
                self.aborted |= cause == "abort";
                self.attempts_without_progress = 0;
            }
            Body::JobDiverged { report } => {
                self.move_job(event, JobInput::Diverge)?;
                self.divergence = Some((**report).clone());
            }
            Body::JobCancelRequested { by } => self.cancel = Some(by.clone()),
            Body::JobForked { .. } => self.apply_fork(event)?,
            Body::JobReopened { steps, calls, purpose: ReopenPurpose::Retry, .. } => {
                self.move_job(event, JobInput::Reopen)?;
                self.reopen(event, steps, calls)?;
            }
            Body::JobReopened { by, steps, calls, purpose: ReopenPurpose::Undo } => {
                if !(steps.is_empty() && calls.is_empty()) {
                    return Err(invalid_event(event, "a reopening for an undo must name no steps and no calls"));
                }
                self.move_job(event, JobInput::Undo)?;
                self.reopen_to_undo(by);
            }
            Body::JobCancelled {} => {
                self.check_all_undone(event)?;
                self.move_job(event, JobInput::Cancel)?;
            }
            Body::JobPartial {} => {
                self.refuse_end_of_undo(event)?;
                self.check_all_undone(event)?;
                self.move_job(event, JobInput::EndPartial)?;
            }
            Body::JobCompleted {} => {
                self.refuse_end_of_undo(event)?;
                self.check_all_undone(event)?;
                self.move_job(event, JobInput::Complete)?;
            }
            Body::JobFailed { code } => {
                self.refuse_end_of_undo(event)?;
                self.check_all_undone(event)?;
                self.move_job(event, JobInput::Fail)?;
                self.failure = *code;
            }
            _ => unreachable!("only events of the job itself come here"),
        }
        Ok(())
    }

    fn apply_claim(&mut self, event: &Event) -> Result<(), FoldError> {
        if event.attempt <= self.attempt {
            return Err(invalid_event(event, "attempt numbers must increase"));
        }
        // A job that is still `Running` was cut off in its previous attempt. A job that waited or was parked is in
        // another state.
        if self.state == JobState::Running && !self.has_progressed {
            self.attempts_without_progress += 1;
            let under_way =
                |step: &&Step| step.started_us.is_some() && !step.state.is_final() && step.blocked.is_none();
            self.steps_without_progress = self.steps.iter().filter(under_way).map(|step| step.id.clone()).collect();
        }
        // Attempt numbers are skipped if an attempt was cut off before its claim event became durable. The skipped
        // attempts made no progress either.
        self.attempts_without_progress += event.attempt - self.attempt - 1;
        self.claims_without_events += event.attempt - self.attempt;
        match self.state {
            // An inbox row or a timer woke the job before this claim.
            JobState::Waiting | JobState::Parked | JobState::Diverged => self.move_job(event, JobInput::Wake)?,
            // The previous attempt lost its lease. Only this claim records the loss.
            JobState::Running => self.move_job(event, JobInput::Released)?,
            _ => {}
        }
        self.move_job(event, JobInput::Claimed)?;
        self.attempt = event.attempt;
        self.has_progressed = false;
        self.parked = None;
        self.parked_cause = None;
        self.waiting_until_us = None;
        self.divergence = None;
        for step in &mut self.steps {
            if step.state == StepState::Running {
                step.state = step.state.next(StepInput::Abort).map_err(|source| FoldError::Step {
                    seq: event.seq,
                    step: step.id.clone(),
                    source,
                })?;
            }
        }
        Ok(())
    }
}
