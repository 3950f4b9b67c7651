//! A finished job that is opened again: what [`crate::event::Body::JobReopened`] leaves of its state.

use crate::event::{Decider, Event, Verdict};
use crate::ids::{Slot, StepId};
use crate::step::StepInput;

use super::fold::{FoldError, unknown};
use super::{Call, Job};

impl Job {
    /// Steps are pending again and calls open again; what was answered before stays recorded.
    pub(super) fn reopen(&mut self, event: &Event, steps: &[StepId], calls: &[Slot]) -> Result<(), FoldError> {
        self.forget_end();
        for id in steps {
            let step = self.move_step(event, id, StepInput::Reopen)?;
            step.failure = None;
            step.skipped = None;
            step.would_call = None;
            step.result_type = None;
            step.blocked = None;
            step.holder = None;
            step.retry_at_us = None;
            step.aborts = 0;
            self.forget_refusal(&Slot::of_step(id));
        }
        for slot in calls {
            self.forget_refusal(slot);
            let call = self.call(event, slot)?;
            if !call.committed {
                return Err(unknown(event, "only a call with a final answer gets another round"));
            }
            call.reopen();
        }
        Ok(())
    }

    /// The job counts as cancelled from here on: its steps are over, so only compensations are left to run.
    pub(super) fn reopen_to_undo(&mut self, by: &Decider) {
        self.forget_end();
        self.cancel = Some(by.clone());
        self.undo = Some(by.clone());
        // A gate that nobody passed may be past its time: it is requested again, with a time of its own.
        self.gates.retain(|slot, gate| {
            let is_approved = gate.decision.as_ref().is_some_and(|(approved, _)| *approved);
            !slot.is_compensation() || is_approved
        });
        // The end freed the keys of calls without an effect: another job may hold them by now.
        let is_left =
            |(slot, call): &(&Slot, &mut Call)| !slot.is_compensation() && !call.committed && call.open_try.is_none();
        self.calls.iter_mut().filter(is_left).for_each(|(_, call)| call.reopened = true);
    }

    fn forget_end(&mut self) {
        self.aborted = false;
        self.undo_abandoned = false;
        self.continued = false;
        self.failure = None;
        self.parked = None;
        self.barren_attempts = 0;
    }

    /// A refused gate is asked again; an approved one stays approved for the exact call.
    pub(super) fn forget_refusal(&mut self, slot: &Slot) {
        let refused = |gate: &super::Gate| gate.decision.as_ref().is_some_and(|(approved, _)| !approved);
        if self.gates.get(slot).is_some_and(refused) {
            self.gates.remove(slot);
        }
    }
}

impl Call {
    /// Whether nobody found out if its last try happened.
    pub fn is_lost(&self) -> bool {
        let last = self.finished.as_ref().map_or(self.tries, |finished| finished.try_no);
        self.committed && self.verdict == Some((last, Verdict::Lost))
    }

    /// A lost call is in doubt again, under a number of its own: what was recorded about the
    /// lost try stays. Any other failure may be tried anew.
    fn reopen(&mut self) {
        if self.is_lost() {
            self.tries += 1;
            self.open_try = Some(self.tries);
        }
        self.round = self.tries;
        self.reopened = self.open_try.is_none();
        self.committed = false;
        self.finished = None;
        self.verdict = None;
        self.retry_at_us = None;
    }
}
