//! Tests that recorded changes are verified when a job is resumed, before any step uses them.

use serde_json::{Value, json};

use crate::decide::tests::support::evidence::export;
use crate::decide::tests::support::{CrashPoint, Sim, compensation, operators, step};
use crate::decide::{
    ConfirmationCheck, ConfirmationResult, RetryRefusal, due_confirmations, record_confirmation_results, retry_round,
};
use crate::event::{Body, Consequence, Event, Header};
use crate::evidence;
use crate::evidence::forge::{build_file, parse_records};
use crate::evidence::{Export, Withhold};
use crate::model::bounds;
use crate::model::effect::{Answer, Output, StateChange};
use crate::model::error::Code;
use crate::model::ids::{Operator, Slot};
use crate::model::job::JobState;
use crate::model::manifest::{Confirmation, OWN_VERIFIER};
use crate::model::mode::Mode;
use crate::model::step::StepState;
use crate::response::response;
use crate::state::{Durable, Job};
use crate::storage::InboxRequest;

fn slot(text: &str) -> Slot {
    Slot::new(text)
}

/// Returns the answer of a call that reports a change of the resource.
fn changes(resource: &str, version: &str) -> Answer {
    let change = StateChange {
        resource_type: "file".into(),
        resource_id: resource.into(),
        operation: "update".into(),
        version: Some(version.into()),
        etag: None,
        external_ref: None,
    };
    let state_changes = vec![change];
    Answer::Ok(Output { result: "\"done\"".into(), receipt: None, state_changes, usage: None })
}

/// Returns a job whose opaque calls change these resources. The confirmation policy `rule` decides the consequence of
/// a mismatch.
fn job(rule: Confirmation, steps: Vec<Value>, resources: &[&str]) -> Sim {
    let mut sim = Sim::new(Mode::AutoExec, steps);
    let Body::IntentAccepted { header } = sim.record.events[0].body.clone() else { panic!("it begins so") };
    let mut operators = operators();
    let opaque = operators.get_mut("Opaque").unwrap();
    (opaque.verifier, opaque.confirmation) = (Some(OWN_VERIFIER.into()), rule);
    sim.begin_with(Header { operators, ..*header });
    let answers = resources.iter().enumerate().map(|(n, resource)| changes(resource, &n.to_string()));
    sim.script.insert(Operator::new("Opaque"), answers.collect());
    sim
}

/// Returns a plan with four steps: `a` changes a resource, `r` reads it, `b` depends on `a` through `r`, and
/// `c` depends on nothing.
fn four() -> Vec<Value> {
    vec![
        step("a", "Opaque", &[], json!({})),
        step("r", "Read", &["a"], json!({})),
        step("b", "Keyed", &["r"], json!({ "from": { "$ref": "r#" } })),
        step("c", "Keyed", &[], json!({})),
    ]
}

/// Returns a job whose process died after step `a` had succeeded, before the read of step `r` was executed.
fn interrupted(rule: Confirmation) -> Sim {
    let mut sim = job(rule, four(), &["f"]);
    sim.process(Some(CrashPoint::BeforeExecute(1))).unwrap_err();
    assert_eq!(sim.durable().job.step(&"a".into()).unwrap().state, StepState::Succeeded);
    sim
}

fn states(durable: &Durable) -> Vec<StepState> {
    durable.job.steps.iter().map(|step| step.state).collect()
}

fn otherwise() -> ConfirmationResult {
    ConfirmationResult::Mismatch("something else".into())
}

fn verifies(sim: &Sim) {
    let job = sim.durable().job;
    let mut record = sim.record.clone();
    (record.row.state, record.row.attempt) = (job.state, job.attempt);
    (record.row.next_seq, record.row.head) = (job.next_seq, job.head);
    let (effects, withhold) = (&sim.effects, &Withhold::Nothing);
    let export = Export { record: &record, effects, withhold, program: "t", exported_us: 9, signer: None };
    let file = evidence::write(&export).unwrap();
    let report = evidence::verify(&file, None, &|_, _, _| true).unwrap().report;
    assert!(report.intact, "{:#?}", report.problems);
    for length in 2..=sim.record.events.len() {
        Job::fold(&sim.record.events[..length]).expect("every prefix is that of a job");
    }
}

/// I39: a change is verified once in each later attempt, and never in the attempt that made it.
#[test]
fn change_is_verified_once_in_each_later_attempt() {
    let mut sim = interrupted(Confirmation::Strict);
    assert_eq!(due_confirmations(&sim.durable()), [], "not in the attempt that did it");
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed);
    assert_eq!(sim.verifications, [(slot("a"), 1)].into());
    let confirms =
        |event: &Event| matches!(event.body, Body::ConfirmationFailed { .. } | Body::ConfirmationAccepted { .. });
    assert!(!sim.record.events.iter().any(confirms), "what is as recorded leaves no event");
    verifies(&sim);
}

