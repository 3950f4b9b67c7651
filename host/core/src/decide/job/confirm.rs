//! Confirmation (§11): when a job is resumed, recorded changes are verified before steps or compensations rely on
//! them. This module selects the changes to verify and records the results.

use std::collections::{BTreeMap, BTreeSet};

use crate::decide::blocked;
use crate::decide::call::action;
use crate::decide::common::unblock;
use crate::encoding::truncate;
use crate::event::{Body, Consequence, DecidedBy, Resource, UnconfirmedReason};
use crate::model::bounds;
use crate::model::effect::StateChange;
use crate::model::error::Code;
use crate::model::ids::{Operator, Slot};
use crate::model::manifest::Confirmation;
use crate::model::step::StepState;
use crate::state::{Durable, Job, RecordedChange, UnconfirmedChange, consequence_of};
use crate::storage::{ActionWrite, Draft, Record};

/// A recorded change to verify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmationCheck {
    /// Call that made the change.
    pub slot: Slot,
    /// Operator of the call.
    pub operator: Operator,
    /// Name of the verifier: [`crate::model::manifest::OWN_VERIFIER`] or a verifier of the host.
    pub verifier: String,
    /// The recorded change.
    pub change: StateChange,
}

/// Result of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfirmationResult {
    /// The resource is as recorded.
    Confirmed,
    /// The resource is not as recorded. Carries the state that was found.
    Mismatch(String),
    /// The verifier gave no result. Carries the reason.
    Unavailable(String),
}

/// Returns the changes to verify in this attempt: the newest change per resource and plugin. A change is included if
/// an earlier attempt recorded it, a verifier exists, and no person has accepted it.
pub fn due_confirmations(durable: &Durable) -> Vec<ConfirmationCheck> {
    let job = &durable.job;
    // An aborting job uses recorded effects only to undo them. If the job does not compensate, no change has to be
    // verified.
    if job.is_aborting() && !job.compensates() || job.state.is_terminal() {
        return Vec::new();
    }
    let mut newest: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for (at, changed) in job.confirmations.changes.iter().enumerate() {
        let pinned = job.calls.get(&changed.slot).and_then(|call| job.pinned(&call.operator));
        let Some(pinned) = pinned.filter(|pinned| pinned.is_world_changing()) else { continue };
        let change = &changed.change;
        newest.insert((&pinned.plugin, &change.resource_type, &change.resource_id), at);
    }
    let mut order: Vec<usize> = newest.into_values().collect();
    order.sort_unstable();
    order.into_iter().filter_map(|at| due_check(job, &job.confirmations.changes[at])).collect()
}

fn due_check(job: &Job, changed: &RecordedChange) -> Option<ConfirmationCheck> {
    let RecordedChange { slot, change, attempt } = changed;
    let operator = &job.calls.get(slot)?.operator;
    let verifier = job.pinned(operator)?.verifier.clone()?;
    let resource = Resource::of(change);
    let known = job.confirmations.failed.iter().any(|failed| {
        let done = failed.by_person || failed.attempt == job.attempt;
        failed.slot == *slot && failed.resource == resource && done
    });
    // An aborting job does not use an effect that it will not undo, so this effect need not be verified.
    let matters = !job.is_aborting()
        || job.undo_operator(slot).is_some() && !job.compensations.contains_key(&slot.compensation());
    let is_due = *attempt < job.attempt && job.still_holds(slot) && !known && matters;
    is_due.then(|| ConfirmationCheck {
        slot: slot.clone(),
        operator: operator.clone(),
        verifier,
        change: change.clone(),
    })
}

/// Returns the draft that records the results of verification.
///
/// The states of finished steps never change. A running step with an unconfirmed call becomes blocked. A step that is
/// blocked by an unconfirmed call continues after the confirmation of the call.
///
/// No step is blocked or unblocked if a mismatch ends the job or if the job is already aborting.
pub fn record_confirmation_results(durable: &Durable, looked: &[(ConfirmationCheck, ConfirmationResult)]) -> Draft {
    let job = &durable.job;
    let again: BTreeSet<(&Slot, Resource)> =
        looked.iter().map(|(check, _)| (&check.slot, Resource::of(&check.change))).collect();
    // If a change is verified again, only the new result counts.
    let open = job.changes_to_accept().filter(|failed| !again.contains(&(&failed.slot, failed.resource.clone())));
    let mut asked: BTreeSet<Slot> = open.map(|failed| failed.slot.clone()).collect();
    let mut events = Vec::new();
    for (check, looked) in looked {
        let resource = Resource::of(&check.change);
        let (outcome, found) = match looked {
            ConfirmationResult::Confirmed => {
                events.extend(confirmed_again(job, check, resource));
                continue;
            }
            ConfirmationResult::Mismatch(found) => (UnconfirmedReason::Mismatch, found),
            ConfirmationResult::Unavailable(why) => (UnconfirmedReason::Unavailable, why),
        };
        let policy = job.pinned(&check.operator).map_or(Confirmation::Strict, |pinned| pinned.confirmation);
        let consequence = consequence_of(outcome, policy, job.checks_before_undoing());
        if consequence == Consequence::Asked {
            asked.insert(check.slot.clone());
        }
        let (slot, found) = (check.slot.clone(), truncate::at_bytes(found, bounds::FOUND_BYTES).start.to_owned());
        events.push(Body::ConfirmationFailed { slot, resource, outcome, found, consequence });
    }
    let actions = events.iter().flat_map(|body| receipt_writes(durable, body)).collect();
    let ends = |body: &Body| matches!(body, Body::ConfirmationFailed { consequence: Consequence::Ended, .. });
    if !events.iter().any(ends) && !job.is_aborting() {
        events.extend(block_unconfirmed_steps(job, &asked));
    }
    // Write the action keys and the mismatch event in one transaction. A mismatch that ends the job is not verified
    // again, so no later attempt could make up for missing writes to the action keys.
    Draft { events, actions, kind: Record::FlushWhole, ..Draft::default() }
}

