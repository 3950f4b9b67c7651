//! Tests of job retries. The retried calls keep their slots and external keys, and a call that may have
//! happened is never executed again.

use serde_json::json;

use crate::decide::tests::support::{Sim, step};
use crate::decide::{RetryRefusal, retry_round};
use crate::event::Body;
use crate::model::effect::Answer;
use crate::model::error::{Code, Failure};
use crate::model::ids::{Operator, Slot};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::step::StepState;
use crate::response::response;
use crate::rules::ledger::RowState;
use crate::storage::{InboxRequest, ManualVerdict};

fn fails(operator: &str, code: Code, times: usize, plan: Vec<serde_json::Value>) -> Sim {
    let mut sim = Sim::new(Mode::AutoExec, plan);
    let answer = || Answer::NotApplied(Failure::new(code, "no"));
    sim.script.insert(Operator::new(operator), (0..times).map(|_| answer()).collect());
    sim
}

fn chain() -> Vec<serde_json::Value> {
    vec![
        step("r", "Read", &[], json!({})),
        step("a", "Keyed", &["r"], json!({ "x": 1 })),
        step("b", "Opaque", &["a"], json!({ "from": { "$ref": "a#" } })),
    ]
}

/// I24: a job retry runs failed and skipped steps again, under the external keys of the first attempt. Steps
/// that succeeded keep their results.
#[test]
fn retry_runs_failed_steps_and_their_skipped_dependents() {
    let mut sim = fails("Keyed", Code::NetworkTimeout, 4, chain());
    let durable = sim.process(None).unwrap();
    let states = |durable: &crate::state::Durable| durable.job.steps.iter().map(|step| step.state).collect::<Vec<_>>();
    assert_eq!(states(&durable), [StepState::Succeeded, StepState::FailedFinal, StepState::Skipped]);
    assert_eq!((durable.job.state, durable.job.calls[&Slot::new("a")].tries), (JobState::Partial, 4));
    let next = response(&durable).next_actions;
    assert_eq!(next, ["latch job retry job_1"]);
    // The number of tries is counted from zero again: three more tries fail, and the fourth succeeds.
    let again = || Answer::NotApplied(Failure::new(Code::NetworkTimeout, "no"));
    sim.script.insert(Operator::new("Keyed"), vec![again(), again(), again()]);
    sim.send_request(InboxRequest::Retry);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed);
    assert_eq!((sim.executions_by_slot[&Slot::new("a")], sim.executions_by_slot[&Slot::new("b")]), (1, 1));
    assert!(sim.effect_keys.contains("latch:job_1:a:1"), "the external key is that of the first attempt");
    let reads = sim
        .record
        .events
        .iter()
        .filter(|e| matches!(&e.body, Body::StepStarted { step_id } if step_id.as_str() == "r"));
    assert_eq!(reads.count(), 1, "what succeeded is not run again");
    sim.durable();
}

/// I24: a job retry puts a lost call in doubt again and does not execute it.
#[test]
fn a_lost_call_is_in_doubt_again() {
    let unknown = || Answer::Unknown { failure: Failure::new(Code::NetworkTimeout, "?"), kept: None };
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
    sim.script.insert(Operator::new("Opaque"), vec![unknown()]);
    sim.process(None).unwrap();
    sim.resolve(Slot::new("a"), ManualVerdict::Abort);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Failed);
    for _ in 0..2 {
        sim.send_request(InboxRequest::Retry);
        let durable = sim.process(None).unwrap();
        assert_eq!(
            (durable.job.state, sim.executions_by_slot[&Slot::new("a")]),
            (JobState::Parked, 1),
            "nothing is executed"
        );
        assert_eq!(durable.rows[&Slot::new("a")].state, RowState::Indeterminate);
        assert_eq!(response(&durable).blocked_on.unwrap().reason_code, Code::IndeterminateEffect);
        sim.resolve(Slot::new("a"), ManualVerdict::Abort);
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Failed);
    }
    sim.send_request(InboxRequest::Retry);
    sim.process(None).unwrap();
    sim.resolve(Slot::new("a"), ManualVerdict::Applied("\"truth\"".into()));
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, sim.executions_by_slot[&Slot::new("a")]), (JobState::Completed, 1));
    assert_eq!(&*durable.output(&"a".into()).unwrap(), b"\"truth\"");
}