/// I39: if several calls changed one resource, only the newest change is verified.
#[test]
fn only_newest_change_of_resource_is_verified() {
    let plan = vec![
        step("a", "Opaque", &[], json!({})),
        step("b", "Opaque", &["a"], json!({})),
        step("c", "Opaque", &["b"], json!({})),
        step("d", "Keyed", &["c"], json!({})),
    ];
    let mut sim = job(Confirmation::Strict, plan, &["f", "g", "f"]);
    sim.process(Some(CrashPoint::BeforeExecute(3))).unwrap_err();
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    assert_eq!(sim.verifications, [(slot("b"), 1), (slot("c"), 1)].into());
}

/// I39: bound `found_bytes`. A longer text is cut.
#[test]
fn state_that_a_verifier_found_is_stored_up_to_its_limit() {
    for length in [bounds::FOUND_BYTES - 1, bounds::FOUND_BYTES, bounds::FOUND_BYTES + 1] {
        let mut sim = interrupted(Confirmation::Strict);
        sim.verifier_results.insert(slot("a"), ConfirmationResult::Mismatch("x".repeat(length)));
        sim.process(None).unwrap();
        let stored = sim.record.events.iter().find_map(|event| match &event.body {
            Body::ConfirmationFailed { found, .. } => Some(found.len()),
            _ => None,
        });
        assert_eq!(stored, Some(length.min(bounds::FOUND_BYTES)));
    }
}

/// I39: under the confirmation policy `strict`, a mismatch ends the job, and the job cannot be retried. Steps
/// that succeeded keep their results.
#[test]
fn a_strict_mismatch_ends_the_job() {
    let mut sim = interrupted(Confirmation::Strict);
    sim.verifier_results.insert(slot("a"), otherwise());
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Partial);
    use StepState::{Cancelled, Succeeded};
    assert_eq!(states(&durable), [Succeeded, Cancelled, Cancelled, Cancelled]);
    assert!(!sim.executions_by_slot.contains_key(&slot("b")), "nothing is built on it");
    assert!(matches!(retry_round(&durable), Err(RetryRefusal::NotConfirmed { .. })), "{:?}", retry_round(&durable));
    assert_eq!(durable.job.mismatches().next(), Some(&slot("a")), "and what it did is not undone");
    let response = response(&durable);
    assert_eq!((response.unconfirmed.len(), response.unconfirmed[0].consequence), (1, Consequence::Ended));
    let say = ["latch job confirm job_1 a --reason TEXT", "latch job confirm job_1 a --gone --reason TEXT"];
    assert_eq!(response.next_actions, say, "whether it counts for others is for a person to say");
    verifies(&sim);
}

/// I39: if several mismatches are found together, the job ends once, and each mismatch is reported.
#[test]
fn two_strict_mismatches_end_the_job_once() {
    let plan = vec![
        step("a", "Opaque", &[], json!({})),
        step("b", "Opaque", &["a"], json!({})),
        step("r", "Read", &["b"], json!({})),
    ];
    let mut sim = job(Confirmation::Strict, plan, &["f", "g"]);
    sim.process(Some(CrashPoint::BeforeExecute(2))).unwrap_err();
    sim.verifier_results.extend([(slot("a"), otherwise()), (slot("b"), otherwise())]);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Partial);
    let unconfirmed = response(&durable).unconfirmed;
    let unconfirmed: Vec<_> = unconfirmed.iter().map(|view| (view.slot.as_str(), view.consequence)).collect();
    assert_eq!(unconfirmed, [("a", Consequence::Ended), ("b", Consequence::Ended)]);
    verifies(&sim);
}

/// I39: a strict mismatch prevents completion and retry even if every step of the job has succeeded.
#[test]
fn strict_mismatch_prevents_completion_of_finished_steps() {
    let fresh = || job(Confirmation::Strict, vec![step("a", "Opaque", &[], json!({}))], &["f"]);
    // The process is killed before the write that would complete the job.
    let writes = (1..).find(|n| fresh().process(Some(CrashPoint::Write(*n))).is_ok()).unwrap();
    let mut sim = fresh();
    sim.process(Some(CrashPoint::Write(writes - 1))).unwrap_err();
    assert_eq!(states(&sim.durable()), [StepState::Succeeded]);
    sim.verifier_results.insert(slot("a"), otherwise());
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, states(&durable)), (JobState::Partial, vec![StepState::Succeeded]));
    assert!(matches!(retry_round(&durable), Err(RetryRefusal::NotConfirmed { .. })));
    verifies(&sim);
}

