//! Tests of the plan of a job: its identity, its resolved bindings, and steps whose bindings cannot be
//! resolved.

use serde_json::{Value, json};

use crate::decide::outcome_id;
use crate::decide::tests::support::{Sim, step};
use crate::event::{Body, Event};
use crate::model::error::Code;
use crate::model::ids::JobId;
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::step::StepState;
use crate::response::response;
use crate::state::Job;

/// A job executes only the plan whose hash it recorded.
#[test]
fn plan_not_matching_its_hash_is_refused() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Read", &[], json!({}))]);
    let Body::PlanCreated { plan, plan_hash } = sim.record.events[1].body.clone() else { panic!("a plan") };
    let mut other = plan.clone();
    other["steps"][0]["payload"] = json!({ "to": "eve" });
    for (plan, is_good) in [(plan, true), (other, false)] {
        let head = sim.record.events[0].hash;
        sim.record.events[1] = Event::seal(1, 1_000, 0, Body::PlanCreated { plan, plan_hash }, head);
        assert_eq!(Job::fold(&sim.record.events).is_ok(), is_good);
    }
}

#[test]
fn an_outcome_is_bound_by_the_id_of_its_step() {
    let plan = vec![
        step("a", "Read", &[], json!({})),
        step("b", "Read", &[], json!({})),
        step("c", "Read", &["b"], json!({ "draft": { "$outcome": "b" }, "text": { "$ref": "b#" } })),
    ];
    let mut sim = Sim::new(Mode::AutoExec, plan);
    let durable = sim.process(None).unwrap();
    let input: Value = serde_json::from_slice(&durable.input(&"c".into()).unwrap()).unwrap();
    let id = outcome_id(&JobId::new("job_1"), &"b".into());
    assert_eq!(input, json!({ "draft": id, "text": "done" }));
}

#[test]
fn unresolvable_binding_fails_its_step() {
    let mut hashed = step("c", "Read", &["a"], json!({}));
    hashed["hashes"] = json!({ "h": { "$ref": "a#/nothing" } });
    hashed["idempotency_template"] = json!("{h}");
    for bound in [step("c", "Read", &["a"], json!({ "x": { "$ref": "a#/nothing" } })), hashed] {
        let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Read", &[], json!({})), bound]);
        let durable = sim.process(None).unwrap();
        let view = response(&durable);
        assert_eq!((durable.job.state, view.failed.len()), (JobState::Partial, 1));
        assert_eq!((view.failed[0].step_id.as_str(), view.failed[0].reason_code), ("c", Code::InvalidInput));
        assert!(view.failed[0].message.contains("/nothing"), "{}", view.failed[0].message);
        assert!(durable.job.calls.keys().all(|slot| slot.as_str() != "c"), "it is not executed");
    }
}

/// I42: a dry run needs no action keys. It therefore executes a step whose idempotency template depends on a skipped
/// output. It skips the step only if the step's payload depends on this output too. The report lists only payload
/// bindings as open.
#[test]
fn dry_run_leaves_only_skipped_outputs_open() {
    let mut keyed = step("k", "Read", &["o"], json!({}));
    keyed["hashes"] = json!({ "h": { "$ref": "o#" } });
    keyed["idempotency_template"] = json!("{h}");
    let both = json!({ "made": { "$ref": "r#" }, "open": [1, { "$ref": "o#/id" }, { "$outcome": "o" }] });
    let plan = vec![
        step("r", "Read", &[], json!({})),
        step("o", "Opaque", &[], json!({})),
        keyed,
        step("b", "Read", &["r", "o"], both.clone()),
    ];
    let mut sim = Sim::new(Mode::DryRun, plan);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed);
    assert_eq!(durable.job.step(&"k".into()).unwrap().state, StepState::Succeeded);
    let would = response(&durable).steps[3].would_call.clone().unwrap();
    assert_eq!((would.open, would.args), (vec!["/open/1".to_owned(), "/open/2".to_owned()], both));
}

/// I42: a dry run does not look up the holder of an action key.
#[test]
fn dry_run_does_not_look_up_key_holder() {
    let mut send = step("a", "Opaque", &[], json!({ "to": "ada" }));
    send["gate"] = json!("human_confirm");
    for (mode, looked) in [(Mode::DryRun, false), (Mode::HumanGated, true)] {
        let mut sim = Sim::new(mode, vec![send.clone()]);
        let durable = sim.process(None).unwrap();
        assert_eq!(!durable.prefetched.actions.is_empty(), looked, "{mode:?}");
    }
}
