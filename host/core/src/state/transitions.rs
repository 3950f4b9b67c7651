//! Transitions of the job and of its steps by the tables of [`crate::model::job`] and [`crate::model::step`], and
//! access to the steps and calls that events name.

use super::{Call, Job, Step};
use crate::event::Event;
use crate::model::ids::{Slot, StepId};
use crate::model::job::JobInput;
use crate::model::step::StepInput;
use crate::state::error::{FoldError, invalid_event};

impl Job {
    pub(super) fn move_job(&mut self, event: &Event, input: JobInput) -> Result<(), FoldError> {
        self.state = self.state.next(input).map_err(|source| FoldError::Job { seq: event.seq, source })?;
        Ok(())
    }

    pub(super) fn step_mut(&mut self, event: &Event, id: &StepId) -> Result<&mut Step, FoldError> {
        self.steps
            .iter_mut()
            .find(|step| step.id == *id)
            .ok_or_else(|| invalid_event(event, format!("there is no step {id}")))
    }

    pub(super) fn call_mut(&mut self, event: &Event, slot: &Slot) -> Result<&mut Call, FoldError> {
        self.calls.get_mut(slot).ok_or_else(|| invalid_event(event, format!("there is no call at {slot}")))
    }

    pub(super) fn move_step(&mut self, event: &Event, id: &StepId, input: StepInput) -> Result<&mut Step, FoldError> {
        let step = self.step_mut(event, id)?;
        step.state =
            step.state.next(input).map_err(|source| FoldError::Step { seq: event.seq, step: id.clone(), source })?;
        Ok(step)
    }
}