/// I39: under the confirmation policy `warn`, a mismatch is counted, and the job continues.
#[test]
fn a_warning_is_counted() {
    let mut sim = interrupted(Confirmation::Warn);
    sim.verifier_results.insert(slot("a"), otherwise());
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed);
    let response = response(&durable);
    assert_eq!(response.confirmation_replay_warnings_total, 1);
    assert_eq!(durable.job.mismatches().next(), Some(&slot("a")));
    verifies(&sim);
}

/// I39: steps that depend on an unconfirmed change wait for a person, and other steps continue. A change that
/// a person has accepted is not verified again.
#[test]
fn unconfirmed_change_blocks_only_dependent_steps() {
    for (rule, found) in [
        (Confirmation::HumanInLoop, otherwise()),
        (Confirmation::Strict, ConfirmationResult::Unavailable("no answer".into())),
        (Confirmation::Warn, ConfirmationResult::Unavailable("no answer".into())),
    ] {
        let mut sim = interrupted(rule);
        sim.verifier_results.insert(slot("a"), found.clone());
        for attempt in [2, 3] {
            let durable = sim.process(None).unwrap();
            assert_eq!((durable.job.state, durable.job.attempt), (JobState::Parked, attempt));
            use StepState::{Pending, Ready, Succeeded};
            assert_eq!(states(&durable), [Succeeded, Ready, Pending, Succeeded]);
            let response = response(&durable);
            let blocked = response.blocked_on.unwrap();
            assert_eq!((blocked.reason_code, blocked.slot), (Code::ConfirmationRequired, slot("a")));
            assert_eq!(response.next_actions[0], "latch job confirm job_1 a --reason TEXT");
            assert_eq!(durable.job.mismatches().next().is_some(), matches!(found, ConfirmationResult::Mismatch(_)));
            verifies(&sim);
        }
        sim.send_request(InboxRequest::Confirm { slot: slot("b"), gone: false });
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked, "this slot was not in question");
        sim.send_request(InboxRequest::Confirm { slot: slot("a"), gone: false });
        let durable = sim.process(None).unwrap();
        assert_eq!((durable.job.state, sim.executions_by_slot[&slot("b")]), (JobState::Completed, 1));
        assert_eq!(sim.verifications[&slot("a")], 3, "not after a person vouched for it");
        assert_eq!(durable.job.mismatches().next(), None);
        assert_eq!(response(&durable).unconfirmed[0].settled_by.as_deref(), Some("bob"));
        verifies(&sim);
    }
}

/// I39: if a later verification finds that the resource is again as recorded, the job continues without a
/// person's decision.
#[test]
fn repaired_resource_continues_without_decision() {
    let mut sim = interrupted(Confirmation::HumanInLoop);
    sim.verifier_results.insert(slot("a"), otherwise());
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked);
    sim.verifier_results.clear();
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed);
    assert_eq!(durable.job.mismatches().next(), None);
    assert_eq!(response(&durable).unconfirmed[0].settled_by.as_deref(), Some("verifier verify"));
    verifies(&sim);
}

/// I39: a running step plugin is blocked at its next call if the effect of an earlier call is unconfirmed.
/// After the confirmation, the step runs again from its log.
#[test]
fn a_running_step_is_blocked_at_its_call() {
    let plan = vec![step("s", "Script", &[], json!({ "calls": ["Opaque", "Keyed"] }))];
    let mut sim = job(Confirmation::HumanInLoop, plan, &["f"]);
    sim.process(Some(CrashPoint::BeforeExecute(1))).unwrap_err();
    sim.verifier_results.insert(slot("s/0"), otherwise());
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, states(&durable)), (JobState::Parked, vec![StepState::Blocked]));
    assert_eq!(response(&durable).blocked.len(), 1);
    assert!(!sim.executions_by_slot.contains_key(&slot("s/1")));
    verifies(&sim);
    sim.send_request(InboxRequest::Confirm { slot: slot("s/0"), gone: false });
    let durable = sim.process(None).unwrap();
    assert_eq!(
        (durable.job.state, sim.executions_by_slot[&slot("s/0")], sim.executions_by_slot[&slot("s/1")]),
        (JobState::Completed, 1, 1)
    );
    verifies(&sim);
}

