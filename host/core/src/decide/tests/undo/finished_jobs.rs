//! Tests of undoing a finished job: refusals, the effects that are undone, and the end of the job.

use serde_json::json;

use crate::decide::tests::support::compensation::{finished, job, pin, plan, undo, with};
use crate::decide::tests::support::evidence::{assert_verifies, export, verify};
use crate::decide::tests::support::{Sim, good, step};
use crate::decide::{UndoRefusal, calls_to_undo};
use crate::event::{Body, Event, ReopenPurpose};
use crate::evidence::ProblemKind;
use crate::model::effect::Answer;
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, Operator, Slot};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::result_type::ResultType;
use crate::response::{CompensationState, response};
use crate::state::{Durable, Job};
use crate::storage::{ActionRow, InboxRequest, ManualVerdict};

fn states(durable: &Durable) -> Vec<(String, CompensationState)> {
    response(durable).compensations.into_iter().map(|view| (view.slot.to_string(), view.state)).collect()
}

fn all(slots: &[&str], state: CompensationState) -> Vec<(String, CompensationState)> {
    slots.iter().map(|slot| ((*slot).to_owned(), state)).collect()
}

fn no(code: Code) -> Answer {
    Answer::NotApplied(Failure::new(code, "no"))
}

/// Returns a job of two world-changing steps and a last step that fails. The job is rolled back if `on_failure`
/// requires it.
fn failed(on_failure: &str) -> Sim {
    let steps = vec![
        step("a", "Opaque", &[], json!({})),
        step("b", "Keyed", &["a"], json!({})),
        step("f", "Failing", &["b"], json!({ "calls": [], "fail": true })),
    ];
    job(Mode::AutoExec, on_failure, steps)
}

/// I155: a completed job undoes each effect once, the last effect first, and ends `CANCELLED`.
#[test]
fn completed_job_is_undone_in_reverse_order() {
    let mut sim = finished(Mode::AutoExec);
    let due = calls_to_undo(&sim.durable()).unwrap();
    let due: Vec<_> = due.iter().map(|due| (due.slot.as_str(), due.by.as_str(), due.own)).collect();
    let expected =
        [("c/2", "Opaque", true), ("c/1", "Queryable", true), ("b", "Queryable", false), ("a", "Opaque", true)];
    assert_eq!(due, expected);
    let durable = undo(&mut sim);
    assert_eq!(durable.job.state, JobState::Cancelled);
    let started = sim.record.events.iter().filter_map(|event| match &event.body {
        Body::CompensationStarted { slot, .. } => Some(slot.as_str()),
        _ => None,
    });
    assert_eq!(started.collect::<Vec<_>>(), ["c/2~c", "c/1~c", "b~c", "a~c"]);
    assert!(
        sim.executions_by_slot.values().all(|times| *times == 1) && sim.executions_by_slot.len() == 8,
        "{:?}",
        sim.executions_by_slot
    );
    let types: Vec<_> = durable.job.steps.iter().map(|step| step.result_type).collect();
    let undone = Some(ResultType::Compensated);
    assert_eq!(types, [Some(ResultType::Success), undone, undone, undone]);
    assert!(matches!(sim.record.events.last().unwrap().body, Body::JobCancelled {}));
    let view = response(&durable);
    assert_eq!((view.status.as_str(), view.undone_by.as_deref(), view.cancelled_by), ("cancelled", Some("eve"), None));
    assert_eq!(states(&durable), all(&["c/2", "c/1", "b", "a"], CompensationState::Compensated));
    assert!(view.next_actions.is_empty(), "{:?}", view.next_actions);
    assert!(sim.actions.is_empty(), "what was undone is free for others: {:?}", sim.actions);
    assert_verifies(&sim);
    for length in 2..=sim.record.events.len() {
        Job::fold(&sim.record.events[..length]).expect("every prefix is a job");
    }
}

