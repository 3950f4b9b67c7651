//! What the calls of a job changed in the world, and what of it was not found as it was recorded.

use std::collections::BTreeSet;

use crate::effect::{Provenance, StateChange};
use crate::event::{Body, Consequence, Decider, Event, Resource, Unconfirmed};
use crate::ids::{Slot, StepId};
use crate::manifest::Confirmation;

use super::Job;
use super::fold::{FoldError, unknown};

/// One recorded change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The call that made it.
    pub slot: Slot,
    /// What changed.
    pub change: StateChange,
    /// The attempt that recorded it.
    pub attempt: u32,
}

/// One change that was not confirmed when it was last looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotConfirmed {
    /// The call that made it.
    pub slot: Slot,
    /// The thing that changed.
    pub resource: Resource,
    /// Why it is not confirmed.
    pub outcome: Unconfirmed,
    /// What was found instead, or why nobody could tell.
    pub found: String,
    /// What followed.
    pub consequence: Consequence,
    /// The attempt in which it was looked at.
    pub attempt: u32,
    /// Who took it as it is, or found it as recorded again.
    pub settled: Option<Decider>,
    /// Whether that was a person: the change is not looked at again.
    pub by_person: bool,
    /// Whether the person found that the effect is gone for good.
    pub gone: bool,
}

/// What the events say of changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confirmations {
    /// Every recorded change, in order.
    pub changes: Vec<Changed>,
    /// Those that were not confirmed, each as it was last looked at.
    pub failed: Vec<NotConfirmed>,
    /// How often one was found otherwise and the job went on (`confirmation_replay_warnings_total`).
    pub warnings: u32,
}

/// What follows from what was found, by the plugin's rule. A verifier that could not tell has
/// found nothing: whatever the rule, a person is asked. So it is before anything is undone: a job that
/// was given up has no other end to come to.
pub(crate) fn follows_from(outcome: Unconfirmed, policy: Confirmation, before_undoing: bool) -> Consequence {
    match (outcome, policy) {
        (Unconfirmed::Unavailable, _) | (Unconfirmed::Mismatch, Confirmation::HumanInLoop) => Consequence::Asked,
        (Unconfirmed::Mismatch, Confirmation::Warn) => Consequence::Warned,
        (Unconfirmed::Mismatch, Confirmation::Strict) if before_undoing => Consequence::Asked,
        (Unconfirmed::Mismatch, Confirmation::Strict) => Consequence::Ended,
    }
}

impl Job {
    /// Whether a look is one before undoing: a job that a mismatch has ended undoes nothing, and each
    /// further mismatch of the same look ends it as well.
    pub(crate) fn looks_before_undoing(&self) -> bool {
        self.is_given_up() && self.ended_by_mismatch().is_none()
    }

    /// Calls whose effect is not as it was recorded, and which nobody has taken as they are: what
    /// they did is not undone, because that would undo what somebody else has made of it.
    pub fn mismatches(&self) -> impl Iterator<Item = &Slot> {
        let mismatch = |failed: &&NotConfirmed| failed.outcome == Unconfirmed::Mismatch && failed.settled.is_none();
        self.confirmations.failed.iter().filter(mismatch).map(|failed| &failed.slot)
    }

    /// Those of them that the plugin's rule does not let pass with a warning: somebody has to decide
    /// what their receipts are worth.
    pub fn disputed(&self) -> impl Iterator<Item = &Slot> {
        let counts = |failed: &&NotConfirmed| {
            let open = failed.outcome == Unconfirmed::Mismatch && failed.settled.is_none();
            open && failed.consequence != Consequence::Warned
        };
        self.confirmations.failed.iter().filter(counts).map(|failed| &failed.slot)
    }

    /// Whether what a step changed was not found as it was recorded, and nobody has taken it as it is.
    pub fn is_known_otherwise(&self, step: &StepId) -> bool {
        let gone = self.confirmations.failed.iter().filter(|failed| failed.gone).map(|failed| &failed.slot);
        self.disputed().chain(gone).any(|slot| slot.step() == *step)
    }

