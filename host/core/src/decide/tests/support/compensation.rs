//! Jobs whose effects can be undone.

use serde_json::{Value, json};

use crate::decide::tests::support::{Sim, step};
use crate::event::Body;
use crate::model::error::Code;
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::plan::Plan;
use crate::response::response;
use crate::state::Durable;
use crate::storage::InboxRequest;

/// Returns a job whose world-changing operators can undo their own calls.
pub(crate) fn job(mode: Mode, on_failure: &str, steps: Vec<Value>) -> Sim {
    let mut sim = Sim::new(mode, steps);
    let Body::PlanCreated { mut plan, .. } = sim.record.events[1].body.clone() else { panic!("a plan") };
    plan["on_failure"] = on_failure.into();
    let plan: Plan = serde_json::from_value(plan).unwrap();
    let (plan, plan_hash) = (serde_json::to_value(&plan).unwrap(), plan.hash());
    sim.record.row.plan_hash = plan_hash;
    sim.record.events[1].body = Body::PlanCreated { plan, plan_hash };
    pin(&mut sim, |name| ["Opaque", "Keyed", "Queryable"].contains(&name));
    sim
}

/// Pins the operators. An operator has a `compensate` export if `exports` returns true.
pub(crate) fn pin(sim: &mut Sim, exports: impl Fn(&str) -> bool) {
    let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("a header") };
    for (name, pinned) in &mut header.operators {
        pinned.compensate = exports(name.as_str());
    }
    sim.begin_with(*header);
}

pub(crate) fn with(mut step: Value, key: &str, value: &str) -> Value {
    step[key] = value.into();
    step
}

/// Returns a plan with effects of every class, in plan steps and inside a step plugin, followed by a gate.
pub(crate) fn plan() -> Vec<Value> {
    vec![
        step("r", "Read", &[], json!({})),
        step("a", "Opaque", &["r"], json!({ "n": 1 })),
        with(step("b", "Keyed", &["a"], json!({ "n": 2 })), "compensate_with", "Queryable"),
        step("c", "Script", &["b"], json!({ "calls": ["Read", "Queryable", "Opaque"] })),
        with(step("d", "Opaque", &["c"], json!({})), "gate", "human_confirm"),
    ]
}

/// Runs the job up to the gate of step `d`. All steps before `d` succeed.
pub(crate) fn run_to_gate(sim: &mut Sim) {
    let durable = sim.process(None).unwrap();
    assert_eq!(response(&durable).blocked_on.map(|b| b.reason_code), Some(Code::RequiresApproval));
    assert_eq!(sim.executions_by_slot.len(), 4);
}

/// Returns a finished job with effects of every class, in plan steps and inside a step plugin.
pub(crate) fn finished(mode: Mode) -> Sim {
    let mut steps = plan();
    steps.truncate(4);
    let mut sim = job(mode, "keep", steps);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    assert_eq!(sim.executions_by_slot.len(), 4);
    sim
}

pub(crate) fn undo(sim: &mut Sim) -> Durable {
    sim.send_request_with_reason("eve", Some("wrong room"), InboxRequest::Undo);
    sim.process(None).unwrap()
}
