//! Tests of reusing an earlier result for a step. The decision is made once and recorded, and replay uses the
//! recorded result.

use serde_json::{Value, json};

use crate::decide::tests::support::{Sim, good, step};
use crate::event::Body;
use crate::model::effect::{Answer, Output, Provenance};
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, JobId, Operator, Slot};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::reuse_reason::ReuseReason;
use crate::response::response;
use crate::rules::reuse::ReusableResult;
use crate::storage::ManualVerdict;

/// Returns a read whose answer may be reused for an hour.
fn cached(payload: Value) -> Value {
    let mut read = step("a", "Read", &[], payload);
    read["cache_policy"] = json!({ "ttl_seconds": 3600 });
    read
}

/// Returns the reusable results that a first job leaves.
fn first(mode: Mode) -> Vec<ReusableResult> {
    let mut sim = Sim::new(mode, vec![cached(json!({ "q": 1 }))]);
    sim.process(None).unwrap();
    sim.reusables
}

fn second(payload: Value, reusable: ReusableResult, output: &[u8]) -> Sim {
    let mut sim = Sim::new(Mode::AutoExec, vec![cached(payload)]);
    let reusable = ReusableResult { job_id: JobId::new("job_0"), output_hash: Hash::of(&[output]), ..reusable };
    sim.earlier = Some((reusable, output.to_vec()));
    sim
}

fn decisions(sim: &Sim) -> Vec<(bool, ReuseReason)> {
    let decision = |body: &Body| match body {
        Body::ReuseDecided { reused, reason, .. } => Some((*reused, *reason)),
        _ => None,
    };
    sim.record.events.iter().filter_map(|event| decision(&event.body)).collect()
}

/// I23: a step with an equal input gets the earlier output and is not executed.
#[test]
fn equal_input_reuses_earlier_output() {
    let [reusable] = &first(Mode::AutoExec)[..] else { panic!("one result is kept") };
    let mut sim = second(json!({ "q": 1 }), reusable.clone(), b"\"earlier\"");
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed);
    assert_eq!(&*durable.output(&"a".into()).unwrap(), b"\"earlier\"");
    assert_eq!(decisions(&sim), [(true, ReuseReason::WithinTtl)]);
    assert!(durable.job.calls.is_empty() && durable.job.steps[0].started_us.is_none(), "nothing ran");
    assert!(sim.reusables.is_empty(), "its time to live does not restart");
    assert_eq!(response(&durable).steps[0].notes, ["result reused from job_0 a"]);
    // Loading the job again gives the same output.
    assert_eq!(&*sim.durable().output(&"a".into()).unwrap(), b"\"earlier\"");
}

#[test]
fn other_input_and_changed_bytes_are_not_reused() {
    let [reusable] = &first(Mode::AutoExec)[..] else { panic!("one result is kept") };
    let mut sim = second(json!({ "q": 2 }), reusable.clone(), b"\"earlier\"");
    let durable = sim.process(None).unwrap();
    assert_eq!(&*durable.output(&"a".into()).unwrap(), b"\"done\"");
    assert!(decisions(&sim).is_empty());
    let mut sim = second(json!({ "q": 1 }), reusable.clone(), b"\"earlier\"");
    sim.earlier.as_mut().unwrap().1 = b"\"forged\"".to_vec();
    let durable = sim.process(None).unwrap();
    assert_eq!(&*durable.output(&"a".into()).unwrap(), b"\"done\"");
    assert_eq!(decisions(&sim), [(false, ReuseReason::Output)]);
}

#[test]
fn dry_runs_and_world_changing_calls_are_not_indexed() {
    assert!(first(Mode::DryRun).is_empty());
    let mut sends = cached(json!({}));
    sends["name"] = json!("Opaque");
    let mut sim = Sim::new(Mode::AutoExec, vec![sends]);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    assert!(sim.reusables.is_empty());
    let mut script = cached(json!({ "calls": ["Opaque"] }));
    script["name"] = json!("Failing");
    let mut sim = Sim::new(Mode::AutoExec, vec![script]);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    assert!(sim.reusables.is_empty(), "a step whose calls changed the world is not kept");
}

/// A reusable result contains the facts by which later jobs decide about its reuse.
#[test]
fn reusable_result_carries_type_sensitivity_and_verification() {
    let kept = |answer: &str| {
        let mut planned = cached(json!({}));
        planned["outcome"] = json!({ "type": "Text.Draft", "sensitivity": "team" });
        let mut sim = Sim::new(Mode::AutoExec, vec![planned]);
        let output = Output { result: answer.to_owned(), ..good() };
        sim.script.insert("Read".into(), vec![Answer::Ok(output)]);
        sim.process(None).unwrap();
        let [reusable] = &sim.reusables[..] else { panic!("one result is kept") };
        reusable.clone()
    };
    let plain = kept("\"done\"");
    assert_eq!((plain.outcome_type.as_deref(), plain.sensitivity.as_deref()), (Some("Text.Draft"), Some("team")));
    assert_eq!((plain.is_verified, plain.output_hash), (false, Hash::of(&[b"\"done\""])));
    assert!(kept(r#"{"verified":true}"#).is_verified);
}

/// I23: if a reused result is the outcome of a step, it is also an outcome of the job that reuses it.
#[test]
fn reused_outcome_is_recorded_as_outcome() {
    let drafted = || {
        let mut planned = cached(json!({}));
        planned["outcome"] = json!({ "type": "Text.Draft" });
        Sim::new(Mode::AutoExec, vec![planned])
    };
    let mut first = drafted();
    first.process(None).unwrap();
    let [reusable] = &first.reusables[..] else { panic!("one result is kept") };
    let mut sim = drafted();
    let found =
        ReusableResult { job_id: JobId::new("job_0"), output_hash: Hash::of(&[b"\"earlier\""]), ..reusable.clone() };
    sim.earlier = Some((found, b"\"earlier\"".to_vec()));
    let view = response(&sim.process(None).unwrap());
    let previews: Vec<_> = view.outcomes.iter().map(|outcome| outcome.preview.as_str()).collect();
    assert_eq!((previews, decisions(&sim)), (vec!["\"earlier\""], vec![(true, ReuseReason::WithinTtl)]));
}

/// A reusable result that depends on a person's verdict records the provenance `PersonDecision`.
#[test]
fn result_from_verdict_is_marked_as_such() {
    let mut planned = cached(json!({ "calls": ["Opaque"] }));
    planned["name"] = json!("Script");
    for (resolved, provenance) in [(true, Provenance::PersonDecision), (false, Provenance::Executed)] {
        let mut sim = Sim::new(Mode::AutoExec, vec![planned.clone()]);
        let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("a header") };
        header.operators.get_mut(&Operator::new("Script")).unwrap().effects = vec![];
        sim.begin_with(*header);
        let failure = Failure::new(Code::AuthForbidden, "?");
        let answer = match resolved {
            true => Answer::Unknown { failure, kept: None },
            false => Answer::NotApplied(failure),
        };
        sim.script.insert("Opaque".into(), vec![answer]);
        sim.process(None).unwrap();
        if resolved {
            sim.resolve(Slot::new("a/0"), ManualVerdict::Abort);
            sim.process(None).unwrap();
        }
        let [reusable] = &sim.reusables[..] else { panic!("one result is kept: {:?}", sim.reusables) };
        assert_eq!(reusable.provenance, provenance);
    }
}
