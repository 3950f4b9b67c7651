//! Tests of answers that were stored in the effect store before their events could be written.

use serde_json::json;

use crate::decide;
use crate::decide::common::recorded_invocation;
use crate::decide::tests::support::evidence::assert_verifies;
use crate::decide::tests::support::{CrashPoint, Sim, good, step};
use crate::decide::{NextAction, ReconcileAnswer};
use crate::event::{Body, Verdict};
use crate::model::effect::{Answer, Effect, Provenance};
use crate::model::error::{Code, Failure};
use crate::model::ids::Slot;
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::rules::ledger::RowState;
use crate::storage::{Draft, ManualVerdict};

fn stored_effect(slot: &str, try_no: u32, answer: Answer) -> Effect {
    Effect { slot: Slot::new(slot), try_no, answer, provenance: Provenance::Executed, time_us: 1_500, spent: None }
}

/// I105: a crash may leave the answer of a read in the effect store, but no events of the read in the log. The read is
/// then executed again. The new answer is discarded and the stored answer is recorded, so that the log agrees with the
/// effect store.
#[test]
fn repeated_read_uses_stored_answer() {
    let no = || Answer::NotApplied(Failure::new(Code::AuthForbidden, "401"));
    for (stored, made, ends) in
        [(no(), Answer::Ok(good()), JobState::Failed), (Answer::Ok(good()), no(), JobState::Completed)]
    {
        let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Read", &[], json!({}))]);
        sim.effects.push(stored_effect("a", 1, stored.clone()));
        sim.script.insert("Read".into(), vec![made]);
        let durable = sim.process(None).expect("no crash is injected");
        let finished = durable.job.calls[&Slot::new("a")].finished.clone().expect("it was answered");
        assert_eq!((finished.ok, finished.try_no), (matches!(stored, Answer::Ok(_)), 1));
        assert_eq!(durable.job.state, ends);
        assert_verifies(&sim);
    }
}

/// I29: the late answer of a repeated keyed try is not a second execution. The outside system recognizes the repeat
/// by its key. In staged commit, such an answer may be stored after the repeat.
#[test]
fn late_answer_of_repeated_keyed_try_is_not_double_execution() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Keyed", &[], json!({}))]);
    sim.process(Some(CrashPoint::AfterExecute(0))).expect_err("it is killed");
    assert_eq!(sim.process(None).expect("no crash is injected").job.state, JobState::Completed);
    assert_eq!(sim.effect_keys.len(), 1);
    sim.effects.retain(|effect| effect.try_no != 1);
    sim.effects.push(stored_effect("a", 1, Answer::Ok(good())));
    assert_verifies(&sim);
}

/// I29: a worker that had lost its lease may store the answer of a read after the log contains another
/// answer. The unused answer is not a second execution.
#[test]
fn unused_read_is_not_double_execution() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Read", &[], json!({}))]);
    assert_eq!(sim.process(None).expect("no crash is injected").job.state, JobState::Completed);
    sim.effects.push(stored_effect("a", 2, Answer::Ok(good())));
    let report = assert_verifies(&sim);
    let reported = report
        .not_checked
        .iter()
        .find(|reported| reported.code == "unused_answers")
        .expect("the report lists unused answers");
    assert!(reported.message.contains("(a)"), "{}", reported.message);
}

/// I29: failed tries of a read are in the log, so their effects are not reported as unused answers.
#[test]
fn retried_read_leaves_no_unused_answer() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Read", &[], json!({}))]);
    sim.script.insert("Read".into(), vec![Answer::NotApplied(Failure::new(Code::NetworkTimeout, "too slow"))]);
    assert_eq!(sim.process(None).expect("no crash is injected").job.state, JobState::Completed);
    assert!(sim.effects.len() > 1, "{:?}", sim.effects);
    assert!(assert_verifies(&sim).not_checked.iter().all(|reported| reported.code != "unused_answers"));
}

/// Returns the draft for a try in doubt whose answer was stored without its events.
fn draft_for_stored(kept: Effect) -> Draft {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Queryable", &[], json!({}))]);
    sim.process(Some(CrashPoint::AfterExecute(0))).expect_err("it is killed");
    sim.reconcile_unknown = true;
    assert_eq!(sim.process(None).expect("no crash is injected").job.state, JobState::Parked);
    sim.effects.push(kept);
    let durable = sim.durable();
    let slot = Slot::new("a");
    let invocation = recorded_invocation(&durable, &slot, &durable.job.calls[&slot]);
    // The stored answer overrides this reconcile answer.
    let reconcile_answer = ReconcileAnswer::Happened(good());
    let NextAction::Write(draft) = decide::reconciled(&durable, &invocation, reconcile_answer, &sim.context()) else {
        panic!("in doubt")
    };
    draft
}