/// I155: partial and failed jobs can be undone, and their responses offer the undo. The response of a completed
/// job does not offer the undo.
#[test]
fn partial_and_failed_jobs_are_undone() {
    let mut sim = failed("keep");
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Partial);
    assert_eq!(response(&durable).next_actions, ["latch job undo job_1"]);
    assert_eq!(undo(&mut sim).job.state, JobState::Cancelled);
    assert_eq!(states(&sim.durable()), all(&["b", "a"], CompensationState::Compensated));
    assert_verifies(&sim);

    let steps = vec![step("f", "Failing", &[], json!({ "calls": ["Keyed"], "fail": true }))];
    let mut sim = job(Mode::AutoExec, "keep", steps);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Failed);
    assert_eq!(undo(&mut sim).job.state, JobState::Cancelled);
    assert_eq!(states(&sim.durable()), all(&["f/0"], CompensationState::Compensated));
    assert_verifies(&sim);
    assert!(response(&finished(Mode::AutoExec).durable()).next_actions.is_empty());
}

/// I156: an undo that would undo nothing is refused with the reason.
#[test]
fn undo_without_effect_is_refused() {
    let job_id = || "job_1".into();
    let mut sim = job(Mode::AutoExec, "keep", vec![step("r", "Read", &[], json!({}))]);
    let durable = sim.process(None).unwrap();
    assert_eq!(calls_to_undo(&durable), Err(UndoRefusal::NoEffect { job_id: job_id() }), "nothing is committed");
    let mut sim = job(Mode::DryRun, "keep", plan());
    assert_eq!(calls_to_undo(&sim.process(None).unwrap()), Err(UndoRefusal::NoEffect { job_id: job_id() }));

    let mut sim = finished(Mode::AutoExec);
    let refused = UndoRefusal::Cancelled { job_id: job_id(), by_undo: true };
    assert_eq!(calls_to_undo(&undo(&mut sim)), Err(refused), "it was undone");
    let mut sim = job(Mode::AutoExec, "keep", plan());
    let parked = sim.process(None).unwrap();
    assert_eq!(calls_to_undo(&parked), Err(UndoRefusal::Open { job_id: job_id(), state: JobState::Parked }));
    sim.send_request(InboxRequest::Cancel);
    let refused = UndoRefusal::Cancelled { job_id: job_id(), by_undo: false };
    assert_eq!(calls_to_undo(&sim.process(None).unwrap()), Err(refused));

    let durable = failed("compensate").process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Partial);
    assert_eq!(calls_to_undo(&durable), Err(UndoRefusal::Undone { job_id: job_id() }), "its plan undid it");
    assert!(response(&durable).next_actions.is_empty());

    let mut sim = failed("keep");
    pin(&mut sim, |_| false);
    let durable = sim.process(None).unwrap();
    let slots = vec![Slot::new("b"), Slot::new("a")];
    assert_eq!(calls_to_undo(&durable), Err(UndoRefusal::Impossible { job_id: job_id(), slots }));
    assert!(response(&durable).next_actions.is_empty(), "what cannot help is not offered");
}

/// I155: an undo of a finished job requests the same gates as the compensation of an open job. The approval of a call
/// does not cover the undo of the call.
#[test]
fn undo_requests_compensation_gates() {
    let mut sim = job(Mode::HumanGated, "keep", vec![step("a", "Opaque", &[], json!({}))]);
    sim.process(None).unwrap();
    let slot = Slot::new("a");
    let gate_hash = sim.durable().job.gates[&slot].hash;
    sim.send_request(InboxRequest::Approve { slot: slot.clone(), gate_hash });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    let durable = undo(&mut sim);
    let blocked = response(&durable).blocked_on.unwrap();
    assert_eq!((blocked.slot.as_str(), blocked.reason_code), ("a~c", Code::RequiresApproval));
    let view = response(&durable);
    assert_eq!((view.state, view.undone_by.as_deref(), view.cancelled_by), (JobState::Parked, Some("eve"), None));
    let undoing = slot.compensation();
    let gate_hash = durable.job.gates[&undoing].hash;
    sim.send_request(InboxRequest::Approve { slot: undoing.clone(), gate_hash });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Cancelled);
    assert_eq!(sim.executions_by_slot[&undoing], 1);
    assert_verifies(&sim);
}

