//! Gates: approvals requested before a call is executed.
//!
//! The policy states the required number of approvers. The gate is approved when this number of approvers have
//! approved it. A rejection or the expiry closes the gate. Recording a decision executes nothing.

use crate::decide::{Context, failed};
use crate::event::{Body, DecidedBy, Header};
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, Operator, Slot};
use crate::model::manifest::PinnedOperator;
use crate::model::mode::Mode;
use crate::model::payload::PayloadRef;
use crate::model::person::{Assurance, Statement};
use crate::model::result_type::ResultType;
use crate::model::rules::Rules;
use crate::state::{Approval, Durable, Gate};
use crate::storage::{Draft, InboxRequest};

/// Returns the hash of the exact call that an approval covers. The hash covers operator, digest, slot,
/// arguments and mode.
pub fn gate_hash(operator: &PinnedOperator, name: &str, slot: &Slot, args: &[u8], mode: Mode) -> Hash {
    let fields: [&[u8]; 5] =
        [name.as_bytes(), &operator.digest.0, slot.as_str().as_bytes(), args, mode.as_str().as_bytes()];
    let lengths = fields.map(|field| (field.len() as u64).to_be_bytes());
    let mut parts: Vec<&[u8]> = vec![b"gate\0"];
    for (length, field) in lengths.iter().zip(fields) {
        parts.extend([length.as_slice(), field]);
    }
    Hash::of(&parts)
}

/// Returns the event that requests an approval, and a flag. An approval that was given with the submission is appended
/// as a second event. The flag is true if that approval decides the gate.
pub(crate) fn request_gate(
    durable: &Durable,
    context: &Context<'_>,
    slot: &Slot,
    gate_hash: Hash,
    args: PayloadRef,
    operator: &Operator,
) -> (Vec<Body>, bool) {
    let header = &durable.job.header;
    let rules = context.rules;
    // An approval given with the submission covers the call, but not its compensation.
    let standing = rules.standing_approvals
        && !slot.is_compensation()
        && header.standing_approvals.contains(&slot.step())
        && !rules.gate_reason
        && rules.gate_approvals.is_claimed()
        && may_approve(rules, header, &header.actor_id);
    let before = durable.job.gates.get(slot).filter(|gate| gate.hash == gate_hash);
    let counted = before.map_or(0, |gate| counted_approvals(rules, header, gate));
    let known = before.is_some_and(|gate| gate.approvals.iter().any(|approval| approval.by.actor == header.actor_id));
    let standing = standing && !known;
    let decided = standing && counted + 1 >= rules.gate_quorum;
    // A call that is already approved waits for no decision and needs no timer.
    let expires_us =
        (!decided).then(|| context.now_us.saturating_add(i64::from(rules.gate_expires_ms).saturating_mul(1_000)));
    let mut events = vec![Body::GateRequested {
        slot: slot.clone(),
        gate_hash,
        args,
        operator: operator.clone(),
        quorum: rules.gate_quorum,
        expires_us,
        approvals: rules.gate_approvals,
    }];
    if standing {
        let by = DecidedBy::claimed(header.actor_id.clone(), Some("approved with the submission".to_owned()));
        events.push(Body::GateApproved { slot: slot.clone(), gate_hash, by, standing });
    }
    (events, decided)
}

/// Returns true if an approved gate is still approved under the current policy. The policy may have become
/// stricter since the approval.
pub(crate) fn is_still_approved(durable: &Durable, context: &Context<'_>, gate: &Gate) -> bool {
    let enough = gate.quorum.max(context.rules.gate_quorum);
    counted_approvals(context.rules, &durable.job.header, gate) >= enough
}

/// Returns true if the actor's approval counts in this job.
pub fn may_approve(rules: &Rules, header: &Header, actor: &str) -> bool {
    rules.self_approve || header.actor_id != actor
}

/// Returns the number of approvals of the gate that count under the policy.
pub fn counted_approvals(rules: &Rules, header: &Header, gate: &Gate) -> u32 {
    gate.count_approvals(rules.gate_approvals, |approval| {
        may_approve(rules, header, &approval.by.actor)
            && (rules.standing_approvals || !approval.standing)
            && has_required_reason(rules, approval)
    })
}

