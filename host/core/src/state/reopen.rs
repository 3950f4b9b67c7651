//! Reopening of a finished job: the change of its state by [`crate::event::Body::JobReopened`].

use super::{Call, Job};
use crate::event::{DecidedBy, Event, Verdict};
use crate::model::ids::{Slot, StepId};
use crate::model::step::StepInput;
use crate::state::error::{FoldError, invalid_event};

impl Job {
    /// Makes the given steps pending and opens the given calls for another round of retries. The log keeps their
    /// earlier answers.
    pub(super) fn reopen(&mut self, event: &Event, steps: &[StepId], calls: &[Slot]) -> Result<(), FoldError> {
        self.clear_end();
        for id in steps {
            let step = self.move_step(event, id, StepInput::Reopen)?;
            step.failure = None;
            step.skipped = None;
            step.would_call = None;
            step.result_type = None;
            step.blocked = None;
            step.key_holder = None;
            step.retry_at_us = None;
            step.aborted_tries = 0;
            self.clear_refused_gate(&Slot::of_step(id));
        }
        for slot in calls {
            self.clear_refused_gate(slot);
            let call = self.call_mut(event, slot)?;
            if !call.committed {
                return Err(invalid_event(event, "only a call with a final answer can be reopened"));
            }
            call.reopen();
        }
        Ok(())
    }

    /// Reopens the job only to undo its effects. The job now counts as cancelled. Only its compensations run.
    pub(super) fn reopen_to_undo(&mut self, by: &DecidedBy) {
        self.clear_end();
        self.cancel = Some(by.clone());
        self.undo = Some(by.clone());
        // The gate of a compensating call is removed if it has no approval, because it may have expired. The job
        // requests the gate again with a new expiry.
        self.gates.retain(|slot, gate| {
            let is_approved = gate.decision.as_ref().is_some_and(|(approved, _)| *approved);
            !slot.is_compensation() || is_approved
        });
        // Calls without an effect count as not started. The end of the job freed their action keys, and other jobs
        // may hold these keys now.
        let is_left =
            |(slot, call): &(&Slot, &mut Call)| !slot.is_compensation() && !call.committed && call.open_try.is_none();
        self.calls.iter_mut().filter(is_left).for_each(|(_, call)| call.reopened = true);
    }

    fn clear_end(&mut self) {
        self.aborted = false;
        self.undo_abandoned = false;
        self.continued = false;
        self.failure = None;
        self.parked = None;
        self.attempts_without_progress = 0;
    }

    /// Removes a refused gate, so that the gate is requested again. An approved gate stays, because its approval covers
    /// the exact call.
    pub(super) fn clear_refused_gate(&mut self, slot: &Slot) {
        let refused = |gate: &super::Gate| gate.decision.as_ref().is_some_and(|(approved, _)| !approved);
        if self.gates.get(slot).is_some_and(refused) {
            self.gates.remove(slot);
        }
    }
}

impl Call {
    /// Returns true if the call ended as lost: the outcome of its last try was never found out.
    pub fn is_lost(&self) -> bool {
        let last = self.finished.as_ref().map_or(self.tries, |finished| finished.try_no);
        self.committed && self.verdict == Some((last, Verdict::Lost))
    }

    /// Opens the call for another round of retries. A lost call gets a new open try and is in doubt again, and the
    /// record of the lost try stays. Any other failed call may be tried again.
    fn reopen(&mut self) {
        if self.is_lost() {
            self.tries += 1;
            self.open_try = Some(self.tries);
        }
        self.tries_before_round = self.tries;
        self.reopened = self.open_try.is_none();
        self.committed = false;
        self.finished = None;
        self.verdict = None;
        self.retry_at_us = None;
    }
}
