//! Tests of the parameters of a job. Bindings read the values that were stored at submission.

use serde_json::{Value, json};

use crate::decide::step_action_key;
use crate::decide::tests::support::evidence::{export, verify};
use crate::decide::tests::support::{CrashPoint, Sim, step};
use crate::model::ids::Slot;
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::step::StepState;
use crate::response::response;
use crate::state::{Durable, FoldError};

/// Returns a plan with a read and a send. The action key of the send contains a parameter.
fn plan() -> Value {
    let mut send = step("b", "Opaque", &["a"], json!({ "to": { "$ref": "intent#/to/0" }, "text": { "$ref": "a#" } }));
    send["hashes"] = json!({ "letter": { "$ref": "intent#/letter" } });
    send["idempotency_template"] = json!("send:{letter}");
    let read = step("a", "Read", &[], json!({ "all": { "$ref": "intent#" } }));
    json!({ "plan_id": "p", "schema_version": "1.0", "parameters": {}, "steps": [read, send] })
}

fn values(letter: &str) -> Value {
    json!({ "to": ["ada"], "letter": letter })
}

fn input(durable: &Durable, step: &str) -> Value {
    serde_json::from_slice(&durable.input(&step.into()).expect("the step was ready")).unwrap()
}

/// I147: bindings and idempotency templates resolve to the stored parameter values, wherever the process is
/// killed.
#[test]
fn parameters_are_resolved_after_every_crash() {
    let whole = |mut sim: Sim| {
        let durable = sim.process(None).unwrap();
        (input(&durable, "a"), input(&durable, "b"), step_action_key(&durable, &Slot::new("b")).unwrap())
    };
    let expected = whole(Sim::of(Mode::AutoExec, plan(), Some(&values("x"))));
    assert_eq!(expected.0, json!({ "all": values("x") }));
    assert_eq!(expected.1, json!({ "to": "ada", "text": "done" }));
    let other = whole(Sim::of(Mode::AutoExec, plan(), Some(&values("y"))));
    assert!(expected.2.is_some() && expected.2 != other.2, "the template names a parameter");
    for at in 0..12 {
        let mut sim = Sim::of(Mode::AutoExec, plan(), Some(&values("x")));
        let _ = sim.process(Some(CrashPoint::Write(at)));
        assert!(verify(&export(&sim)).intact, "killed at write {at}");
        if sim.durable().job.state.is_terminal() || response(&sim.durable()).blocked_on.is_some() {
            continue;
        }
        let _ = sim.process(None);
        let durable = sim.durable();
        if durable.job.state == JobState::Completed {
            assert_eq!(whole(sim), expected, "killed at write {at}");
        }
    }
}

/// I147: a dry run skips a step that depends on skipped steps. It does not skip a step that only reads a
/// parameter.
#[test]
fn dry_run_does_not_skip_steps_that_read_parameters() {
    let mut sim = Sim::of(Mode::DryRun, plan(), Some(&values("x")));
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.step(&"a".into()).unwrap().state, StepState::Succeeded);
    let would = response(&durable).steps[1].would_call.clone().unwrap();
    assert_eq!((would.args, would.open), (json!({ "to": "ada", "text": "done" }), vec![]));
}

/// I147: loading a job fails if the hash of its stored parameter values differs from the hash in the log.
#[test]
fn parameter_values_not_matching_log_are_refused() {
    let mut sim = Sim::of(Mode::AutoExec, plan(), Some(&values("x")));
    sim.record.payloads[0].bytes = br#"{"letter":"y","to":["eve"]}"#.to_vec();
    let load = |sim: &Sim| Durable::load(sim.record.clone(), vec![]).map(drop);
    assert!(matches!(load(&sim), Err(FoldError::Altered { seq: 0, label }) if label == "parameters"));
    sim.record.payloads.clear();
    assert!(matches!(load(&sim), Err(FoldError::Missing { seq: 0, label }) if label == "parameters"));
}
