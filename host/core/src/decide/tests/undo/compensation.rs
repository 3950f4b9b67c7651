//! Tests of compensation: the effects that are undone, their order, the operator that undoes them, and the
//! effects that stay.

use serde_json::{Value, json};

use crate::decide::tests::support::compensation::{job, pin, plan, run_to_gate, with};
use crate::decide::tests::support::{CrashPoint, Sim, step};
use crate::decide::{RetryRefusal, retry_round};
use crate::event::{Body, Event};
use crate::model::effect::Answer;
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, Operator, Slot};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::result_type::ResultType;
use crate::response::{CompensationState, response};
use crate::state::Durable;
use crate::storage::{InboxRequest, ManualVerdict};

pub(super) fn cancelled(sim: &mut Sim) -> Durable {
    sim.send_request(InboxRequest::Cancel);
    sim.process(None).unwrap()
}

pub(super) fn started(sim: &Sim) -> Vec<String> {
    let slots = sim.record.events.iter().filter_map(|event| match &event.body {
        Body::ToolInvocationStarted { slot, .. } if slot.is_compensation() => Some(slot.to_string()),
        _ => None,
    });
    slots.collect()
}

pub(super) fn no(code: Code) -> Answer {
    Answer::NotApplied(Failure::new(code, "no"))
}

pub(super) fn states(durable: &Durable) -> Vec<(String, CompensationState, Option<Code>)> {
    let views = response(durable).compensations;
    views.into_iter().map(|view| (view.slot.to_string(), view.state, view.reason_code)).collect()
}

fn result_types(durable: &Durable) -> Vec<Option<ResultType>> {
    durable.job.steps.iter().map(|step| step.result_type).collect()
}

/// I37: a cancelled job undoes its effects, the last effect first.
#[test]
fn cancelled_job_undoes_effects_in_reverse_order() {
    let mut sim = job(Mode::AutoExec, "keep", plan());
    run_to_gate(&mut sim);
    let durable = cancelled(&mut sim);
    assert_eq!(durable.job.state, JobState::Cancelled);
    assert_eq!(started(&sim), ["c/2~c", "c/1~c", "b~c", "a~c"]);
    let undo = ["a~c", "b~c", "c/1~c", "c/2~c"];
    assert!(undo.iter().all(|slot| sim.executions_by_slot[&Slot::new(slot)] == 1), "{:?}", sim.executions_by_slot);
    assert_eq!(sim.executions_by_slot.len(), 8, "and nothing else: {:?}", sim.executions_by_slot);
    use ResultType::{Compensated, Success};
    let undone = Some(Compensated);
    assert_eq!(result_types(&durable), [Some(Success), undone, undone, undone, None]);
    assert!(states(&durable).iter().all(|(_, state, _)| *state == CompensationState::Compensated));
    assert_eq!(durable.job.calls[&Slot::new("b~c")].operator.as_str(), "Queryable", "what the plan names undoes it");
    assert!(sim.effect_keys.contains("latch:job_1:b~c:2"), "under a key of its own: {:?}", sim.effect_keys);
    // The last event of the log is the cancellation of the job.
    assert!(matches!(sim.record.events.last().unwrap().body, Body::JobCancelled {}));
}

/// I37: a compensating call gets the operator, arguments, result, receipt and key of the call that it undoes.
#[test]
fn compensation_gets_the_undone_call_as_arguments() {
    let mut sim = job(Mode::AutoExec, "keep", plan());
    run_to_gate(&mut sim);
    let durable = cancelled(&mut sim);
    let args: Value = serde_json::from_slice(&durable.args(&Slot::new("b~c")).unwrap()).unwrap();
    let key = "latch:job_1:b:1";
    assert_eq!(
        args,
        json!({ "operator": "Keyed", "args": { "n": 2 }, "result": "done", "receipt": null, "external_key": key })
    );
}

