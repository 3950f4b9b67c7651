//! Tests of cancelled jobs. No step of the plan continues, and calls in flight are recorded.

use std::collections::BTreeSet;

use serde_json::json;

use crate::decide;
use crate::decide::tests::support::{CrashPoint, Sim, step};
use crate::decide::{Context, Invocation, NextAction, Try};
use crate::model::effect::{Answer, Effect, Provenance};
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, Slot};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::rules::Rules;
use crate::model::step::StepState;
use crate::response::response;
use crate::rules::ledger::RowState;
use crate::state::{Durable, label};
use crate::storage::{InboxRequest, InboxRow, ManualVerdict};

fn invocation(durable: &Durable, slot: &str) -> Invocation {
    let (slot, args) = (Slot::new(slot), b"{}".to_vec());
    Invocation {
        args_ref: durable.payload_ref(&label::args(&slot), &args),
        slot,
        operator: "Opaque".into(),
        args,
        action_key: None,
        timeout_ms: 30_000,
        unusable: None,
        nonce: None,
        quiescence: None,
        reconcile_exhausted: false,
        max_cost_micro_usd: None,
        reserved_micro_usd: 0,
        month_micro_usd: None,
    }
}

/// Returns two states of a claimed job: before and after a cancel request is applied.
fn held(sim: &Sim, context: &Context<'_>) -> (Durable, Durable) {
    let mut before = sim.durable();
    before.seal(before.job.attempt + 1, decide::claimed("w", Hash::default()), sim.now_us).unwrap();
    let mut after = before.clone();
    let row = InboxRow { id: 1, actor: "bob".into(), reason: None, request: InboxRequest::Cancel, verified: None };
    let draft = decide::apply_request(&after, &row, context);
    after.seal(after.job.attempt, draft, sim.now_us).unwrap();
    (before, after)
}

/// I173: in a cancelled job, a ready step is not started, and a running step makes no further call.
#[test]
fn cancelled_job_begins_no_new_call() {
    let plan = vec![step("a", "Script", &[], json!({ "calls": ["Opaque"] })), step("b", "Read", &["a"], json!({}))];
    let mut sim = Sim::new(Mode::AutoExec, plan);
    let (rules, none) = (sim.rules.clone(), BTreeSet::new());
    let context = Context { now_us: sim.now_us, random: 7, rules: &rules, clock_margin_ms: 0 };
    let (before, after) = held(&sim, &context);
    assert!(decide::advance(&before, &context, &none).is_some() && decide::advance(&after, &context, &none).is_none());

    assert!(sim.process(Some(CrashPoint::Write(2))).is_err(), "after it is ready, before it starts");
    let (before, after) = held(&sim, &context);
    assert_eq!(decide::startable(&before, &none), ["a".into()]);
    assert!(decide::startable(&after, &none).is_empty());
    let next = |durable: &Durable| decide::next_action(durable, &invocation(durable, "a/0"), &context);
    assert!(matches!(next(&before), NextAction::Execute { .. }));
    assert!(matches!(next(&after), NextAction::Abandon), "{:?}", next(&after));
}

/// I173: if a job is cancelled, a call in flight that certainly changed nothing gets a final failure and is not
/// retried.
#[test]
fn call_in_flight_of_cancelled_job_is_recorded_and_not_retried() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
    assert!(sim.process(Some(CrashPoint::BeforeExecute(0))).is_err());
    let rules = Rules::default();
    let context = Context { now_us: sim.now_us, random: 7, rules: &rules, clock_margin_ms: 0 };
    let (before, after) = held(&sim, &context);
    let answered = |durable: &Durable| {
        let slot = Slot::new("a");
        let started = Try::open(durable, &slot).expect("it was in flight");
        let answer = Answer::NotApplied(Failure::new(Code::NetworkTimeout, "no"));
        let (try_no, provenance, time_us) = (started.try_no, Provenance::Executed, context.now_us);
        let effect = Effect { slot, try_no, answer, provenance, time_us, spent: None };
        let draft = decide::answered(durable, &invocation(durable, "a"), &started, effect, &context);
        draft.ledger[0].row().state
    };
    assert_eq!(answered(&before), RowState::FailedDefinite);
    assert_eq!(answered(&after), RowState::FailedFinal);
}

/// I3: a job may be cancelled while one of its steps waits for the next reconcile request of a call. The call
/// stays in doubt, and a person decides.
#[test]
fn a_call_whose_step_waits_for_a_retry_stays_in_doubt() {
    let in_plan = (step("a", "Queryable", &[], json!({})), "a", StepState::FailedRetryable);
    let in_step = (step("a", "Script", &[], json!({ "calls": ["Queryable"] })), "a/0", StepState::Blocked);
    for (planned, slot, state) in [in_plan, in_step] {
        let unknown = || Answer::Unknown { failure: Failure::new(Code::NetworkTimeout, "no answer"), kept: None };
        // Kills the process before each write in turn, until a crash leaves the step waiting.
        let waiting = (0..40).find_map(|nth| {
            let mut sim = Sim::new(Mode::AutoExec, vec![planned.clone()]);
            sim.script.insert("Queryable".into(), vec![unknown()]);
            sim.not_yets = 5;
            drop(sim.process(Some(CrashPoint::Write(nth))));
            let waits = sim.durable().job.step(&"a".into()).is_some_and(|step| step.state == state);
            waits.then_some(sim)
        });
        let mut sim = waiting.expect("the step waits for the next question");
        sim.reconcile_unknown = true;
        sim.send_request(InboxRequest::Cancel);
        let durable = sim.process(None).unwrap();
        assert_eq!(durable.job.state, JobState::Parked, "{slot}");
        let blocked = response(&durable).blocked_on.unwrap();
        assert_eq!((blocked.slot.as_str(), blocked.reason_code), (slot, Code::IndeterminateEffect));
        sim.resolve(Slot::new(slot), ManualVerdict::NotApplied);
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Cancelled, "{slot}");
    }
}
