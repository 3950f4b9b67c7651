//! Tests of the receipts of actions that are being undone, or whose effects differ from the record. Other jobs do not
//! get these receipts until the state of the action is certain.

use serde_json::json;

use crate::decide::tests::support::compensation::{job, with};
use crate::decide::tests::support::{CrashPoint, Sim, step};
use crate::decide::{ConfirmationResult, ForkRefusal, ForkRequest, fork};
use crate::event::{Body, DecidedBy};
use crate::model::effect::{Answer, Output, StateChange};
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, JobId, Operator, Slot, StepId};
use crate::model::job::JobState;
use crate::model::manifest::{Confirmation, OWN_VERIFIER};
use crate::model::mode::Mode;
use crate::response::response;
use crate::state::Durable;
use crate::storage::{InboxRequest, ManualVerdict};

/// Returns a job with an opaque send that has an action key. A gate stops the job after the send.
fn sent() -> Sim {
    let mut sim = job(
        Mode::AutoExec,
        "keep",
        vec![send(), with(step("d", "Opaque", &["a"], json!({})), "gate", "human_confirm")],
    );
    sim.process(None).unwrap();
    assert!(has_receipt(&sim), "it was performed");
    sim
}

fn send() -> serde_json::Value {
    let mut send = step("a", "Opaque", &[], json!({ "to": "ada" }));
    send["idempotency_template"] = json!("send:{to}");
    send
}

/// Returns true if another job would get the receipt of the action. Returns false if the key is reserved
/// without a receipt.
fn has_receipt(sim: &Sim) -> bool {
    let held: Vec<_> = sim.actions.values().filter(|row| row.slot.as_str() == "a").collect();
    assert_eq!(held.len(), 1, "one slot holds the key: {held:?}");
    held[0].receipt.is_some()
}

fn is_free(sim: &Sim) -> bool {
    sim.actions.values().all(|row| row.slot.as_str() != "a")
}

fn fails(sim: &mut Sim) {
    let no = Answer::NotApplied(Failure::new(Code::InvalidInput, "no"));
    sim.script.insert(Operator::new("Opaque"), vec![no]);
}

/// I38, I45: the receipt is withdrawn from the moment at which compensation begins.
#[test]
fn receipt_is_withheld_during_compensation() {
    let mut sim = sent();
    sim.send_request(InboxRequest::Cancel);
    assert!(sim.process(Some(CrashPoint::BeforeExecute(0))).is_err());
    assert!(!has_receipt(&sim), "it is being undone");
    sim.process(None).unwrap();
    assert!(!has_receipt(&sim), "the outcome of the compensation is unknown");
    sim.resolve(Slot::new("a~c"), ManualVerdict::Applied("1".into()));
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Cancelled);
    assert!(is_free(&sim), "it is undone, so the next job performs it");
}

/// I38, I45: an action whose compensation certainly failed counts as performed, and its receipt is available again.
#[test]
fn failed_compensation_restores_receipt() {
    for word in [None, Some(InboxRequest::Continue), Some(InboxRequest::Abort)] {
        let mut sim = sent();
        fails(&mut sim);
        sim.send_request(InboxRequest::Cancel);
        let durable = sim.process(None).unwrap();
        assert_eq!((durable.job.state, has_receipt(&sim)), (JobState::Parked, false));
        sim.send_request(word.unwrap_or_else(|| sim.verdict(&Slot::new("a~c"), ManualVerdict::Abort)));
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Cancelled);
        assert!(has_receipt(&sim));
    }
    // The compensation is aborted before its approval.
    let mut sim = sent();
    sim.rules.gate_effects = vec![crate::model::manifest::EffectKind::ExternalSend];
    sim.send_request(InboxRequest::Cancel);
    sim.process(None).unwrap();
    assert!(!has_receipt(&sim), "approval is requested");
    sim.send_request(InboxRequest::Abort);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Cancelled);
    assert!(has_receipt(&sim));
}

/// I38, I45: if the outcome of a compensation is unknown, no other job ever gets the receipt of the action.
#[test]
fn lost_compensation_keeps_action_open() {
    let mut sim = sent();
    sim.send_request(InboxRequest::Cancel);
    assert!(sim.process(Some(CrashPoint::AfterExecute(0))).is_err());
    sim.process(None).unwrap();
    sim.resolve(Slot::new("a~c"), ManualVerdict::Abort);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Cancelled);
    assert!(!has_receipt(&sim));
}

/// I20, I38: if a person retries a failed compensation, the retry is gated under the current policy.
#[test]
fn retried_compensation_is_gated_again() {
    let mut sim = sent();
    fails(&mut sim);
    sim.send_request(InboxRequest::Cancel);
    assert_eq!(response(&sim.process(None).unwrap()).reason_code, Some(Code::CompensationFailed));
    sim.rules.gate_effects = vec![crate::model::manifest::EffectKind::ExternalSend];
    let tried = sim.executions_by_slot.get(&Slot::new("a~c")).copied();
    sim.resolve(Slot::new("a~c"), ManualVerdict::NotApplied);
    let durable = sim.process(None).unwrap();
    assert_eq!(response(&durable).blocked_on.map(|view| view.reason_code), Some(Code::RequiresApproval));
    assert_eq!(sim.executions_by_slot.get(&Slot::new("a~c")).copied(), tried, "and nothing is executed before");
}

