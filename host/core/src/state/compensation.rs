//! Compensation (§10): the calls that took effect, the order of undoing and its progress. The fold refuses a log that
//! undoes calls in another order or by another operator.

use super::{Call, Job};
use crate::event::{Body, Event};
use crate::model::ids::{Operator, Slot, StepId};
use crate::model::manifest::{PinnedOperator, PluginKind};
use crate::model::result_type::ResultType;
use crate::model::step::StepState;
use crate::plan::OnFailure;
use crate::state::error::{FoldError, invalid_event};
use crate::state::types::{Compensation, CompensationEnd};

impl Job {
    /// Returns true if no more steps of the plan are executed. This is the case if the job is cancelled, was aborted,
    /// or failed and compensates.
    pub fn is_aborting(&self) -> bool {
        self.cancel.is_some() || self.aborted || self.compensates_failure()
    }

    fn compensates_failure(&self) -> bool {
        self.plan.on_failure == OnFailure::Compensate
            && self.steps.iter().all(|step| step.state.is_final())
            && self.steps.iter().any(|step| step.state == StepState::FailedFinal)
    }

    /// Returns true if the job ends early and its effects should be undone. The reason is a cancellation or the plan's
    /// `on_failure`. A mismatch or a person's decision may still prevent the undoing: see [`Job::compensates`].
    pub fn wants_compensation(&self) -> bool {
        let wanted = self.cancel.is_some() || self.plan.on_failure == OnFailure::Compensate;
        wanted && self.is_aborting()
    }

    /// Returns true if the job has to undo its effects, and no mismatch and no person's decision prevents the
    /// undoing.
    pub fn compensates(&self) -> bool {
        // If an effect differed from its record and this mismatch ended the job, the job undoes nothing. Undoing could
        // destroy a later change made by others.
        self.wants_compensation() && !self.undo_abandoned && self.ended_by_mismatch().is_none()
    }

    /// Returns the operator that undoes the call at `slot`, and a flag. The flag is true if this operator also made the
    /// call. Returns `None` if no operator can undo the call.
    ///
    /// The step may name another operator in `compensate_with`. If the step names no operator or `self`, the operator
    /// that made the call undoes the call. The plugin of that operator must then export `compensate`.
    pub fn undo_operator(&self, slot: &Slot) -> Option<(Operator, bool)> {
        let call = self.calls.get(slot)?;
        let named = self.plan.step(&slot.step()).and_then(|step| step.compensate_with.as_deref());
        match named {
            Some(name) if name != "self" => {
                let name = Operator::new(name);
                let can = |pinned: &PinnedOperator| pinned.kind == PluginKind::Tool && pinned.is_world_changing();
                self.pinned(&name).is_some_and(can).then_some((name, false))
            }
            _ => self.pinned(&call.operator)?.compensate.then(|| (call.operator.clone(), true)),
        }
    }

    /// Returns the slot of the next call to undo, without the suffix `~c`.
    pub fn next_to_undo(&self) -> Option<Slot> {
        let due = |slot: &Slot| !self.compensations.contains_key(&slot.compensation()) && !self.is_effect_gone(slot);
        let calls = self.effects_in_reverse().into_iter().map(|(slot, _)| slot);
        calls.filter(|slot| due(slot)).find(|slot| self.undo_operator(slot).is_some()).cloned()
    }

    /// Returns the compensation in flight.
    pub fn open_compensation(&self) -> Option<(&Slot, &Compensation)> {
        self.compensations.iter().find(|(_, compensation)| compensation.end.is_none())
    }

    /// Returns the slot of a failed compensation that awaits a decision.
    pub fn failed_compensation(&self) -> Option<&Slot> {
        let failed = |end: Option<CompensationEnd>| matches!(end, Some(CompensationEnd::Failed(_)));
        self.compensations.iter().find(|(_, compensation)| failed(compensation.end)).map(|(slot, _)| slot)
    }

    /// Returns true if the undoing of any effect of the step has begun. The step's output may then describe things
    /// that no longer exist.
    pub fn has_started_undoing(&self, step: &StepId) -> bool {
        self.compensations.keys().any(|slot| slot.step() == *step)
    }

    /// Returns true if the call needs no more undoing. The call is undone, a person decided to leave its
    /// effect, or a person found that its effect no longer exists.
    pub fn is_undo_finished(&self, slot: &Slot) -> bool {
        let end = self.compensations.get(&slot.compensation()).and_then(|compensation| compensation.end);
        self.is_effect_gone(slot) || matches!(end, Some(CompensationEnd::Done | CompensationEnd::Abandoned(_)))
    }

    /// Returns true if the job still has to undo an effect of the step.
    pub fn will_be_undone(&self, step: &StepId) -> bool {
        let is_due =
            |slot: &Slot| slot.step() == *step && !self.is_undo_finished(slot) && self.undo_operator(slot).is_some();
        let undoes = !self.state.is_terminal() && self.compensates();
        undoes && self.effects_in_reverse().into_iter().any(|(slot, _)| is_due(slot))
    }