/// Returns the writes to the action key of a call whose effect was verified.
///
/// - If the effect differs from the record, the receipt of the call is withdrawn, so that no other call reuses the
///   receipt. A mismatch with the consequence `Warned` withdraws no receipt.
/// - If a person accepts the effect, or a later verification finds the effect as recorded, the receipt is restored.
/// - If a person reports that the effect no longer exists, the key is released.
fn receipt_writes(durable: &Durable, body: &Body) -> Vec<ActionWrite> {
    match body {
        Body::ConfirmationFailed { slot, outcome: UnconfirmedReason::Mismatch, consequence, .. }
            if *consequence != Consequence::Warned =>
        {
            action::withdraw_receipt(durable, slot)
        }
        Body::ConfirmationAccepted { slot, gone: true, .. } => action::release_key(durable, slot),
        // The receipt stays withdrawn while another resource of the same call differs from the record.
        Body::ConfirmationAccepted { slot, resource, .. } => {
            let other = |failed: &UnconfirmedChange| {
                let same = failed.slot == *slot
                    && failed.outcome == UnconfirmedReason::Mismatch
                    && failed.resolved_by.is_none();
                same && resource.as_ref().is_some_and(|resource| failed.resource != *resource)
            };
            let open = durable.job.confirmations.failed.iter().any(other);
            if open { Vec::new() } else { action::restore_receipt(durable, slot) }
        }
        _ => Vec::new(),
    }
}

/// Returns the acceptance event if an earlier verification failed and the resource is now as recorded.
fn confirmed_again(job: &Job, check: &ConfirmationCheck, resource: Resource) -> Option<Body> {
    let open = job
        .confirmations
        .failed
        .iter()
        .any(|failed| failed.slot == check.slot && failed.resource == resource && failed.resolved_by.is_none());
    let by = DecidedBy::claimed(format!("verifier {}", check.verifier), None);
    let slot = check.slot.clone();
    open.then_some(Body::ConfirmationAccepted { slot, by, resource: Some(resource), gone: false })
}

/// Returns the events that block and unblock steps. `asked` contains the calls whose effects a person has to confirm.
///
/// A started step is blocked if it has a call in `asked`. A step that is blocked by an unconfirmed call is unblocked if
/// the call is not in `asked`.
fn block_unconfirmed_steps(job: &Job, asked: &BTreeSet<Slot>) -> Vec<Body> {
    let mut events = Vec::new();
    for step in &job.steps {
        let first = asked.iter().find(|slot| slot.step() == step.id);
        match (step.state, &step.blocked, first) {
            (StepState::Ready, _, Some(slot)) if step.started_us.is_some() => {
                events.push(blocked(&step.id, slot, Code::ConfirmationRequired));
            }
            (StepState::Blocked, Some((slot, Code::ConfirmationRequired)), _) if !asked.contains(slot) => {
                events.push(Body::StepUnblocked { step_id: step.id.clone() });
            }
            _ => {}
        }
    }
    events
}

/// Records that a person accepts the present state of the resources that the call changed. If `gone` is true, records
/// instead that the effect no longer exists. In an open job, a request with `gone` writes nothing.
pub(crate) fn accept_change(durable: &Durable, slot: &Slot, by: DecidedBy, gone: bool) -> Draft {
    let job = &durable.job;
    let over = job.state.is_terminal();
    let is_meant =
        job.changes_to_accept().any(|failed| failed.slot == *slot) || job.mismatches().any(|found| found == slot);
    if !is_meant || gone && !over {
        return Draft::default();
    }
    let accepted = Body::ConfirmationAccepted { slot: slot.clone(), by, resource: None, gone };
    let actions = receipt_writes(durable, &accepted);
    let waits = job.step(&slot.step()).and_then(|step| step.blocked.as_ref()).filter(|_| !over);
    let go_on = match waits {
        Some((_, Code::ConfirmationRequired)) => unblock(durable, slot),
        _ => Draft::default(),
    };
    Draft { events: vec![accepted], actions, kind: Record::LingerWhole, ..Draft::default() }.merge(go_on)
}