/// Returns true if the actor has approved the gate explicitly and as the policy requires. An approval given
/// with the submission does not count.
pub fn has_approved(rules: &Rules, gate: &Gate, actor: &str) -> bool {
    let theirs = |approval: &&Approval| approval.by.actor == actor && !approval.standing;
    let is_sufficient = |approval: &Approval| {
        has_required_reason(rules, approval) && approval.by.assurance() >= required_assurance(rules, gate)
    };
    gate.approvals.iter().filter(theirs).any(is_sufficient)
}

/// Returns the assurance that an approval of the gate must have.
pub fn required_assurance(rules: &Rules, gate: &Gate) -> Assurance {
    rules.gate_approvals.max(gate.required)
}

/// Returns true if the approval satisfies the policy's rule about reasons. An approval given with the
/// submission has no reason of its own.
fn has_required_reason(rules: &Rules, approval: &Approval) -> bool {
    !rules.gate_reason || (!approval.standing && is_reason_given(approval.by.reason.as_deref()))
}

/// Returns true if a reason is given and not blank.
pub fn is_reason_given(reason: Option<&str>) -> bool {
    reason.is_some_and(|reason| !reason.trim().is_empty())
}

/// Records an approval.
pub(crate) fn approve(durable: &Durable, slot: &Slot, hash: Hash, by: DecidedBy, context: &Context<'_>) -> Draft {
    let Some(gate) = undecided_gate(durable, slot, hash) else { return Draft::default() };
    let unsaid = context.rules.gate_reason && !is_reason_given(by.reason.as_deref());
    if unsaid
        || by.assurance() < required_assurance(context.rules, gate)
        || has_approved(context.rules, gate, &by.actor)
        || !may_approve(context.rules, &durable.job.header, &by.actor)
    {
        return Draft::default();
    }
    let body = Body::GateApproved { slot: slot.clone(), gate_hash: hash, by, standing: false };
    Draft { events: vec![body], ..Draft::default() }
}

/// Returns the statement that the actor of a gate decision signs. Returns `None` if the request decides no open gate.
pub fn signed_statement<'a>(
    durable: &'a Durable,
    request: &'a InboxRequest,
    by: &'a DecidedBy,
) -> Option<Statement<'a>> {
    let (slot, hash, approve) = match request {
        InboxRequest::Approve { slot, gate_hash } => (slot, gate_hash, true),
        InboxRequest::Reject { slot, gate_hash } => (slot, gate_hash, false),
        _ => return None,
    };
    let gate = undecided_gate(durable, slot, *hash)?;
    Some(gate.statement(&durable.job.header, slot, by, approve))
}

/// Records a rejection. One rejection closes the gate.
pub(crate) fn reject(durable: &Durable, slot: &Slot, hash: Hash, by: DecidedBy) -> Draft {
    if undecided_gate(durable, slot, hash).is_none() {
        return Draft::default();
    }
    let reason = by.reason.as_deref().unwrap_or("no reason given");
    let failure = Failure::new(Code::GateRejected, format!("{} refused it: {reason}", by.actor));
    let mut events = vec![Body::GateRejected { slot: slot.clone(), gate_hash: hash, by }];
    events.extend(fail_plan_step(slot, &failure));
    Draft { events, ..Draft::default() }
}

/// Closes a gate that was not decided in time.
pub(crate) fn expire(slot: &Slot, gate: &Gate) -> Draft {
    let mut events = vec![Body::GateExpired { slot: slot.clone(), gate_hash: gate.hash }];
    events.extend(fail_plan_step(slot, &expired()));
    Draft { events, ..Draft::default() }
}

/// Returns the failure of a call whose gate was rejected or has expired.
pub(crate) fn closed_gate_failure(gate: &Gate) -> Option<Failure> {
    match &gate.decision {
        _ if gate.expired => Some(expired()),
        Some((false, by)) => {
            let reason = by.reason.as_deref().unwrap_or("no reason given");
            Some(Failure::new(Code::GateRejected, format!("{} refused it: {reason}", by.actor)))
        }
        _ => None,
    }
}

fn expired() -> Failure {
    Failure::new(Code::GateExpired, "the gate expired before a decision")
}

fn undecided_gate<'d>(durable: &'d Durable, slot: &Slot, hash: Hash) -> Option<&'d Gate> {
    durable.job.open_gate(slot).filter(|gate| gate.hash == hash)
}

/// Fails a plan step whose gate was rejected or has expired. A call inside a step plugin needs no event,
/// because the refusal becomes the answer of the call.
fn fail_plan_step(slot: &Slot, failure: &Failure) -> Option<Body> {
    slot.is_step().then(|| failed(failure, &slot.step(), ResultType::PermanentFailure))
}
