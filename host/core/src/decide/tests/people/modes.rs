//! Tests of modes: the report of a dry run, and the gates that trust removes.

use serde_json::json;

use crate::decide::tests::support::{Sim, step};
use crate::event::Body;
use crate::model::answer_requirement::AnswerRequirement;
use crate::model::auto_exec::AutoExec;
use crate::model::effect::Answer;
use crate::model::error::Code;
use crate::model::ids::{Operator, Slot};
use crate::model::job::JobState;
use crate::model::manifest::Determinism;
use crate::model::mode::Mode;
use crate::response::response;
use crate::rules::policy::{may_be_refused, refuse_unmet};

fn auto(level: u32) -> AutoExec {
    AutoExec { enabled: true, min_trust: 2, trust: [("ada/Opaque".to_owned(), level)].into() }
}

/// I42: if the policy trusts an actor, the gates that come from the mode are not requested. All other gates are
/// still requested.
#[test]
fn trust_removes_mode_gates_but_not_plan_gates() {
    let plan = |gate: &str| {
        let mut one = step("a", "Opaque", &[], json!({}));
        one["gate"] = json!(gate);
        vec![one, step("s", "Script", &["a"], json!({ "calls": ["Opaque"] }))]
    };
    let state = |gate: &str, change: &dyn Fn(&mut Sim)| {
        let mut sim = Sim::new(Mode::AutoExec, plan(gate));
        sim.rules.auto_exec = auto(2);
        change(&mut sim);
        let durable = sim.process(None).unwrap();
        (durable.job.state, sim.executions_by_slot.len())
    };
    assert_eq!(state("none", &|_| {}), (JobState::Completed, 2));
    assert_eq!(state("none", &|sim| sim.rules.auto_exec = auto(1)), (JobState::Parked, 0), "not enough trust");
    assert_eq!(state("none", &|sim| sim.rules.auto_exec = AutoExec::default()), (JobState::Parked, 0));
    assert_eq!(state("human_confirm", &|_| {}), (JobState::Parked, 0), "the plan's own gate stays");
    let named = |sim: &mut Sim| sim.rules.gate_effects = vec![crate::model::manifest::EffectKind::ExternalSend];
    assert_eq!(state("none", &named), (JobState::Parked, 0), "and so does one that the policy names");
}

/// I42: a dry run reports each skipped call with its arguments.
#[test]
fn dry_run_reports_skipped_calls_with_arguments() {
    let plan = vec![
        step("a", "Opaque", &[], json!({ "to": "ada" })),
        step("b", "Read", &["a"], json!({ "x": { "$ref": "a#/id" }, "y": 1 })),
        step("s", "Script", &["a"], json!({ "calls": ["Read", "Keyed", "Read"] })),
    ];
    let mut sim = Sim::new(Mode::DryRun, plan);
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, sim.executions_by_slot.len(), sim.actions.len()), (JobState::Completed, 0, 0));
    let response = response(&durable);
    let would = |n: usize| response.steps[n].would_call.clone().expect("it says what it would have done");
    assert_eq!((would(0).operator.as_str(), would(0).args), ("Opaque", json!({ "to": "ada" })));
    assert_eq!((would(1).open, would(1).args["y"].clone()), (vec!["/x".to_owned()], json!(1)));
    assert_eq!((would(2).slot, would(2).operator.as_str()), (Slot::new("s/1"), "Keyed"));
    assert_eq!(would(2).args, json!({ "k": 1 }));
}

/// I253: a requirement holds for every operator that it names, whatever the operator declares about itself.
#[test]
fn unmet_policy_demand_is_denied() {
    for determinism in [Determinism::External, Determinism::Stable, Determinism::Pure] {
        let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
        sim.rules.auto_exec = auto(3);
        sim.rules.require = [(Operator::new("Opaque"), vec![AnswerRequirement::Verified])].into();
        let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("a header") };
        header.operators.values_mut().for_each(|pinned| pinned.determinism = determinism);
        sim.begin_with(*header);
        let durable = sim.process(None).unwrap();
        assert_eq!(response(&durable).failed[0].reason_code, Code::PolicyDenied, "{determinism:?}");
        assert!(sim.executions_by_slot.is_empty(), "{determinism:?}: afterwards would be too late");
    }

    let sim = Sim::new(Mode::AutoExec, vec![]);
    let read = Operator::new("Read");
    let denied = |demands: &[AnswerRequirement], answer: &str| {
        let mut rules = sim.rules.clone();
        rules.require = [(read.clone(), demands.to_vec())].into();
        assert_eq!(refuse_unmet(&rules, &Operator::new("Other"), answer.as_bytes()), None);
        refuse_unmet(&rules, &read, answer.as_bytes()).map(|failure| failure.code)
    };
    let both = [AnswerRequirement::Citations, AnswerRequirement::Verified];
    assert_eq!(denied(&both, r#"{"citations":["x"],"verified":true}"#), None);
    for lacking in [r#"{"citations":[],"verified":true}"#, r#"{"citations":["x"],"verified":"yes"}"#, "[]", "{}"] {
        assert_eq!(denied(&both, lacking), Some(Code::PolicyDenied), "{lacking}");
    }
    assert_eq!(denied(&[], "{}"), None);
    assert!(may_be_refused(b"{}") && may_be_refused(b"{") && !may_be_refused(br#"{"citations":[1],"verified":true}"#));
    // If the policy denies a read, the denial is the final answer of the read.
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Read", &[], json!({}))]);
    let failure = crate::model::error::Failure::new(Code::PolicyDenied, "no citations");
    sim.script.insert(read, vec![Answer::NotApplied(failure)]);
    assert_eq!(response(&sim.process(None).unwrap()).failed[0].reason_code, Code::PolicyDenied);
}
