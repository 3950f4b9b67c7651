//! Recorded changes of the world, and the changes that a later check did not confirm.

use std::collections::BTreeSet;

use super::Job;
use crate::event::{Body, Consequence, Event, Resource, UnconfirmedReason};
use crate::model::effect::Provenance;
use crate::model::ids::{Slot, StepId};
use crate::model::manifest::Confirmation;
use crate::state::error::{FoldError, invalid_event};
use crate::state::types::{RecordedChange, UnconfirmedChange};

/// Returns the consequence of an unconfirmed change under the plugin's confirmation policy.
///
/// `Unavailable` always yields `Asked`: the verifier gave no result, so no mismatch is known. A mismatch under the
/// policy `Strict` yields `Ended`, which ends the job. If the check precedes undoing, the job is already ending, and
/// the mismatch yields `Asked`.
pub(crate) fn consequence_of(outcome: UnconfirmedReason, policy: Confirmation, before_undoing: bool) -> Consequence {
    match (outcome, policy) {
        (UnconfirmedReason::Unavailable, _) | (UnconfirmedReason::Mismatch, Confirmation::HumanInLoop) => {
            Consequence::Asked
        }
        (UnconfirmedReason::Mismatch, Confirmation::Warn) => Consequence::Warned,
        (UnconfirmedReason::Mismatch, Confirmation::Strict) if before_undoing => Consequence::Asked,
        (UnconfirmedReason::Mismatch, Confirmation::Strict) => Consequence::Ended,
    }
}

impl Job {
    /// Returns true if a confirmation check made now would be a check before undoing.
    ///
    /// Returns false after a mismatch has ended the job, because the job then undoes nothing. One check may find two
    /// mismatches, of which the first ends the job. The second then also has the consequence `Ended`.
    pub(crate) fn checks_before_undoing(&self) -> bool {
        self.is_aborting() && self.ended_by_mismatch().is_none()
    }

    /// Returns the slots of calls with an unaccepted mismatch. The effects of these calls are not undone, because
    /// undoing could destroy a later change made by others.
    pub fn mismatches(&self) -> impl Iterator<Item = &Slot> {
        let mismatch =
            |failed: &&UnconfirmedChange| failed.outcome == UnconfirmedReason::Mismatch && failed.resolved_by.is_none();
        self.confirmations.failed.iter().filter(mismatch).map(|failed| &failed.slot)
    }

    /// Returns the slots of calls with an unaccepted mismatch. Mismatches with the consequence `Warned` are left out.
    /// For each returned call, a person has to decide whether the receipt is still valid.
    pub fn blocking_mismatches(&self) -> impl Iterator<Item = &Slot> {
        let counts = |failed: &&UnconfirmedChange| {
            let open = failed.outcome == UnconfirmedReason::Mismatch && failed.resolved_by.is_none();
            open && failed.consequence != Consequence::Warned
        };
        self.confirmations.failed.iter().filter(counts).map(|failed| &failed.slot)
    }

    /// Returns true if an effect of the step no longer exists, or differs from its record and was not accepted.
    pub fn is_contradicted(&self, step: &StepId) -> bool {
        let gone = self.confirmations.failed.iter().filter(|failed| failed.gone).map(|failed| &failed.slot);
        self.blocking_mismatches().chain(gone).any(|slot| slot.step() == *step)
    }

    /// Returns the changes that a person has to accept. Steps that depend on these changes continue only after the
    /// acceptance.
    pub fn changes_to_accept(&self) -> impl Iterator<Item = &UnconfirmedChange> {
        let open =
            |failed: &&UnconfirmedChange| failed.consequence == Consequence::Asked && failed.resolved_by.is_none();
        self.confirmations.failed.iter().filter(open)
    }

