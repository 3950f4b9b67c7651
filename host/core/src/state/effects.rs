//! Effects of a job: the calls that took effect, the result types that follow from them, effects that no longer exist,
//! and the mismatch that ended the job.

use super::{Call, Job};
use crate::event::Consequence;
use crate::model::effect::Provenance;
use crate::model::ids::{Slot, StepId};
use crate::model::manifest::PinnedOperator;
use crate::model::result_type::ResultType;
use crate::state::types::UnconfirmedChange;

impl Job {
    /// Returns true if the call changed the world, as far as is known. Returns false if the call reused a receipt: the
    /// job that performed the action has to undo the action.
    pub fn took_effect(&self, call: &Call) -> bool {
        call.committed
            && call.finished.as_ref().is_some_and(|f| f.ok && f.provenance != Provenance::Reused)
            && self.pinned(&call.operator).is_some_and(PinnedOperator::is_world_changing)
    }

    /// Returns true if a world-changing call of the step took effect.
    pub fn changed_the_world(&self, step: &StepId) -> bool {
        let own = self.calls.iter().filter(|(slot, _)| slot.step() == *step && !slot.is_compensation());
        own.into_iter().any(|(_, call)| self.took_effect(call))
    }

    /// Returns the result type of a step that ends now.
    pub fn result_type(&self, step: &StepId, ok: bool) -> ResultType {
        let changed = self.changed_the_world(step);
        let called = self.calls.keys().any(|slot| slot.step() == *step);
        match (ok, changed, called) {
            (true, true, _) => ResultType::SideEffectCommitted,
            (true, false, true) => ResultType::Success,
            (true, false, false) => ResultType::Pure,
            (false, true, _) => ResultType::CompensatableFailure,
            (false, false, _) => ResultType::PermanentFailure,
        }
    }

    /// Returns the calls that took effect, last committed first. This is the order of undoing.
    pub fn effects_in_reverse(&self) -> Vec<(&Slot, &Call)> {
        let mut calls: Vec<_> =
            self.calls.iter().filter(|(slot, call)| !slot.is_compensation() && self.took_effect(call)).collect();
        calls.sort_by_key(|(_, call)| std::cmp::Reverse(call.committed_seq));
        calls
    }

    /// Returns true if a person found that the effect of the call no longer exists. The call then needs no undoing.
    pub fn is_effect_gone(&self, slot: &Slot) -> bool {
        self.confirmations.failed.iter().any(|failed| failed.gone && failed.slot == *slot)
    }

    /// Returns the mismatch that ended the job.
    pub fn ended_by_mismatch(&self) -> Option<&UnconfirmedChange> {
        self.confirmations.failed.iter().find(|failed| failed.consequence == Consequence::Ended)
    }
}