/// I37: if a step fails finally and the plan requires a rollback, the job undoes its effects.
#[test]
fn failed_job_is_rolled_back_if_plan_requires_it() {
    for on_failure in ["compensate", "keep"] {
        let steps = vec![
            step("a", "Opaque", &[], json!({})),
            step("f", "Failing", &["a"], json!({ "calls": ["Keyed"], "fail": true })),
            step("z", "Read", &["f"], json!({})),
        ];
        let mut sim = job(Mode::AutoExec, on_failure, steps);
        let durable = sim.process(None).unwrap();
        assert_eq!(durable.job.state, JobState::Partial, "{on_failure}");
        let failed = sim.record.events.iter().find_map(|event| match &event.body {
            Body::StepFailed { result_type, .. } => Some(*result_type),
            _ => None,
        });
        assert_eq!(failed, Some(ResultType::CompensatableFailure), "it failed after it had changed the world");
        if on_failure == "keep" {
            assert_eq!((sim.executions_by_slot.len(), response(&durable).compensations.len()), (2, 0));
            assert_eq!(result_types(&durable)[1], Some(ResultType::CompensatableFailure));
            continue;
        }
        assert_eq!(started(&sim), ["f/0~c", "a~c"]);
        assert_eq!(result_types(&durable), [Some(ResultType::Compensated), Some(ResultType::Compensated), None]);
        let slot = durable.job.compensations.keys().next().unwrap().clone();
        assert_eq!(
            retry_round(&durable),
            Err(RetryRefusal::Compensated { slot }),
            "what was undone is not tried again"
        );
        assert!(response(&durable).next_actions.is_empty());
    }
}

/// I37: failed calls, refused calls and receipts of other jobs are not undone.
#[test]
fn only_calls_that_took_effect_are_undone() {
    let steps = vec![
        step("a", "Opaque", &[], json!({})),
        step("b", "Keyed", &["a"], json!({})),
        with(step("d", "Opaque", &["a"], json!({})), "gate", "human_confirm"),
    ];
    let mut sim = job(Mode::AutoExec, "keep", steps);
    sim.script.insert("Keyed".into(), vec![no(Code::AuthForbidden)]);
    sim.process(None).unwrap();
    assert_eq!(cancelled(&mut sim).job.state, JobState::Cancelled);
    assert_eq!(started(&sim), ["a~c"]);

    let mut dry = job(Mode::DryRun, "compensate", plan());
    let durable = dry.process(None).unwrap();
    assert_eq!((durable.job.state, dry.executions_by_slot.len()), (JobState::Completed, 0));
    assert!(response(&durable).compensations.is_empty());
}

/// I38: an effect that no operator can undo is reported as such, and never as compensated.
#[test]
fn effects_without_compensation_are_reported() {
    let mut sim = job(Mode::AutoExec, "keep", plan());
    pin(&mut sim, |name| name == "Queryable");
    run_to_gate(&mut sim);
    let durable = cancelled(&mut sim);
    assert_eq!(durable.job.state, JobState::Cancelled);
    assert_eq!(started(&sim), ["c/1~c", "b~c"]);
    let reported: Vec<_> = states(&durable).into_iter().map(|(slot, state, _)| (slot, state)).collect();
    let of = |slot: &str, state| (slot.to_owned(), state);
    use CompensationState::{Compensated, Impossible};
    let expected = [of("c/2", Impossible), of("c/1", Compensated), of("b", Compensated), of("a", Impossible)];
    assert_eq!(reported, expected);
    use ResultType::{Compensated as RolledBack, SideEffectCommitted, Success};
    let types = [Some(Success), Some(SideEffectCommitted), Some(RolledBack), Some(SideEffectCommitted), None];
    assert_eq!(result_types(&durable), types, "a step is rolled back when all that it did is undone");
}

