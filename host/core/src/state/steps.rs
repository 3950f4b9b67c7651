//! Applies the events of steps to the job state.

use super::{EmittedEvent, Job, Outcome, Step};
use crate::event::{Body, Event};
use crate::model::error::Code;
use crate::model::ids::StepId;
use crate::model::result_type::ResultType;
use crate::model::step::{StepInput, StepState};
use crate::state::error::{FoldError, invalid_event};

impl Job {
    pub(super) fn apply_step(&mut self, event: &Event) -> Result<(), FoldError> {
        match &event.body {
            Body::StepReady { step_id, input } => {
                let step = self.move_step(event, step_id, StepInput::Ready)?;
                step.input = Some(*input);
            }
            Body::StepStarted { step_id } => {
                let step = self.move_step(event, step_id, StepInput::Start)?;
                step.started_us.get_or_insert(event.time_us);
            }
            Body::StepSucceeded { step_id, result_type } => self.succeed_step(event, step_id, *result_type)?,
            Body::StateCheckpointed { step_id, output } => {
                let step = self.step_mut(event, step_id)?;
                step.output = Some(*output);
            }
            Body::StepFailed { step_id, result_type, failure } => {
                let step = self.end_step(event, step_id, StepInput::FailFinal)?;
                step.result_type = Some(*result_type);
                step.failure = Some(failure.clone());
            }
            Body::StepSkipped { step_id, reason, because, call } => {
                let step = self.move_step(event, step_id, StepInput::Skip)?;
                step.skipped = Some((*reason, because.clone()));
                step.would_call = call.as_deref().cloned();
            }
            Body::StepAborted { step_id, .. } => {
                let step = self.move_restarted_step(event, step_id, StepInput::Abort)?;
                step.aborted_tries += 1;
            }
            Body::StepCancelled { step_id } => {
                self.move_step(event, step_id, StepInput::Cancel)?;
            }
            Body::StepBlocked { step_id, slot, reason, holder } => {
                let step = self.move_restarted_step(event, step_id, StepInput::Block)?;
                step.blocked = Some((slot.clone(), *reason));
                step.key_holder.clone_from(holder);
            }
            Body::StepUnblocked { step_id } => self.unblock_step(event, step_id)?,
            Body::StepRetryScheduled { step_id, slot, code, not_before_us } => {
                let call = self.call_mut(event, slot)?;
                call.retry_at_us = Some(*not_before_us);
                call.not_yet_answers += u32::from(*code == Code::IndeterminateEffect);
                if slot.is_step() {
                    let step = self.move_restarted_step(event, step_id, StepInput::FailRetryable)?;
                    step.retry_at_us = Some(*not_before_us);
                }
            }
            Body::ReuseDecided { step_id, reused, from, .. } => {
                self.step_mut(event, step_id)?.reuse = Some((*reused, from.clone()));
            }
            Body::OutcomeRecorded { step_id, outcome_id, outcome_type, status, sensitivity } => {
                self.step_mut(event, step_id)?.outcome = Some(Outcome {
                    id: outcome_id.clone(),
                    outcome_type: outcome_type.clone(),
                    status: status.clone(),
                    sensitivity: sensitivity.clone(),
                });
            }
            Body::AsyncEventEmitted { step_id, n, after_calls, name, payload } => {
                let emitted = EmittedEvent { after_calls: *after_calls, name: name.clone(), payload: *payload };
                self.step_mut(event, step_id)?.append_emitted(event, *n, emitted)?;
            }
            _ => unreachable!("only events of steps come here"),
        }
        Ok(())
    }

    fn succeed_step(&mut self, event: &Event, id: &StepId, result_type: ResultType) -> Result<(), FoldError> {
        // A step that succeeds without a start has reused an earlier result.
        let found = self.step_mut(event, id)?;
        let is_reused = found.state == StepState::Ready && found.started_us.is_none();
        let input = if is_reused { StepInput::Reuse } else { StepInput::Succeed };
        let step = self.end_step(event, id, input)?;
        step.result_type = Some(result_type);
        Ok(())
    }

    /// Applies a transition to a step that may have been restarted by a new attempt. No event records such a restart. A
    /// step in state `Ready` that has started before therefore counts as `Running`.
    fn move_restarted_step(&mut self, event: &Event, id: &StepId, input: StepInput) -> Result<&mut Step, FoldError> {
        let step = self.step_mut(event, id)?;
        if step.state == StepState::Ready && step.started_us.is_some() {
            step.state = StepState::Running;
        }
        self.move_step(event, id, input)
    }

    fn end_step(&mut self, event: &Event, id: &StepId, input: StepInput) -> Result<&mut Step, FoldError> {
        let step = self.move_restarted_step(event, id, input)?;
        step.blocked = None;
        step.key_holder = None;
        step.retry_at_us = None;
        Ok(step)
    }

    pub(super) fn unblock_step(&mut self, event: &Event, id: &StepId) -> Result<(), FoldError> {
        let input = match self.step_mut(event, id)?.state {
            StepState::FailedRetryable => StepInput::BackoffPassed,
            _ => StepInput::Unblock,
        };
        let step = self.move_step(event, id, input)?;
        // A person has continued the job after a lack of resources, so its repetitions begin again.
        if matches!(step.blocked.take(), Some((_, Code::MachineFault))) {
            step.aborted_tries = 0;
        }
        step.key_holder = None;
        step.retry_at_us = None;
        Ok(())
    }
}

impl Step {
    /// Appends an event that the step emitted. `n` is the number of the event within the step, counted from 0.
    fn append_emitted(&mut self, event: &Event, n: u32, emitted: EmittedEvent) -> Result<(), FoldError> {
        if self.emits.len() as u32 != n {
            return Err(invalid_event(event, "announced events must be numbered without gaps"));
        }
        self.emits.push(emitted);
        Ok(())
    }
}