/// I5: after a crash, an answer may be stored without its events. Its provenance `executed` becomes `caught_up`, and
/// every other provenance stays. A stored reconcile answer is recorded as a verdict event. A call that did not happen
/// is retried.
#[test]
fn stored_reconcile_answer_keeps_its_provenance() {
    for (kept, reported) in [
        (Provenance::Executed, Provenance::CaughtUp),
        (Provenance::Reconciled, Provenance::Reconciled),
        (Provenance::KeyedRetry, Provenance::KeyedRetry),
    ] {
        let draft = draft_for_stored(Effect { provenance: kept, ..stored_effect("a", 1, Answer::Ok(good())) });
        let finished = draft.events.iter().find_map(|event| match event {
            Body::ToolInvocationFinished { provenance, .. } => Some(*provenance),
            _ => None,
        });
        assert_eq!(finished, Some(reported));
        let applied = |event: &Body| matches!(event, Body::InvocationResolved { verdict: Verdict::Applied, by, .. } if by == "reconcile");
        assert_eq!(draft.events.iter().any(applied), kept == Provenance::Reconciled, "{:?}", draft.events);
    }
    let no = Answer::NotApplied(Failure::new(Code::InvocationLost, "the call did not take effect"));
    let draft = draft_for_stored(Effect { provenance: Provenance::Reconciled, ..stored_effect("a", 1, no) });
    assert_eq!(draft.ledger[0].row().state, RowState::FailedDefinite);
    let resolved = |event: &Body| matches!(event, Body::InvocationResolved { verdict: Verdict::NotApplied, .. });
    let again = |event: &Body| matches!(event, Body::StepRetryScheduled { .. });
    assert!(draft.events.iter().any(resolved) && draft.events.iter().any(again), "{:?}", draft.events);
}

/// I119: a worker that has lost its lease may store its answer while the next worker reconciles the call. The
/// stored answer is used, and the reconcile answer is ignored.
#[test]
fn answer_during_reconcile_resolves_its_try() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Queryable", &[], json!({}))]);
    sim.process(Some(CrashPoint::AfterExecute(0))).expect_err("it is killed");
    sim.reconcile_unknown = true;
    assert_eq!(sim.process(None).expect("no crash is injected").job.state, JobState::Parked);
    sim.effects.push(stored_effect("a", 1, Answer::Ok(good())));
    let durable = sim.durable();
    let slot = Slot::new("a");
    let invocation = recorded_invocation(&durable, &slot, &durable.job.calls[&slot]);
    let reconcile_answer = ReconcileAnswer::DidNotHappen;
    let NextAction::Write(draft) = decide::reconciled(&durable, &invocation, reconcile_answer, &sim.context()) else {
        panic!("in doubt")
    };
    assert_eq!(draft.ledger[0].row().state, RowState::Committed);
    assert!(draft.effects.is_empty(), "it is stored");
}

/// I1: a retryable refusal may be stored before a person's verdict is applied. The call is then retried, and
/// the verdict is ignored.
#[test]
fn late_retryable_refusal_is_retried_despite_verdict() {
    for code in [Code::NetworkTimeout, Code::WallClockLimit] {
        let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
        sim.process(Some(CrashPoint::BeforeExecute(0))).expect_err("it is killed");
        assert_eq!(sim.process(None).expect("no crash is injected").job.state, JobState::Parked);
        sim.resolve(Slot::new("a"), ManualVerdict::NotApplied);
        sim.effects.push(stored_effect("a", 1, Answer::NotApplied(Failure::new(code, "too slow"))));
        for _ in 0..10 {
            let durable = sim.process(None).expect("no crash is injected");
            sim.now_us = sim.now_us.max(durable.job.waiting_until_us.unwrap_or(0));
        }
        assert_eq!(sim.durable().job.state, JobState::Completed, "{code}");
        assert_eq!(sim.executions_by_slot[&Slot::new("a")], 1);
        assert_verifies(&sim);
    }
}