/// I20, I37: a compensating call that sends to the outside is gated like any other external call.
#[test]
fn compensations_have_gates_of_their_own() {
    let steps = || {
        let mut steps = plan();
        steps.truncate(2);
        steps.push(step("d", "Opaque", &["a"], json!({})));
        steps
    };
    let at_gate = || {
        let mut sim = job(Mode::HumanGated, "keep", steps());
        // An approval given with the submission covers the call, but not its compensation.
        let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("a header") };
        header.standing_approvals = vec!["a".into()];
        sim.begin_with(*header);
        sim.process(None).unwrap();
        let durable = cancelled(&mut sim);
        assert_eq!((durable.job.state, sim.executions_by_slot.len()), (JobState::Parked, 1));
        let view = response(&durable);
        let blocked = view.blocked_on.clone().unwrap();
        assert_eq!(blocked.gate_id.as_deref(), Some("gate-a~c"));
        assert!(view.next_actions[0].ends_with("approve job_1 a~c"), "{:?}", view.next_actions);
        assert_eq!(view.blocked.len(), 1, "no request for a cancelled call: {:?}", view.blocked);
        (sim, durable.job.gates[&Slot::new("a~c")].hash)
    };
    let (mut sim, gate_hash) = at_gate();
    let slot = Slot::new("a~c");
    sim.send_request(InboxRequest::Approve { slot: slot.clone(), gate_hash: Hash::of(&[b"another"]) });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked, "an approval of another call");
    sim.send_request(InboxRequest::Approve { slot: slot.clone(), gate_hash });
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, sim.executions_by_slot[&slot]), (JobState::Cancelled, 1));

    let (mut sim, gate_hash) = at_gate();
    sim.send_request(InboxRequest::Reject { slot: slot.clone(), gate_hash });
    let durable = sim.process(None).unwrap();
    let blocked = response(&durable).blocked_on.unwrap();
    assert_eq!((durable.job.state, blocked.reason_code), (JobState::Parked, Code::CompensationFailed));
    assert_eq!(states(&durable)[0].2, Some(Code::GateRejected));
    // A compensation that is retried is gated again.
    sim.resolve(slot.clone(), ManualVerdict::NotApplied);
    let durable = sim.process(None).unwrap();
    assert_eq!(response(&durable).blocked_on.unwrap().reason_code, Code::RequiresApproval);
    sim.send_request(InboxRequest::Approve { slot: slot.clone(), gate_hash });
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, sim.executions_by_slot[&slot]), (JobState::Cancelled, 1));

    let (mut sim, _) = at_gate();
    sim.now_us += 100 * 3_600 * 1_000_000;
    let durable = sim.process(None).unwrap();
    assert_eq!(states(&durable)[0].2, Some(Code::GateExpired));
    sim.send_request(InboxRequest::Abort);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Cancelled);
}

/// I21: undoing an action releases its action key, so another job can perform the action.
#[test]
fn key_of_undone_action_is_released() {
    let mut sim = job(Mode::AutoExec, "keep", plan());
    run_to_gate(&mut sim);
    let keys = sim.actions.len();
    assert!(keys >= 2 && sim.actions.values().all(|row| row.receipt.is_some()), "{:?}", sim.actions);
    cancelled(&mut sim);
    assert_eq!(sim.actions.len(), 0, "{:?}", sim.actions);
}

/// I41: a fork executes undone steps again, after an approval.
#[test]
fn fork_copies_no_undone_step() {
    use crate::decide::{ForkRequest, fork};
    let mut sim = job(Mode::AutoExec, "keep", plan());
    run_to_gate(&mut sim);
    let durable = cancelled(&mut sim);
    let request = ForkRequest {
        at: "d".into(),
        set: Default::default(),
        by: crate::event::DecidedBy::claimed("bob", None),
        job_id: "job_2".into(),
        secret: Hash::of(&[b"other"]),
    };
    let Body::JobForked { copied, gated, .. } = fork(&durable, &request).unwrap().body else { panic!("a fork") };
    let copied: Vec<_> = copied.iter().map(|step| step.step_id.to_string()).collect();
    assert_eq!(copied, ["r"], "what was undone is done again, and what was made from it");
    let gated: Vec<_> = gated.iter().map(ToString::to_string).collect();
    assert_eq!(gated, ["a", "b", "c"], "and is asked about first");
    // A fork copies an undone step if the request replaces the output of that step. The request is refused if
    // the step depends on another undone step.
    let set = [("c".into(), b"1".to_vec())].into();
    let refused = fork(&durable, &ForkRequest { set, ..request.clone() }).unwrap_err();
    assert!(refused.to_string().contains("undone"), "{refused}");
    let set = ["a", "b", "c"].map(|id| (id.into(), b"1".to_vec()));
    let set = [set[0].clone()].into();
    let Body::JobForked { copied, .. } = fork(&durable, &ForkRequest { set, ..request }).unwrap().body else {
        panic!("a fork")
    };
    assert_eq!(copied.iter().map(|step| step.step_id.as_str()).collect::<Vec<_>>(), ["r", "a"]);
}

