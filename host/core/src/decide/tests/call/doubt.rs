//! Tests of calls that are in doubt without a crash, because a tool did not answer in time.

use serde_json::json;

use crate::decide;
use crate::decide::tests::support::evidence::{export, verify};
use crate::decide::tests::support::{CrashPoint, Sim, good, step};
use crate::decide::{NOT_YETS_MAX, VerdictRefusal};
use crate::event::{Body, Event};
use crate::model::effect::{Answer, Effect, Output, Provenance};
use crate::model::error::{Code, Failure};
use crate::model::ids::Slot;
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::retry::RetrySpec;
use crate::response::response;
use crate::rules::ledger::RowState;
use crate::storage::{InboxRequest, InboxRow, ManualVerdict};

fn unknown() -> Answer {
    Answer::Unknown { failure: Failure::new(Code::NetworkTimeout, "no answer in time"), kept: None }
}

/// Returns a job with one call of this operator. The tool returns the given answers first and then succeeds.
fn job(operator: &str, answers: Vec<Answer>, settling_ms: u32) -> Sim {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", operator, &[], json!({}))]);
    let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("a log") };
    header.operators.get_mut(operator).unwrap().resolution.settling_ms = settling_ms;
    sim.begin_with(*header);
    sim.script.insert(operator.into(), answers);
    sim
}

fn until_over(sim: &mut Sim) -> JobState {
    for _ in 0..40 {
        let durable = sim.process(None).expect("no crash is injected");
        if durable.job.state != JobState::Waiting {
            return durable.job.state;
        }
        sim.now_us = sim.now_us.max(durable.job.waiting_until_us.unwrap_or(0));
    }
    panic!("the job never settles");
}

fn time_of(sim: &Sim, wanted: impl Fn(&Body) -> bool) -> i64 {
    sim.record.events.iter().find(|event| wanted(&event.body)).expect("it happened").time_us
}

/// I3: a call in doubt is resolved only after the settling time plus the clock margin of 2 s. Before that time, a
/// request in transit could still take effect after the tool has answered that the call did not happen.
#[test]
fn call_in_doubt_waits_for_settling_time() {
    for operator in ["Queryable", "Keyed"] {
        let mut sim = job(operator, vec![unknown()], 60_000);
        assert_eq!(until_over(&mut sim), JobState::Completed, "{operator}");
        let started = time_of(&sim, |body| matches!(body, Body::ToolInvocationStarted { .. }));
        let resolved = time_of(&sim, |body| matches!(body, Body::InvocationResolved { .. }));
        assert!(resolved - started >= 62_000_000, "{operator}: {} µs", resolved - started);
    }
}

/// I3, I192: a try that did not take effect counts toward the maximum number of tries. An event records the backoff
/// after the try.
#[test]
fn call_that_never_takes_effect_fails_after_max_tries() {
    let mut sim = job("Queryable", vec![unknown(); 50], 0);
    sim.loses_calls = true;
    assert_eq!(until_over(&mut sim), JobState::Failed);
    let started = sim.record.events.iter().filter(|e| matches!(e.body, Body::ToolInvocationStarted { .. })).count();
    assert_eq!(started, crate::decide::TRIES_MAX as usize);
    let scheduled = sim.record.events.iter().filter(|e| matches!(e.body, Body::StepRetryScheduled { .. })).count();
    assert_eq!(scheduled, started, "each is tried again later, not at once");
    let failure = sim.durable().job.steps[0].failure.clone().expect("it failed");
    assert_eq!(failure.code, Code::DependencyUnavailable);
}

/// I3: the backoff after a call that did not happen follows the `retry` settings of the plugin, like every
/// other backoff.
#[test]
fn backoff_after_not_applied_follows_plugin() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Queryable", &[], json!({}))]);
    let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("a log") };
    let retry = RetrySpec { max: None, base_ms: Some(100_000), cap_ms: Some(100_000) };
    header.operators.get_mut("Queryable").unwrap().retry = Some(retry);
    sim.begin_with(*header);
    sim.script.insert("Queryable".into(), vec![unknown()]);
    sim.loses_calls = true;
    // This random number gives half of the longest backoff.
    sim.random = 1 << 31;
    assert_eq!(until_over(&mut sim), JobState::Completed);
    let waits = sim.record.events.iter().filter_map(|event| match &event.body {
        Body::StepRetryScheduled { code: Code::InvocationLost, not_before_us, .. } => {
            Some(not_before_us - event.time_us)
        }
        _ => None,
    });
    let waits: Vec<i64> = waits.collect();
    assert!(!waits.is_empty() && waits.iter().all(|wait_us| *wait_us >= 50_000_000), "{waits:?}");
}

/// I1: a keyed retry that changed nothing leaves the original try in doubt.
#[test]
fn refused_keyed_retry_leaves_first_try_in_doubt() {
    let refused = Answer::NotApplied(Failure::new(Code::AuthForbidden, "not you"));
    let mut sim = job("Keyed", vec![unknown(), refused], 0);
    assert_eq!(until_over(&mut sim), JobState::Completed);
    assert_eq!(
        sim.executions_by_slot[&Slot::from("a")],
        2,
        "executed, refused, and repeated under its key until it was answered"
    );
    assert_eq!(sim.effect_keys.len(), 1);
}