/// A job retry repeats the last failed call of a step plugin. The other calls of the step get their recorded
/// answers.
#[test]
fn only_last_failed_call_of_step_plugin_is_retried() {
    let plan = |calls: &[&str]| vec![step("a", "Failing", &[], json!({ "calls": calls }))];
    let mut sim = fails("Opaque", Code::AuthForbidden, 1, plan(&["Keyed", "Opaque"]));
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Failed);
    sim.send_request(InboxRequest::Retry);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed);
    assert_eq!((sim.executions_by_slot[&Slot::new("a/0")], sim.executions_by_slot[&Slot::new("a/1")]), (1, 1));
    // An error cannot be replaced by another answer if the step made another call after the error.
    let mut sim = fails("Opaque", Code::AuthForbidden, 1, plan(&["Opaque", "Keyed"]));
    let durable = sim.process(None).unwrap();
    assert_eq!(retry_round(&durable), Err(RetryRefusal::Followed { slot: Slot::new("a/0") }));
    assert!(response(&durable).next_actions.is_empty(), "what is refused is not offered");
}

#[test]
fn impossible_retry_is_refused() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
    let durable = sim.process(None).unwrap();
    assert!(matches!(retry_round(&durable), Err(RetryRefusal::State { state: JobState::Completed, .. })));
    // An error of the step plugin itself would occur again.
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Failing", &[], json!({ "calls": [], "fail": true }))]);
    let durable = sim.process(None).unwrap();
    let step = "a".into();
    assert_eq!(retry_round(&durable), Err(RetryRefusal::Deterministic { step, code: Code::InvalidInput }));
    // A job with undone effects is not retried.
    let mut sim = fails("Keyed", Code::AuthForbidden, 1, chain());
    let mut durable = sim.process(None).unwrap();
    let call = durable.job.calls[&Slot::new("a")].clone();
    durable.job.calls.insert(Slot::new("r~c"), call);
    assert_eq!(retry_round(&durable), Err(RetryRefusal::Compensated { slot: Slot::new("r~c") }));
}

/// A job retry requests the gate of a rejected step again.
#[test]
fn rejected_gate_is_requested_again() {
    let mut sim = Sim::new(Mode::HumanGated, vec![step("a", "Opaque", &[], json!({}))]);
    sim.process(None).unwrap();
    let gate_hash = sim.durable().job.gates[&Slot::new("a")].hash;
    sim.send_request(InboxRequest::Reject { slot: Slot::new("a"), gate_hash });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Failed);
    sim.send_request(InboxRequest::Retry);
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, sim.executions_by_slot.len()), (JobState::Parked, 0));
    sim.send_request(InboxRequest::Approve { slot: Slot::new("a"), gate_hash });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    assert_eq!(sim.executions_by_slot[&Slot::new("a")], 1);
}

/// A job that is open, cancelled or aborted cannot be retried.
#[test]
fn only_jobs_that_ended_by_themselves_are_retried() {
    let mut gated = step("b", "Opaque", &[], json!({}));
    gated["gate"] = json!("human_confirm");
    let plan = || vec![step("a", "Keyed", &[], json!({})), gated.clone()];
    let mut sim = fails("Keyed", Code::AuthForbidden, 1, plan());
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.steps[0].state, StepState::FailedFinal);
    assert!(matches!(retry_round(&durable), Err(RetryRefusal::State { state: JobState::Parked, .. })));
    sim.send_request(InboxRequest::Abort);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Failed);
    assert_eq!(retry_round(&durable), Err(RetryRefusal::StepCancelled { step: "b".into() }));
}

/// Approvals given before a rejection do not count after a job retry. Every approver has to approve again.
#[test]
fn approvals_of_a_refused_gate_do_not_count_in_the_next_round() {
    let mut sim = Sim::new(Mode::HumanGated, vec![step("a", "Opaque", &[], json!({}))]);
    sim.rules.gate_quorum = 2;
    sim.process(None).unwrap();
    let slot = Slot::new("a");
    let gate_hash = sim.durable().job.gates[&slot].hash;
    sim.send_request_as("bob", InboxRequest::Approve { slot: slot.clone(), gate_hash });
    sim.send_request_as("eve", InboxRequest::Reject { slot: slot.clone(), gate_hash });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Failed);
    sim.send_request_as("bob", InboxRequest::Retry);
    let durable = sim.process(None).unwrap();
    assert!(durable.job.gates[&slot].approvals.is_empty());
    let by_bob = |body: &Body| matches!(body, Body::JobReopened { by, .. } if by.actor == "bob");
    assert!(sim.record.events.iter().any(|event| by_bob(&event.body)), "the log says who asked for it");
    sim.send_request_as("eve", InboxRequest::Approve { slot, gate_hash });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked, "two have to approve");
}