/// I15: a cancelled job no longer waits at the gates of its plan.
#[test]
fn the_gates_of_a_cancelled_plan_are_closed() {
    let sim = sent();
    let mut durable = sim.durable();
    let context = crate::decide::Context { now_us: 9_000, random: 1, rules: &sim.rules, clock_margin_ms: 0 };
    let row = crate::storage::InboxRow {
        id: 1,
        actor: "bob".into(),
        reason: None,
        request: InboxRequest::Cancel,
        verified: None,
    };
    let draft = crate::decide::apply_request(&durable, &row, &context);
    let batch = durable.seal(durable.job.attempt, draft, 9_000).unwrap();
    let closed = |awaited: &crate::storage::expectation::Expectation| {
        awaited.name == "gate/d" && awaited.state == crate::storage::expectation::ExpectationState::Over
    };
    assert!(batch.expectations.iter().any(closed), "{:?}", batch.expectations);
    assert!(batch.timers.iter().any(|timer| timer.name == "gate/d" && timer.due_us.is_none()), "{:?}", batch.timers);
}

/// Returns a job that was killed after step `a` had succeeded, and was then resumed. The verifier finds that
/// the resource changed by `a` differs from the record.
pub(super) fn mismatched(rule: Confirmation) -> (Sim, Durable) {
    let mut sim = job(Mode::AutoExec, "keep", vec![send(), step("r", "Read", &["a"], json!({}))]);
    let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("it begins so") };
    let opaque = header.operators.get_mut("Opaque").unwrap();
    (opaque.verifier, opaque.confirmation) = (Some(OWN_VERIFIER.into()), rule);
    sim.begin_with(*header);
    let change = StateChange {
        resource_type: "file".into(),
        resource_id: "f".into(),
        operation: "update".into(),
        version: Some("1".into()),
        etag: None,
        external_ref: None,
    };
    let output = Output { result: "1".into(), receipt: None, state_changes: vec![change], usage: None };
    sim.script.insert(Operator::new("Opaque"), vec![Answer::Ok(output)]);
    assert!(sim.process(Some(CrashPoint::BeforeExecute(1))).is_err());
    assert!(has_receipt(&sim));
    sim.verifier_results.insert(Slot::new("a"), ConfirmationResult::Mismatch("nothing is there".into()));
    let durable = sim.process(None).unwrap();
    (sim, durable)
}

/// I39, I44, I45: if an effect differs from the record, other jobs do not get the receipt of the action until a person
/// decides. This also holds after the end of the job.
#[test]
fn contradicted_effect_gives_no_receipt_until_decided() {
    for gone in [false, true] {
        let (mut sim, durable) = mismatched(Confirmation::Strict);
        assert_eq!((durable.job.state, has_receipt(&sim)), (JobState::Partial, false));
        let events = sim.record.events.len();
        sim.send_request(InboxRequest::Confirm { slot: Slot::new("r"), gone });
        sim.process(None).unwrap();
        assert_eq!(sim.record.events.len(), events, "this slot was not in question");
        sim.send_request(InboxRequest::Confirm { slot: Slot::new("a"), gone });
        let durable = sim.process(None).unwrap();
        assert_eq!((durable.job.state, is_free(&sim)), (JobState::Partial, gone), "what it came to stays");
        assert!(gone || has_receipt(&sim));
        let response = response(&durable);
        assert_eq!(
            (response.unconfirmed[0].gone, response.next_actions.len()),
            (gone, 0),
            "{:?}",
            response.next_actions
        );
        sim.send_request(InboxRequest::Confirm { slot: Slot::new("a"), gone: !gone });
        sim.process(None).unwrap();
        assert_eq!(is_free(&sim), gone, "it was said once");
    }
    // In an open job, a person accepts the change, or a later verification finds that the change is as recorded.
    for finds in [false, true] {
        let (mut sim, durable) = mismatched(Confirmation::HumanInLoop);
        assert_eq!((durable.job.state, has_receipt(&sim)), (JobState::Parked, false));
        sim.send_request(InboxRequest::Confirm { slot: Slot::new("a"), gone: true });
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked, "the remaining steps depend on it");
        match finds {
            true => sim.verifier_results.clear(),
            false => sim.send_request(InboxRequest::Confirm { slot: Slot::new("a"), gone: false }),
        }
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
        assert!(has_receipt(&sim));
    }
    let (sim, durable) = mismatched(Confirmation::Warn);
    assert_eq!((durable.job.state, has_receipt(&sim)), (JobState::Completed, true), "a warning takes nothing back");
}

/// I25, I39: if the effect of a step differs from the record, a fork executes the step and its dependents
/// again.
#[test]
fn fork_does_not_copy_contradicted_effect() {
    let request = ForkRequest {
        at: StepId::new("r"),
        set: [].into(),
        by: DecidedBy::claimed("bob", None),
        job_id: JobId::new("job_2"),
        secret: Hash::of(&[b"another secret"]),
    };
    let (mut sim, durable) = mismatched(Confirmation::Strict);
    let copied = |durable: &Durable| match fork(durable, &request).unwrap().body {
        Body::JobForked { copied, gated, .. } => (copied.len(), gated.len()),
        _ => panic!("a fork"),
    };
    assert_eq!(copied(&durable), (0, 1), "approval is requested before it is done again");
    let set = ForkRequest { set: [(StepId::new("a"), b"1".to_vec())].into(), ..request.clone() };
    assert!(!matches!(fork(&durable, &set), Err(ForkRefusal::NotCopied { .. })), "its output can be set");
    sim.send_request(InboxRequest::Confirm { slot: Slot::new("a"), gone: false });
    let durable = sim.process(None).unwrap();
    assert_eq!(copied(&durable).0, 1, "taken as it is, it is copied");
}