/// I39: two changes of one call are verified separately. The result of one verification does not settle the
/// other change.
#[test]
fn call_with_two_changes_waits_for_both_confirmations() {
    let plan = vec![step("s", "Script", &[], json!({ "calls": ["Opaque", "Keyed"] }))];
    let mut sim = job(Confirmation::HumanInLoop, plan, &[]);
    let (Answer::Ok(mut both), Answer::Ok(other)) = (changes("f", "1"), changes("g", "1")) else { panic!("good") };
    both.state_changes.extend(other.state_changes);
    sim.script.insert(Operator::new("Opaque"), vec![Answer::Ok(both)]);
    sim.process(Some(CrashPoint::BeforeExecute(1))).unwrap_err();
    sim.verifier_results.insert(slot("s/0"), otherwise());
    let durable = sim.process(None).unwrap();
    assert_eq!((states(&durable), durable.job.changes_to_accept().count()), (vec![StepState::Blocked], 2));
    let mut check = confirmations_of_next_attempt(&durable);
    assert_eq!(check.len(), 2);
    // The verifier finds that the first change is again as recorded. The second change is not verified, so the
    // step stays blocked.
    let draft = record_confirmation_results(&durable, &[(check.remove(0), ConfirmationResult::Confirmed)]);
    assert!(draft.events.iter().all(|body| !matches!(body, Body::StepUnblocked { .. })), "{:?}", draft.events);
    sim.send_request(InboxRequest::Confirm { slot: slot("s/0"), gone: false });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    verifies(&sim);
}

fn confirmations_of_next_attempt(durable: &Durable) -> Vec<ConfirmationCheck> {
    let mut next = durable.clone();
    next.job.attempt += 1;
    due_confirmations(&next)
}

/// I39: if a job is cancelled while it requests a confirmation, it no longer requests the confirmation and verifies
/// no change.
#[test]
fn aborting_job_is_not_confirmed() {
    let mut sim = interrupted(Confirmation::HumanInLoop);
    sim.verifier_results.insert(slot("a"), otherwise());
    sim.process(None).unwrap();
    let looks = sim.verifications.clone();
    sim.send_request(InboxRequest::Cancel);
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, &sim.verifications), (JobState::Cancelled, &looks));
    assert_eq!(durable.job.mismatches().next(), Some(&slot("a")), "it is still not what was recorded");
    assert_eq!(response(&durable).blocked, []);
    verifies(&sim);
}

/// I39: the results of calls without a verifier, and of calls that only read, are used without verification.
#[test]
fn changes_without_verifier_are_not_verified() {
    let mut sim = Sim::new(Mode::AutoExec, four());
    sim.script.insert(Operator::new("Opaque"), vec![changes("f", "1")]);
    sim.process(Some(CrashPoint::BeforeExecute(1))).unwrap_err();
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    assert!(sim.verifications.is_empty());
}

/// I30: the evidence check finds a forged consequence that contradicts the confirmation policy.
#[test]
fn evidence_contradicts_a_forged_consequence() {
    let mut sim = interrupted(Confirmation::Strict);
    sim.verifier_results.insert(slot("a"), otherwise());
    sim.process(None).unwrap();
    let mut lines = parse_records(&export(&sim));
    let forged = lines.iter_mut().find(|(_, line)| line["event"]["type"] == "confirmation_failed").unwrap();
    assert_eq!(forged.1["event"]["consequence"], "ended");
    forged.1["event"]["consequence"] = "warned".into();
    let file = build_file(lines);
    let report = evidence::verify(&file, None, &|_, _, _| true).unwrap().report;
    let found = report.problems.iter().any(|problem| problem.message.contains("by the confirmation policy"));
    assert!(found, "{:#?}", report.problems);
}

/// I37, I39: an effect that differs from the record is undone only after a person's decision. If the mismatch
/// ended the job, the effect is never undone.
#[test]
fn a_mismatch_blocks_undoing() {
    let undoing = |rule: Confirmation| {
        let mut sim = job(rule, four(), &["f"]);
        compensation::pin(&mut sim, |_| true);
        sim.process(Some(CrashPoint::BeforeExecute(1))).unwrap_err();
        sim.verifier_results.insert(slot("a"), otherwise());
        sim
    };
    let mut sim = undoing(Confirmation::Warn);
    sim.process(Some(CrashPoint::BeforeExecute(0))).unwrap_err();
    sim.send_request(InboxRequest::Cancel);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Parked);
    let response = response(&durable);
    assert_eq!(response.reason_code, Some(Code::ConfirmationMismatch));
    assert!(response.next_actions.contains(&"latch job resolve job_1 --continue".to_owned()), "{response:#?}");
    assert!(!sim.executions_by_slot.contains_key(&slot("a~c")));
    sim.send_request(InboxRequest::Continue);
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, sim.executions_by_slot.get(&slot("a~c"))), (JobState::Cancelled, Some(&1)));
    verifies(&sim);

    let mut sim = undoing(Confirmation::Strict);
    let ended = sim.process(None).unwrap();
    assert_eq!(ended.job.state, JobState::Partial);
    assert!(!sim.executions_by_slot.contains_key(&slot("a~c")), "{:?}", sim.executions_by_slot);
}

