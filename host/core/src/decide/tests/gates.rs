//! Gates: asked before anything is executed, bound to the exact call, decided once.

use serde_json::json;

use super::sim::{Sim, step};
use crate::error::Code;
use crate::event::Mode;
use crate::ids::{Hash, Slot};
use crate::job::JobState;
use crate::response::response;
use crate::storage::Request;

fn gate(sim: &Sim, slot: &str) -> Hash {
    sim.durable().job.gates[&Slot::new(slot)].hash
}

/// I20.
#[test]
fn an_external_send_waits_for_approval_and_then_runs_once() {
    let mut sim = Sim::new(Mode::HumanGated, vec![step("a", "Opaque", &[], json!({ "to": "ada" }))]);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Parked);
    let blocked = response(&durable).blocked_on.unwrap();
    assert_eq!((blocked.reason_code, blocked.gate_id.as_deref()), (Code::RequiresApproval, Some("gate-a")));
    assert!(sim.world.is_empty(), "asking executes nothing");
    sim.ask(Request::Approve { slot: Slot::new("a"), gate_hash: Hash::of(&[b"another call"]) });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked, "an approval of another call counts nothing");
    let hash = gate(&sim, "a");
    sim.ask(Request::Approve { slot: Slot::new("a"), gate_hash: hash });
    sim.ask(Request::Reject { slot: Slot::new("a"), gate_hash: hash });
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed, "the first decision stands");
    assert_eq!(sim.world[&Slot::new("a")], 1);
}

#[test]
fn a_rejected_step_fails_and_nothing_is_executed() {
    let mut sim =
        Sim::new(Mode::HumanGated, vec![step("a", "Read", &[], json!({})), step("b", "Opaque", &["a"], json!({}))]);
    sim.process(None).unwrap();
    let hash = gate(&sim, "b");
    sim.ask(Request::Reject { slot: Slot::new("b"), gate_hash: hash });
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Partial);
    assert_eq!(response(&durable).failed[0].reason_code, Code::GateRejected);
    assert!(sim.world.is_empty());
}

#[test]
fn a_call_inside_a_step_is_gated_too() {
    let plan = || vec![step("a", "Script", &[], json!({ "calls": ["Read", "Opaque"] }))];
    let mut sim = Sim::new(Mode::HumanGated, plan());
    let durable = sim.process(None).unwrap();
    let blocked = response(&durable).blocked_on.unwrap();
    assert_eq!((blocked.slot.as_str(), blocked.reason_code), ("a/1", Code::RequiresApproval));
    let hash = gate(&sim, "a/1");
    sim.ask(Request::Approve { slot: Slot::new("a/1"), gate_hash: hash });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    assert_eq!(sim.world[&Slot::new("a/1")], 1);

    let mut sim = Sim::new(Mode::HumanGated, plan());
    sim.process(None).unwrap();
    sim.ask(Request::Reject { slot: Slot::new("a/1"), gate_hash: gate(&sim, "a/1") });
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed, "the step got the refusal as an answer");
    let output = durable.output(&"a".into()).unwrap();
    assert_eq!(&*output, br#"["\"done\"","GATE_REJECTED"]"#);
    assert!(sim.world.is_empty());
}

#[test]
fn modes_narrow_what_a_plan_may_do() {
    let plan = || {
        vec![
            step("a", "Read", &[], json!({})),
            step("b", "Opaque", &["a"], json!({})),
            step("c", "Read", &["b"], json!({ "x": { "$ref": "b#" } })),
            step("d", "Read", &["b"], json!({})),
        ]
    };
    let mut sim = Sim::new(Mode::DraftOnly, plan());
    let durable = sim.process(None).unwrap();
    assert_eq!(response(&durable).failed[0].reason_code, Code::ModeForbids);
    assert!(sim.world.is_empty());

    let mut sim = Sim::new(Mode::DryRun, plan());
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed);
    let codes: Vec<_> = response(&durable).steps.iter().map(|step| step.reason_code).collect();
    assert_eq!(codes, [None, Some(Code::ModeForbids), Some(Code::DryRunUpstream), None]);
    assert!(sim.world.is_empty());
}

#[test]
fn effects_that_a_step_does_not_declare_are_refused() {
    let mut one = step("a", "Opaque", &[], json!({}));
    one["effects"] = json!(["read_only"]);
    let mut sim = Sim::new(Mode::HumanGated, vec![one]);
    let durable = sim.process(None).unwrap();
    assert_eq!(response(&durable).failed[0].reason_code, Code::PolicyDenied);
    assert!(sim.world.is_empty());
}