/// I6: a job that kills its worker before the worker writes an event is detected. Each claim without an event counts
/// as an attempt without progress.
#[test]
fn claims_without_events_count_as_attempts_without_progress() {
    let mut sim = job("Read", vec![], 0);
    sim.lost_claims = 4;
    assert!(sim.process(Some(CrashPoint::Write(1))).is_err());
    assert_eq!(sim.durable().job.attempts_without_progress, 4);
}

/// I3: a tool that answers "not yet" is asked again at a scheduled time, at most ten times. Then a person
/// decides.
#[test]
fn not_yet_is_reconciled_again_on_schedule_and_limited() {
    let plan = |in_step: bool| match in_step {
        true => step("a", "Script", &[], json!({ "calls": ["Queryable"] })),
        false => step("a", "Queryable", &[], json!({})),
    };
    for (in_step, slot) in [(false, "a"), (true, "a/0")] {
        let begun = |not_yets: u32| {
            let mut sim = Sim::new(Mode::AutoExec, vec![plan(in_step)]);
            sim.script.insert("Queryable".into(), vec![unknown()]);
            sim.not_yets = not_yets;
            sim
        };
        let mut sim = begun(NOT_YETS_MAX - 1);
        assert_eq!(until_over(&mut sim), JobState::Completed, "{slot}");
        let scheduled =
            |event: &&Event| matches!(event.body, Body::StepRetryScheduled { code: Code::IndeterminateEffect, .. });
        let times: Vec<i64> = sim.record.events.iter().filter(scheduled).map(|event| event.time_us).collect();
        assert_eq!(times.len(), NOT_YETS_MAX as usize - 1, "{slot}");
        assert!(times.is_sorted_by(|a, b| b - a >= 500_000), "{slot}: no try is early: {times:?}");
        assert_eq!(sim.executions_by_slot[&Slot::new(slot)], 1);

        let mut sim = begun(NOT_YETS_MAX);
        assert_eq!(until_over(&mut sim), JobState::Parked, "{slot}");
        let blocked = response(&sim.durable()).blocked_on.unwrap();
        assert_eq!(blocked.reason_code, Code::IndeterminateEffect);
        let failure = blocked.call.and_then(|call| call.failure).expect("why it is in doubt");
        assert_eq!((failure.code, failure.message.as_str()), (Code::NetworkTimeout, "no answer in time"));
    }
}

/// I1: an answer that was recorded before a person's verdict was applied overrides any verdict.
#[test]
fn answer_recorded_before_verdict_wins() {
    let done = || ManualVerdict::Applied("\"by another system\"".into());
    for (operator, verdict) in [
        ("Opaque", ManualVerdict::NotApplied),
        ("Opaque", ManualVerdict::Abort),
        ("Opaque", done()),
        ("Queryable", ManualVerdict::NotApplied),
    ] {
        let mut sim = job(operator, vec![], 0);
        sim.reconcile_unknown = true;
        sim.process(Some(CrashPoint::AfterExecute(0))).unwrap_err();
        assert_eq!(until_over(&mut sim), JobState::Parked, "{operator}");
        let (slot, now_us) = (Slot::new("a"), sim.now_us);
        sim.resolve(slot.clone(), verdict.clone());
        // The worker that had lost its lease continues and records the answer that it received.
        let answer = Answer::Ok(good());
        let provenance = Provenance::Executed;
        sim.effects.push(Effect { slot: slot.clone(), try_no: 1, answer, provenance, time_us: now_us, spent: None });
        sim.send_request(InboxRequest::LateEffect { slot: slot.clone(), try_no: 1 });
        assert_eq!(until_over(&mut sim), JobState::Completed, "{operator} {verdict:?}");
        assert_eq!(sim.executions_by_slot[&slot], 1, "{operator} {verdict:?}: it happened, and happens no more");
        let finished = sim.durable().job.calls[&slot].finished.clone().unwrap();
        assert_eq!(finished.provenance, Provenance::CaughtUp);
        let report = verify(&export(&sim));
        assert!(report.intact, "{operator} {verdict:?}: {:#?}", report.problems);
    }
}

/// I1, I3: the answer "not applied" to a keyed retry does not decide the call, because it proves nothing about the
/// original try. The call stays in doubt.
#[test]
fn keyed_retry_that_changed_nothing_is_not_an_answer() {
    let failure = || Failure::new(Code::RateLimit, "later");
    let effect = |answer: Answer, provenance: Provenance| Effect {
        slot: Slot::new("a"),
        try_no: 2,
        answer,
        provenance,
        time_us: 1,
        spent: None,
    };
    let ok = || Answer::Ok(Output { result: "1".into(), receipt: None, state_changes: vec![], usage: None });
    assert!(!effect(Answer::NotApplied(failure()), Provenance::KeyedRetry).is_informative());
    assert!(effect(Answer::NotApplied(failure()), Provenance::Executed).is_informative(), "a first try's is one");
    assert!(effect(ok(), Provenance::KeyedRetry).is_informative(), "and so is that a repeat happened");
    assert!(!effect(Answer::Unknown { failure: failure(), kept: None }, Provenance::Executed).is_informative());
}