/// I155: if a compensation fails during an undo, the job is parked. Every decision about the compensation has
/// the same effect as in a cancelled job.
#[test]
fn failing_undo_waits_for_a_decision() {
    for (request, expected) in [(InboxRequest::Continue, 3), (InboxRequest::Abort, 1)] {
        let mut sim = finished(Mode::AutoExec);
        sim.script.insert("Queryable".into(), vec![no(Code::AuthForbidden)]);
        let durable = undo(&mut sim);
        let blocked = response(&durable).blocked_on.unwrap();
        assert_eq!((blocked.slot.as_str(), blocked.reason_code), ("c/1~c", Code::CompensationFailed));
        // A cancel request for a job that is already being undone changes nothing.
        sim.send_request(InboxRequest::Cancel);
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked);
        sim.send_request(request);
        let durable = sim.process(None).unwrap();
        let undone = states(&durable).iter().filter(|(_, state)| *state == CompensationState::Compensated).count();
        assert_eq!((durable.job.state, undone), (JobState::Cancelled, expected));
        assert_verifies(&sim);
    }
    let mut sim = finished(Mode::AutoExec);
    sim.script.insert("Queryable".into(), vec![no(Code::AuthForbidden)]);
    undo(&mut sim);
    sim.resolve(Slot::new("c/1~c"), ManualVerdict::NotApplied);
    let durable = sim.process(None).unwrap();
    assert_eq!(states(&durable), all(&["c/2", "c/1", "b", "a"], CompensationState::Compensated), "it is tried again");
    assert_verifies(&sim);
}

/// I155: if a person aborted a rollback, an undo continues the rollback. An effect that a person decided to
/// leave is not undone.
#[test]
fn undo_continues_aborted_rollback() {
    for (word, left) in [(InboxRequest::Abort, 0), (InboxRequest::Continue, 1)] {
        let mut sim = failed("compensate");
        sim.script.insert("Keyed".into(), vec![Answer::Ok(good()), no(Code::AuthForbidden)]);
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked);
        sim.send_request(word.clone());
        let durable = sim.process(None).unwrap();
        assert_eq!(durable.job.state, JobState::Partial, "{word:?}");
        let receipts = sim.actions.values().filter(|row| row.receipt.is_some()).count();
        if left == 1 {
            assert_eq!(receipts, 1, "what was left stands");
            assert_eq!(calls_to_undo(&durable), Err(UndoRefusal::Undone { job_id: "job_1".into() }));
            continue;
        }
        assert_eq!(receipts, 2, "what was not undone stands");
        assert_eq!(response(&durable).next_actions, ["latch job undo job_1"]);
        let durable = undo(&mut sim);
        let blocked = response(&durable).blocked_on.unwrap();
        assert_eq!((blocked.slot.as_str(), blocked.reason_code), ("b~c", Code::CompensationFailed));
        let open = sim.actions.values().filter(|row| row.receipt.is_none()).count();
        assert_eq!(open, 1, "no job gets the receipt of an effect that is being undone");
        sim.resolve(Slot::new("b~c"), ManualVerdict::NotApplied);
        let durable = sim.process(None).unwrap();
        assert_eq!((durable.job.state, sim.actions.len()), (JobState::Cancelled, 0));
        assert_eq!(states(&durable), all(&["b", "a"], CompensationState::Compensated));
        assert_verifies(&sim);
    }
}

/// I155: nothing is undone while evidence contradicts a verdict on a call. A lost call stays unknown.
#[test]
fn contradicted_and_lost_calls_are_handled_as_after_a_cancel() {
    let unknown = || Answer::Unknown { failure: Failure::new(Code::NetworkTimeout, "?"), kept: None };
    let steps = vec![step("a", "Keyed", &[], json!({})), step("b", "Opaque", &["a"], json!({}))];
    let mut sim = job(Mode::AutoExec, "keep", steps);
    sim.script.insert("Opaque".into(), vec![unknown()]);
    sim.process(None).unwrap();
    sim.resolve(Slot::new("b"), ManualVerdict::Abort);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Partial);
    // An answer that arrives after the end of the job shows that the call happened.
    sim.send_request(InboxRequest::LateEffect { slot: Slot::new("b"), try_no: 1 });
    assert!(sim.process(None).unwrap().job.calls[&Slot::new("b")].conflict);
    let durable = undo(&mut sim);
    let blocked = response(&durable).blocked_on.unwrap();
    assert_eq!((blocked.slot.as_str(), blocked.reason_code), ("b", Code::ResolutionConflict));
    assert_eq!(sim.executions_by_slot.get(&Slot::new("a~c")), None);
    sim.send_request(InboxRequest::Continue);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Cancelled);
    let expected = [("a".to_owned(), CompensationState::Compensated), ("b".to_owned(), CompensationState::Unknown)];
    assert_eq!(states(&durable), expected);
    assert_verifies(&sim);
}