/// I37, I39: a cancelled job verifies its effects before it undoes them. A mismatch does not end this job,
/// even under the confirmation policy `strict`. A person decides.
#[test]
fn effects_are_verified_before_compensation() {
    for go_on in [InboxRequest::Continue, InboxRequest::Confirm { slot: slot("a"), gone: false }, InboxRequest::Abort] {
        let mut sim = job(Confirmation::Strict, four(), &["f"]);
        compensation::pin(&mut sim, |_| true);
        sim.process(Some(CrashPoint::BeforeExecute(1))).unwrap_err();
        sim.verifier_results.insert(slot("a"), otherwise());
        sim.send_request(InboxRequest::Cancel);
        let durable = sim.process(None).unwrap();
        assert_eq!((durable.job.state, sim.verifications[&slot("a")]), (JobState::Parked, 1));
        let response = response(&durable);
        let blocked: Vec<_> = response.blocked.iter().map(|view| (view.slot.as_str(), view.reason_code)).collect();
        assert_eq!(blocked, [("a", Code::ConfirmationMismatch)]);
        assert!(!sim.executions_by_slot.contains_key(&slot("a~c")));
        let abandons = matches!(go_on, InboxRequest::Abort);
        sim.send_request(go_on);
        let durable = sim.process(None).unwrap();
        assert_eq!(
            (durable.job.state, sim.executions_by_slot.contains_key(&slot("a~c"))),
            (JobState::Cancelled, !abandons)
        );
        verifies(&sim);
    }
}

/// I37: every effect that blocks compensation is reported before a person continues the job.
#[test]
fn all_compensation_blockers_are_reported() {
    let plan = vec![
        step("a", "Opaque", &[], json!({})),
        step("b", "Opaque", &["a"], json!({})),
        step("r", "Read", &["b"], json!({})),
    ];
    let mut sim = job(Confirmation::Strict, plan, &["f", "g"]);
    compensation::pin(&mut sim, |_| true);
    sim.process(Some(CrashPoint::BeforeExecute(2))).unwrap_err();
    sim.verifier_results
        .extend([(slot("a"), otherwise()), (slot("b"), ConfirmationResult::Unavailable("no answer".into()))]);
    sim.send_request(InboxRequest::Cancel);
    let durable = sim.process(None).unwrap();
    let blocked = response(&durable).blocked;
    let blocked: Vec<_> = blocked.iter().map(|view| (view.slot.as_str(), view.reason_code)).collect();
    assert_eq!(blocked, [("a", Code::ConfirmationMismatch), ("b", Code::ConfirmationRequired)]);
}

/// I37, I39: if a mismatch ends a job that would otherwise undo its effects, the response lists these effects as
/// left in place.
#[test]
fn effects_left_by_mismatch_are_listed() {
    let mut sim = job(Confirmation::Strict, four(), &["f"]);
    compensation::pin(&mut sim, |_| true);
    sim.process(Some(CrashPoint::BeforeExecute(1))).unwrap_err();
    sim.verifier_results.insert(slot("a"), otherwise());
    sim.process(None).unwrap();
    assert_eq!(response(&sim.durable()).compensations, [], "its plan keeps what was done");
    let mut sim = compensation::job(Mode::AutoExec, "compensate", four());
    let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("it begins so") };
    let opaque = header.operators.get_mut("Opaque").unwrap();
    (opaque.verifier, opaque.confirmation) = (Some(OWN_VERIFIER.into()), Confirmation::Strict);
    sim.begin_with(*header);
    sim.script.insert(Operator::new("Opaque"), vec![changes("f", "1")]);
    sim.process(Some(CrashPoint::BeforeExecute(1))).unwrap_err();
    sim.verifier_results.insert(slot("a"), otherwise());
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Partial);
    let left = &response(&durable).compensations;
    let left: Vec<_> = left.iter().map(|view| (view.slot.as_str(), view.state, view.reason_code)).collect();
    use crate::response::CompensationState;
    assert_eq!(left, [("a", CompensationState::Left, Some(Code::ConfirmationMismatch))]);
}