    /// The mismatch that ended the job.
    pub fn ended_by_mismatch(&self) -> Option<&NotConfirmed> {
        self.confirmations.failed.iter().find(|failed| failed.consequence == Consequence::Ended)
    }

    /// Changes that a person has to take as they are before anything builds on them.
    pub fn asked(&self) -> impl Iterator<Item = &NotConfirmed> {
        let open = |failed: &&NotConfirmed| failed.consequence == Consequence::Asked && failed.settled.is_none();
        self.confirmations.failed.iter().filter(open)
    }

    /// Steps that build on a change which somebody has yet to confirm: they stay where they are.
    pub fn held(&self) -> BTreeSet<StepId> {
        let mut held: BTreeSet<StepId> = self.asked().map(|failed| failed.slot.step()).collect();
        if held.is_empty() {
            return held;
        }
        // In the order of the plan each step comes after those it depends on.
        for planned in &self.plan.steps {
            if planned.depends_on.iter().any(|id| held.contains(id)) {
                held.insert(planned.step_id.clone());
            }
        }
        held
    }

    /// Whether what the call changed is its own doing, and was not undone since.
    pub fn stands(&self, slot: &Slot) -> bool {
        let undo = self.calls.get(&slot.compensation());
        let undone = slot.is_compensation() || undo.is_some_and(|call| call.committed);
        let finished = self.calls.get(slot).filter(|call| call.committed).and_then(|call| call.finished.as_ref());
        !undone && finished.is_some_and(|finished| finished.ok && finished.provenance != Provenance::Reused)
    }

    pub(super) fn apply_confirmation(&mut self, event: &Event) -> Result<(), FoldError> {
        match &event.body {
            Body::StateChanged { slot, change } => {
                self.find_step(event, &slot.step())?;
                let changed = Changed { slot: slot.clone(), change: change.clone(), attempt: event.attempt };
                self.confirmations.changes.push(changed);
            }
            Body::ConfirmationFailed { slot, resource, outcome, found, consequence } => {
                let of = |changed: &Changed| changed.slot == *slot && Resource::of(&changed.change) == *resource;
                if !self.confirmations.changes.iter().any(of) {
                    return Err(unknown(event, "what is confirmed is a recorded change"));
                }
                let policy = self.calls.get(slot).and_then(|call| self.pinned(&call.operator)).map(|p| p.confirmation);
                let expected = follows_from(*outcome, policy.unwrap_or_default(), self.looks_before_undoing());
                if *consequence != expected {
                    let message = format!("of what was found of {slot} follows {expected:?}, by its plugin's rule");
                    return Err(unknown(event, message));
                }
                let same = |failed: &NotConfirmed| failed.slot == *slot && failed.resource == *resource;
                if self.confirmations.failed.iter().any(|failed| same(failed) && failed.by_person) {
                    return Err(unknown(event, "what a person took as it is is not looked at again"));
                }
                self.confirmations.failed.retain(|failed| !same(failed));
                self.confirmations.failed.push(NotConfirmed {
                    slot: slot.clone(),
                    resource: resource.clone(),
                    outcome: *outcome,
                    found: found.clone(),
                    consequence: *consequence,
                    attempt: event.attempt,
                    settled: None,
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
                // Word that nothing is there ends what builds on it: it is for a job that is over.
                if *gone && (resource.is_some() || !self.state.is_terminal()) {
                    return Err(unknown(event, format!("that the effect of {slot} is gone is said after the end")));
                }
                let meant = |failed: &&mut NotConfirmed| {
                    let same = resource.as_ref().is_none_or(|resource| failed.resource == *resource);
                    failed.slot == *slot && same && failed.settled.is_none()
                };
                let mut any = false;
                for failed in self.confirmations.failed.iter_mut().filter(meant) {
                    failed.settled = Some(by.clone());
                    failed.by_person = resource.is_none();
                    failed.gone = *gone;
                    any = true;
                }
                if !any {
                    return Err(unknown(event, format!("nothing of {slot} is to be confirmed")));
                }
            }
            _ => unreachable!("only changes and their confirmations come here"),
        }
        Ok(())
    }
}