/// I155, I21: an undo ends the job a second time. The second end does not release an action key that another job
/// reserved after the first end.
#[test]
fn second_end_releases_no_key_of_another_job() {
    let unknown = || Answer::Unknown { failure: Failure::new(Code::NetworkTimeout, "?"), kept: None };
    let gate = with(step("g", "Read", &["a"], json!({})), "gate", "human_confirm");
    let steps = vec![step("a", "Keyed", &[], json!({})), gate, step("b", "Opaque", &["a"], json!({}))];
    let mut sim = job(Mode::AutoExec, "keep", steps);
    sim.script.insert("Opaque".into(), vec![unknown()]);
    sim.loses_calls = true;
    sim.process(None).unwrap();
    let slot = Slot::new("b");
    let key = sim.durable().rows[&slot].action_key.expect("the step has a key");
    sim.send_request(InboxRequest::Abort);
    sim.resolve(slot.clone(), ManualVerdict::NotApplied);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Partial);
    assert!(!sim.actions.contains_key(&key), "it certainly did not happen");
    let other = ActionRow { job_id: "job_2".into(), slot, args_hash: Hash::default(), receipt: None };
    sim.actions.insert(key, other.clone());
    let before = sim.record.events.len();
    sim.send_request(InboxRequest::Undo);
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, sim.actions.get(&key)), (JobState::Cancelled, Some(&other)));
    assert_eq!(sim.settled_of_others, 0, "{:?}", &sim.record.events[before..]);
}

/// I157: a `job_reopened` event for an undo has version 2, so that a program without undo refuses the log. The event
/// for a job retry keeps version 1 and its bytes.
#[test]
fn undo_event_has_newer_version_and_retry_event_is_unchanged() {
    let by = || crate::event::DecidedBy::claimed("ada", Some("again".into()));
    let reopened = |purpose| Body::JobReopened { by: by(), steps: vec![], calls: vec![], purpose };
    let text = |purpose| {
        let event = Event::seal(4, 9, 2, reopened(purpose), Hash::default());
        assert_eq!(Event::parse(&event.bytes, 4, Hash::default()).unwrap(), event);
        String::from_utf8(event.bytes).unwrap()
    };
    let retry = r#"{"actor":"ada","attempt":2,"reason":"again","schema_version":1,"seq":4,"steps":[],"time_us":9,"type":"job_reopened"}"#;
    assert_eq!(text(ReopenPurpose::Retry), retry);
    let undo = r#"{"actor":"ada","attempt":2,"purpose":"undo","reason":"again","schema_version":2,"seq":4,"steps":[],"time_us":9,"type":"job_reopened"}"#;
    assert_eq!(text(ReopenPurpose::Undo), undo);
    for (text, wrong) in [(undo, undo.replace(":2,\"seq", ":1,\"seq")), (retry, retry.replace(":1,\"seq", ":2,\"seq"))]
    {
        assert_ne!(text, wrong);
        assert!(Event::parse(wrong.as_bytes(), 4, Hash::default()).is_err(), "{wrong}");
    }
}