    /// Returns the steps with a change that a person has yet to accept, and their dependants. The states of these
    /// steps do not change before the acceptance.
    pub fn steps_on_hold(&self) -> BTreeSet<StepId> {
        let mut held: BTreeSet<StepId> = self.changes_to_accept().map(|failed| failed.slot.step()).collect();
        if held.is_empty() {
            return held;
        }
        // The plan is in topological order, so each step comes after its dependencies.
        for planned in &self.plan.steps {
            if planned.depends_on.iter().any(|id| held.contains(id)) {
                held.insert(planned.step_id.clone());
            }
        }
        held
    }

    /// Returns true if the call itself made its recorded changes and these changes are not undone. Returns false for a
    /// call that reused a receipt, because it made no change, and for a compensating call.
    pub fn still_holds(&self, slot: &Slot) -> bool {
        let undo = self.calls.get(&slot.compensation());
        let undone = slot.is_compensation() || undo.is_some_and(|call| call.committed);
        let finished = self.calls.get(slot).filter(|call| call.committed).and_then(|call| call.finished.as_ref());
        !undone && finished.is_some_and(|finished| finished.ok && finished.provenance != Provenance::Reused)
    }

    pub(super) fn apply_confirmation(&mut self, event: &Event) -> Result<(), FoldError> {
        match &event.body {
            Body::StateChanged { slot, change } => {
                self.step_mut(event, &slot.step())?;
                let changed = RecordedChange { slot: slot.clone(), change: change.clone(), attempt: event.attempt };
                self.confirmations.changes.push(changed);
            }
            Body::ConfirmationFailed { slot, resource, outcome, found, consequence } => {
                let of = |changed: &RecordedChange| changed.slot == *slot && Resource::of(&changed.change) == *resource;
                if !self.confirmations.changes.iter().any(of) {
                    return Err(invalid_event(event, "a confirmation must name a recorded change"));
                }
                let policy = self.calls.get(slot).and_then(|call| self.pinned(&call.operator)).map(|p| p.confirmation);
                let expected = consequence_of(*outcome, policy.unwrap_or_default(), self.checks_before_undoing());
                if *consequence != expected {
                    let message = format!(
                        "the consequence for {slot} must be {expected:?}, by the confirmation policy of its plugin"
                    );
                    return Err(invalid_event(event, message));
                }
                let same = |failed: &UnconfirmedChange| failed.slot == *slot && failed.resource == *resource;
                if self.confirmations.failed.iter().any(|failed| same(failed) && failed.by_person) {
                    return Err(invalid_event(event, "a change that a person accepted is not checked again"));
                }
                self.confirmations.failed.retain(|failed| !same(failed));
                self.confirmations.failed.push(UnconfirmedChange {
                    slot: slot.clone(),
                    resource: resource.clone(),
                    outcome: *outcome,
                    found: found.clone(),
                    consequence: *consequence,
                    attempt: event.attempt,
                    resolved_by: None,
                    by_person: false,
                    gone: false,
                });
                match consequence {
                    Consequence::Ended => self.aborted = true,
                    Consequence::Warned => self.confirmations.warnings += 1,
                    Consequence::Asked => {}
                }
            }
            Body::ConfirmationAccepted { slot, by, resource, gone } => {
                // `gone` is accepted only after the end of the job. In an open job, a step may depend on the effect and
                // could not continue without it.
                if *gone && (resource.is_some() || !self.state.is_terminal()) {
                    return Err(invalid_event(
                        event,
                        format!("the effect of {slot} can be reported as gone only after the end of the job"),
                    ));
                }
                let meant = |failed: &&mut UnconfirmedChange| {
                    let same = resource.as_ref().is_none_or(|resource| failed.resource == *resource);
                    failed.slot == *slot && same && failed.resolved_by.is_none()
                };
                let mut any = false;
                for failed in self.confirmations.failed.iter_mut().filter(meant) {
                    failed.resolved_by = Some(by.clone());
                    failed.by_person = resource.is_none();
                    failed.gone = *gone;
                    any = true;
                }
                if !any {
                    return Err(invalid_event(event, format!("no change of {slot} awaits confirmation")));
                }
            }
            _ => unreachable!("only changes and their confirmations come here"),
        }
        Ok(())
    }
}