/// I46: a verdict applies only to the try that it names, not to a later try. Contradictory verdicts on one try are
/// recorded as a conflict.
#[test]
fn verdict_applies_to_one_try() {
    let slot = Slot::new("a");
    let agrees = ManualVerdict::NotApplied;
    // The first late verdict contradicts the verdict on try 1. The second late verdict names try 3, which needed no
    // verdict.
    for (try_no, conflicts) in [(1, true), (3, false)] {
        let mut sim = job("Opaque", vec![unknown(), unknown()], 0);
        until_over(&mut sim);
        for _ in 0..2 {
            sim.resolve(slot.clone(), ManualVerdict::NotApplied);
            until_over(&mut sim);
        }
        assert_eq!((sim.durable().job.state, sim.durable().job.calls[&slot].tries), (JobState::Completed, 3));
        let verdict = ManualVerdict::Applied("1".into());
        let durable = sim.durable();
        let row = InboxRow {
            id: 99,
            actor: "eve".into(),
            reason: None,
            request: InboxRequest::Resolve { slot: slot.clone(), try_no, verdict },
            verified: None,
        };
        let draft = decide::apply_request(&durable, &row, &sim.context());
        assert_eq!(draft.events.len(), usize::from(conflicts), "try {try_no}: {:?}", draft.events);
    }
    for late in [ManualVerdict::Applied("1".into()), agrees.clone(), ManualVerdict::Abort] {
        let mut sim = job("Opaque", vec![unknown(), unknown()], 0);
        assert_eq!(until_over(&mut sim), JobState::Parked);
        // Two people decide about the first try. The first verdict leads to a second try. The second verdict
        // arrives while the second try is in doubt.
        let second = sim.verdict(&slot, late.clone());
        sim.resolve(slot.clone(), ManualVerdict::NotApplied);
        assert_eq!(until_over(&mut sim), JobState::Parked, "in doubt again");
        sim.send_request(second);
        let durable = sim.process(None).unwrap();
        assert_eq!(durable.job.calls[&slot].open_try, Some(2), "{late:?} says nothing about the second try");
        assert_eq!(durable.rows[&slot].state, RowState::Indeterminate);
        assert_eq!(durable.job.calls[&slot].conflict, late != agrees, "{late:?}");
        assert_eq!(durable.job.state, JobState::Parked);
    }
}

/// I46: a verdict on a call is refused until the settling time has passed.
#[test]
fn verdict_waits_for_settling_time() {
    let slot = Slot::new("a");
    for settling_ms in [0, 60_000] {
        let mut sim = job("Opaque", vec![unknown()], settling_ms);
        let durable = sim.process(None).unwrap();
        let at = |now_us| decide::verdict_request(&durable, &slot, ManualVerdict::NotApplied, now_us);
        if settling_ms == 0 {
            assert!(at(sim.now_us).is_ok(), "nothing has to settle, whatever a retry would wait for");
            continue;
        }
        let Err(VerdictRefusal::Settling { wait_ms }) = at(sim.now_us) else { panic!("{:?}", at(sim.now_us)) };
        assert!((59_000..=70_000).contains(&wait_ms), "{wait_ms}");
        let later = sim.now_us + i64::from(wait_ms) * 1000;
        assert!(at(later - 2_000).is_err() && at(later).is_ok());
    }
    let durable = job("Opaque", vec![], 0).process(None).unwrap();
    let request = |slot: &str| decide::verdict_request(&durable, &Slot::new(slot), ManualVerdict::Abort, 0);
    assert_eq!(request("a"), Err(VerdictRefusal::Decided(RowState::Committed)));
    assert_eq!(request("b"), Err(VerdictRefusal::NoCall));
}

/// A person's verdict on an opaque call does not wait for a backoff. An opaque call is never repeated or
/// reconciled automatically.
#[test]
fn verdict_on_opaque_call_needs_no_backoff() {
    let mut sim = job("Opaque", vec![], 60_000);
    sim.loses_calls = true;
    sim.random = u64::from(u32::MAX) - 10_000;
    for _ in 0..2 {
        assert!(sim.process(Some(CrashPoint::BeforeExecute(0))).is_err());
        assert_eq!(sim.process(None).expect("no crash is injected").job.state, JobState::Parked);
        let durable = sim.durable();
        decide::verdict_request(&durable, &Slot::new("a"), ManualVerdict::NotApplied, sim.now_us)
            .expect("the verdict is accepted immediately");
        sim.resolve(Slot::new("a"), ManualVerdict::NotApplied);
    }
}