/// I155: only compensations run in a job that is undone. A log that contains any other call is refused.
#[test]
fn only_compensations_run_in_an_undone_job() {
    let mut sim = finished(Mode::AutoExec);
    undo(&mut sim);
    let at = sim.record.events.iter().position(|event| matches!(event.body, Body::JobReopened { .. })).unwrap();
    let args = sim.durable().job.calls[&Slot::new("c/1")].args;
    let other = Body::ToolInvocationStarted {
        slot: Slot::new("c/9"),
        operator: Operator::new("Opaque"),
        try_no: 1,
        args,
        first_attempt: 2,
        timeout_ms: 1,
        action_key: None,
    };
    let claim = sim.record.events[at + 1].clone();
    let forged = Event::seal(claim.seq + 1, claim.time_us, claim.attempt, other, claim.hash);
    sim.record.events.truncate(at + 2);
    assert!(Job::fold(&sim.record.events).is_ok());
    sim.record.events.push(forged);
    let reported = Job::fold(&sim.record.events).unwrap_err().to_string();
    assert!(reported.contains("c/9 is not a compensating call"), "{reported}");
}

/// I30, I155: the evidence check finds two forgeries of an undone job. The first forgery moves a call of a plan step to
/// a position after the reopening. The second forgery changes the purpose of the reopening to a retry.
#[test]
fn forged_evidence_of_an_undo_is_found() {
    use crate::evidence::forge::{build_file, parse_records};
    let mut sim = finished(Mode::AutoExec);
    undo(&mut sim);
    let lines = || parse_records(&export(&sim));
    let of = |line: &serde_json::Value, kind: &str| line["event"]["type"] == kind;
    let found = |forged| {
        let report = verify(&build_file(forged));
        assert!(!report.intact);
        report.problems.iter().map(|problem| (problem.kind, problem.message.clone())).collect::<Vec<_>>()
    };
    // A call of a plan step is moved to a position after the reopening.
    let mut forged = lines();
    let call = forged.iter().position(|(_, line)| of(line, "tool_invocation_started")).unwrap();
    let call = forged.remove(call);
    let behind = forged.iter().position(|(_, line)| of(line, "job_reopened")).unwrap() + 2;
    forged.insert(behind, call);
    let reported = found(forged);
    let expected = |(kind, message): &(ProblemKind, String)| {
        *kind == ProblemKind::Permission && message.contains("reopened for an undo")
    };
    assert!(reported.iter().any(expected), "{reported:#?}");
    // The reopening event states a job retry instead of the undo. The job then has no reason to end as cancelled.
    let mut forged = lines();
    let (_, line) = forged.iter_mut().find(|(_, line)| of(line, "job_reopened")).unwrap();
    line["event"].as_object_mut().unwrap().remove("purpose");
    line["event"]["schema_version"] = 1.into();
    assert!(!found(forged).is_empty());
}

/// I156: a job that a strict mismatch ended cannot be undone. An effect that a person reported as no longer existing is
/// not undone.
#[test]
fn effect_not_as_recorded_is_not_undone() {
    use crate::decide::ConfirmationResult;
    use crate::model::manifest::Confirmation;
    for (rule, state) in [(Confirmation::Strict, JobState::Partial), (Confirmation::Warn, JobState::Completed)] {
        let (mut sim, durable) = super::receipts::mismatched(rule);
        assert_eq!(durable.job.state, state);
        if rule == Confirmation::Strict {
            assert!(
                matches!(calls_to_undo(&durable), Err(UndoRefusal::NotConfirmed { .. })),
                "{:?}",
                calls_to_undo(&durable)
            );
            assert!(!response(&durable).next_actions.contains(&"latch job undo job_1".to_owned()));
            continue;
        }
        assert_eq!(calls_to_undo(&durable).map(|due| due.len()), Ok(1));
        // The mismatch blocks compensation, as in a cancelled job.
        let mut other = super::receipts::mismatched(rule).0;
        let durable = undo(&mut other);
        assert_eq!(response(&durable).blocked_on.unwrap().reason_code, Code::ConfirmationMismatch);
        other.send_request(InboxRequest::Confirm { slot: Slot::new("a"), gone: false });
        let durable = other.process(None).unwrap();
        assert_eq!(
            (durable.job.state, states(&durable)),
            (JobState::Cancelled, all(&["a"], CompensationState::Compensated))
        );
        // The effect no longer exists. Its action key is free, so another job may have performed the action since.
        sim.send_request(InboxRequest::Confirm { slot: Slot::new("a"), gone: true });
        let durable = sim.process(None).unwrap();
        assert!(durable.job.is_effect_gone(&Slot::new("a")));
        assert_eq!(calls_to_undo(&durable), Err(UndoRefusal::Undone { job_id: "job_1".into() }));
        sim.verifier_results.insert(Slot::new("a"), ConfirmationResult::Mismatch("nothing is there".into()));
        let durable = undo(&mut sim);
        assert_eq!((durable.job.state, states(&durable)), (JobState::Cancelled, all(&["a"], CompensationState::Left)));
    }
}