/// I6, I37: a log that undoes calls in another order is refused.
#[test]
fn out_of_order_compensation_events_are_refused() {
    let mut sim = job(Mode::AutoExec, "keep", plan());
    run_to_gate(&mut sim);
    sim.send_request(InboxRequest::Cancel);
    assert!(sim.process(Some(CrashPoint::Write(2))).is_err());
    let durable = sim.durable();
    assert!(durable.job.cancel.is_some() && durable.job.compensations.is_empty());
    let args = durable.job.calls[&Slot::new("a")].args;
    let starts = |slot: &str, operator: &str, own: bool| Body::CompensationStarted {
        slot: Slot::new(slot),
        operator: Operator::new(operator),
        own,
        args,
    };
    let apply = |job: &mut crate::state::Job, body: Body| {
        let event = Event::seal(job.next_seq, job.last_us, job.attempt, body, job.head);
        job.apply(&event).map_err(|error| error.to_string())
    };
    let refused = |body: Body| apply(&mut durable.job.clone(), body).expect_err("it is refused");
    assert!(refused(starts("a~c", "Opaque", true)).contains("c/2"), "the last effect first");
    assert!(refused(starts("c/2~c", "Keyed", true)).contains("another operator"));
    assert!(refused(starts("d~c", "Opaque", true)).contains("c/2"), "it took no effect");
    assert!(refused(Body::CompensationFinished { slot: Slot::new("c/2~c") }).contains("has no such final answer"));
    let mut job = durable.job.clone();
    apply(&mut job, starts("c/2~c", "Opaque", true)).unwrap();
    assert!(apply(&mut job, starts("c/2~c", "Opaque", true)).unwrap_err().contains("in flight"));
    let early = Body::ToolInvocationStarted {
        slot: Slot::new("c/1~c"),
        operator: Operator::new("Queryable"),
        try_no: 1,
        args,
        first_attempt: 2,
        timeout_ms: 1,
        action_key: None,
    };
    assert!(apply(&mut job, early).unwrap_err().contains("not in flight"));
}

/// I37: a job that succeeded is not undone, even if the plan requires compensation of failures.
#[test]
fn successful_job_undoes_nothing() {
    let steps = vec![step("a", "Opaque", &[], json!({})), step("b", "Keyed", &["a"], json!({}))];
    let mut sim = job(Mode::AutoExec, "compensate", steps);
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, sim.executions_by_slot.len()), (JobState::Completed, 2));
    assert!(started(&sim).is_empty() && response(&durable).compensations.is_empty());
    // A call without a final answer does not count as an effect.
    let call = &durable.job.calls[&Slot::new("a")];
    assert!(durable.job.took_effect(call));
    assert!(!durable.job.took_effect(&crate::state::Call { committed: false, ..call.clone() }));
}

/// A compensation by the plugin of the undone call has the timeout of the plan step. A compensation by another
/// operator has the timeout of that operator.
#[test]
fn compensation_by_own_plugin_has_the_step_timeout() {
    let timed = |id: &str, name: &str, after: &[&str]| with(step(id, name, after, json!({})), "timeout", "7s");
    let steps = vec![
        timed("a", "Opaque", &[]),
        with(timed("b", "Keyed", &["a"]), "compensate_with", "Queryable"),
        with(step("d", "Opaque", &["b"], json!({})), "gate", "human_confirm"),
    ];
    let mut sim = job(Mode::AutoExec, "keep", steps);
    sim.process(None).unwrap();
    cancelled(&mut sim);
    let times = sim.record.events.iter().filter_map(|event| match &event.body {
        Body::ToolInvocationStarted { slot, timeout_ms, .. } if slot.is_compensation() => {
            Some((slot.to_string(), *timeout_ms))
        }
        _ => None,
    });
    assert_eq!(times.collect::<Vec<_>>(), [("b~c".to_owned(), 30_000), ("a~c".to_owned(), 7_000)]);
}

/// I37: a step that the plan gates before execution is also gated before its compensation.
#[test]
fn step_gate_is_requested_again_for_compensation() {
    for (gate, state) in [("human_confirm", JobState::Parked), ("none", JobState::Cancelled)] {
        let steps = vec![
            with(step("a", "Opaque", &[], json!({})), "gate", gate),
            with(step("d", "Opaque", &["a"], json!({})), "gate", "human_confirm"),
        ];
        let mut sim = job(Mode::AutoExec, "keep", steps);
        let durable = sim.process(None).unwrap();
        if let Some(asked) = durable.job.open_gate(&Slot::new("a")) {
            sim.send_request(InboxRequest::Approve { slot: Slot::new("a"), gate_hash: asked.hash });
            sim.process(None).unwrap();
        }
        assert_eq!(sim.executions_by_slot[&Slot::new("a")], 1);
        let durable = cancelled(&mut sim);
        assert_eq!(durable.job.state, state, "{gate}");
        let blocked = response(&durable).blocked_on.map(|blocked| blocked.slot.to_string());
        assert_eq!(blocked.as_deref(), (gate != "none").then_some("a~c"));
    }
}