    pub(super) fn apply_compensation(&mut self, event: &Event) -> Result<(), FoldError> {
        match &event.body {
            Body::CompensationStarted { slot, operator, own, args } => {
                self.check_undo_order(event, slot, operator, *own)?;
                let compensation =
                    Compensation { operator: operator.clone(), is_self_undo: *own, args: *args, end: None };
                self.compensations.insert(slot.clone(), compensation);
            }
            Body::CompensationFinished { slot } => {
                self.answered_compensation_mut(event, slot, true)?.end = Some(CompensationEnd::Done);
                self.mark_step_compensated(&slot.step());
            }
            Body::CompensationFailed { slot, code } => {
                self.answered_compensation_mut(event, slot, false)?.end = Some(CompensationEnd::Failed(*code));
            }
            Body::CompensationReopened { slot, .. } => {
                self.failed_compensation_mut(event, slot)?.end = None;
                // If the gate of the compensating call was refused, the approval is requested again.
                self.clear_refused_gate(slot);
                self.call_mut(event, slot)?.reopen_in_doubt();
            }
            Body::CompensationLeft { slot, .. } => {
                let failed = self.failed_compensation_mut(event, slot)?;
                let Some(CompensationEnd::Failed(code)) = failed.end else { unreachable!("it failed") };
                failed.end = Some(CompensationEnd::Abandoned(code));
            }
            _ => unreachable!("only events of compensations come here"),
        }
        Ok(())
    }

    /// Checks that a compensation may begin. Only calls that took effect are compensated, each once, and the last
    /// committed call first. The previous compensation must have ended.
    fn check_undo_order(&self, event: &Event, slot: &Slot, operator: &Operator, own: bool) -> Result<(), FoldError> {
        let refuse = |why: &str| Err(invalid_event(event, format!("{slot} cannot begin: {why}")));
        if !self.compensates() {
            return refuse("the job does not compensate");
        }
        if let Some((other, _)) = self.open_compensation() {
            return refuse(&format!("{other} is in flight"));
        }
        if let Some(other) = self.failed_compensation() {
            return refuse(&format!("{other} failed and awaits a decision"));
        }
        let due = self.next_to_undo();
        if due.is_none() || due != slot.compensated() {
            let due = due.map_or_else(|| "nothing".to_owned(), |due| due.to_string());
            return refuse(&format!("the next call to undo is {due}"));
        }
        let by = due.and_then(|due| self.undo_operator(&due));
        if by != Some((operator.clone(), own)) {
            return refuse("another operator undoes this call");
        }
        Ok(())
    }

    /// Refuses the end of a compensating job while a compensation has not begun, is in flight, or has failed without a
    /// decision.
    pub(super) fn check_all_undone(&self, event: &Event) -> Result<(), FoldError> {
        if !self.compensates() {
            return Ok(());
        }
        let open = self.open_compensation().map(|(slot, _)| slot).or(self.failed_compensation()).cloned();
        match open.or_else(|| self.next_to_undo().map(|of| of.compensation())) {
            Some(slot) => Err(invalid_event(event, format!("the job cannot end: compensation {slot} is not finished"))),
            None => Ok(()),
        }
    }

    /// Refuses every end except cancellation for a job that was reopened to undo its effects.
    pub(super) fn refuse_end_of_undo(&self, event: &Event) -> Result<(), FoldError> {
        match self.undo {
            Some(_) => Err(invalid_event(event, "the job was reopened for an undo and can end only as cancelled")),
            None => Ok(()),
        }
    }

    /// Checks that a call may be made now. A compensating call is allowed only while its compensation is in
    /// flight. A job that was reopened to undo its effects makes no other calls.
    pub(super) fn check_call_allowed(&self, event: &Event, slot: &Slot, operator: &Operator) -> Result<(), FoldError> {
        if self.undo.is_some() && !slot.is_compensation() {
            return Err(invalid_event(
                event,
                format!("the job was reopened for an undo, and {slot} is not a compensating call"),
            ));
        }
        let is_open = self.open_compensation().is_some_and(|(open, c)| open == slot && c.operator == *operator);
        match slot.is_compensation() && !is_open {
            true => Err(invalid_event(event, format!("compensation {slot} is not in flight"))),
            false => Ok(()),
        }
    }

    fn answered_compensation_mut(
        &mut self,
        event: &Event,
        slot: &Slot,
        ok: bool,
    ) -> Result<&mut Compensation, FoldError> {
        let answered = self.calls.get(slot).filter(|call| call.committed).and_then(|call| call.finished.as_ref());
        if answered.map(|finished| finished.ok) != Some(ok) {
            return Err(invalid_event(event, format!("the call at {slot} has no such final answer")));
        }
        let open = self.compensations.get_mut(slot).filter(|compensation| compensation.end.is_none());
        open.ok_or_else(|| invalid_event(event, format!("compensation {slot} is not in flight")))
    }

    fn failed_compensation_mut(&mut self, event: &Event, slot: &Slot) -> Result<&mut Compensation, FoldError> {
        let failed = |compensation: &&mut Compensation| matches!(compensation.end, Some(CompensationEnd::Failed(_)));
        let found = self.compensations.get_mut(slot).filter(failed);
        found.ok_or_else(|| invalid_event(event, format!("compensation {slot} has not failed")))
    }

    /// Marks a step as compensated once every effect of the step is undone.
    fn mark_step_compensated(&mut self, step: &StepId) {
        let undone = |slot: &Slot| {
            let compensation = self.compensations.get(&slot.compensation());
            compensation.is_some_and(|compensation| compensation.end == Some(CompensationEnd::Done))
        };
        let all = self.effects_in_reverse().iter().all(|(slot, _)| slot.step() != *step || undone(slot));
        if all && let Some(step) = self.steps.iter_mut().find(|found| found.id == *step) {
            step.result_type = Some(ResultType::Compensated);
        }
    }
}

impl Call {
    /// Puts the call in doubt again: opens a new try, so that the records of earlier tries stay.
    fn reopen_in_doubt(&mut self) {
        self.tries += 1;
        self.open_try = Some(self.tries);
        self.tries_before_round = self.tries;
        self.committed = false;
        self.finished = None;
        self.verdict = None;
        self.retry_at_us = None;
        self.reopened = false;
    }
}