/// I155, I6: a log in which an undone job ends in any other state than `CANCELLED` is refused.
#[test]
fn undone_job_ends_only_as_cancelled() {
    let mut sim = finished(Mode::AutoExec);
    let whole = undo(&mut sim).job;
    assert_eq!(whole.state, JobState::Cancelled);
    let at = sim.record.events.iter().position(|event| matches!(event.body, Body::JobReopened { .. })).unwrap();
    let nothing_done = Job::fold(&sim.record.events[..at + 2]).expect("reopened and claimed");
    let all_done = Job::fold(&sim.record.events[..sim.record.events.len() - 1]).expect("all but the end");
    for end in [Body::JobCompleted {}, Body::JobPartial {}, Body::JobFailed { code: None }] {
        for job in [&nothing_done, &all_done] {
            let event = Event::seal(job.next_seq, job.last_us, job.attempt, end.clone(), job.head);
            let refused = job.clone().apply(&event).expect_err("it is refused").to_string();
            assert!(refused.contains("end only as cancelled"), "{refused}");
        }
    }
}

/// I41, I155: a fork copies no step with an effect that the origin is going to undo.
#[test]
fn fork_copies_no_step_that_will_be_undone() {
    let mut sim = finished(Mode::AutoExec);
    sim.script.insert("Queryable".into(), vec![no(Code::AuthForbidden)]);
    let durable = undo(&mut sim);
    assert_eq!(durable.job.state, JobState::Parked, "c/1~c failed; b and a are still to be undone");
    let request = crate::decide::ForkRequest {
        at: "c".into(),
        set: Default::default(),
        by: crate::event::DecidedBy::claimed("bob", None),
        job_id: "job_2".into(),
        secret: Hash::of(&[b"other"]),
    };
    let copied = |durable: &Durable| {
        let Body::JobForked { copied, .. } = crate::decide::fork(durable, &request).unwrap().body else { panic!() };
        copied.into_iter().map(|step| step.step_id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(copied(&durable), ["r"]);
    // After a person aborts the undo, the remaining effects stay. The fork therefore copies the steps of these effects.
    sim.send_request(InboxRequest::Abort);
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, copied(&durable)), (JobState::Cancelled, vec!["r".into(), "a".into(), "b".into()]));
}

/// I155: the gate of an aborted compensation is requested again, with a new expiry time.
#[test]
fn gate_of_aborted_compensation_is_requested_again() {
    let steps =
        vec![step("a", "Opaque", &[], json!({})), step("f", "Failing", &["a"], json!({ "calls": [], "fail": true }))];
    let mut sim = job(Mode::HumanGated, "compensate", steps);
    let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("a header") };
    header.standing_approvals = vec!["a".into()];
    sim.begin_with(*header);
    let slot = Slot::new("a~c");
    let durable = sim.process(None).unwrap();
    assert_eq!(response(&durable).blocked_on.unwrap().reason_code, Code::RequiresApproval);
    sim.send_request(InboxRequest::Abort);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Partial);
    sim.now_us += 100 * 3_600 * 1_000_000;
    let durable = undo(&mut sim);
    assert_eq!(response(&durable).blocked_on.unwrap().reason_code, Code::RequiresApproval);
    let gate = durable.job.open_gate(&slot).expect("it waits for a decision");
    assert!(gate.expires_us.unwrap() > sim.now_us, "the old time is over");
    let gate_hash = gate.hash;
    sim.send_request(InboxRequest::Approve { slot: slot.clone(), gate_hash });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Cancelled);
    assert_eq!(sim.executions_by_slot[&slot], 1);
    assert_verifies(&sim);
}
