//! Tests of jobs that are parked or released without being loaded, because loading kills the worker or a part of the
//! job is unavailable.

use std::collections::BTreeSet;

use serde_json::json;

use crate::decide::tests::support::evidence::assert_verifies;
use crate::decide::tests::support::{CrashPoint, Sim, compensation, good, step};
use crate::decide::{park_unloaded, release_unloaded, unrecorded_attempts};
use crate::event::Body;
use crate::model::effect::Answer;
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, Slot};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::storage::{AttemptEnd, BatchKind, Claim, InboxRequest, InboxRow, JobTail, LogEnd};

fn end(attempt: u32) -> LogEnd {
    LogEnd { seq: 1, time_us: 1, attempt }
}

/// I123: attempts count as unrecorded if they began after the last recorded event. The current attempt does not
/// count.
#[test]
fn unrecorded_attempts_count_after_last_event() {
    let cases = [(1, 0, 0), (2, 0, 1), (4, 0, 3), (4, 3, 0), (9, 3, 5), (3, 3, 0), (u32::MAX, 0, u32::MAX - 1)];
    for (attempt, last, silent) in cases {
        assert_eq!(unrecorded_attempts(attempt, end(last)), silent, "attempt {attempt} after {last}");
    }
}

/// Returns a claim of the job with the given attempt number, and the tail of its log.
fn claimed(sim: &Sim, attempt: u32, now_us: i64, reopen: Option<InboxRow>) -> (Claim, JobTail) {
    let last = sim.record.events.last().expect("it has begun");
    let end = LogEnd { seq: last.seq, time_us: last.time_us, attempt: last.attempt };
    let mut row = sim.record.row.clone();
    (row.attempt, row.next_seq, row.head) = (attempt, last.seq + 1, last.hash);
    (Claim { row, now_us }, JobTail { end, reopen })
}

/// Claims the job as attempt `attempt`, parks it without loading it, and returns the cause.
fn park_unloaded_job(sim: &mut Sim, attempt: u32, now_us: i64, reopen: Option<InboxRow>) -> String {
    let (claim, outline) = claimed(sim, attempt, now_us, reopen);
    let (batch, cause) = park_unloaded(&claim, &outline, "w", Hash::default());
    assert_eq!((batch.attempt, batch.expect_seq, batch.expect_head), (attempt, claim.row.next_seq, claim.row.head));
    assert_eq!(batch.writes.kind, BatchKind::ParkUnloaded, "what was asked waits");
    assert_eq!(batch.writes.inbox_done, outline.reopen.iter().map(|row| row.id).collect::<Vec<_>>());
    sim.record.events.extend(batch.writes.events);
    cause
}

/// I123: parking a job without loading it appends valid events to its log. The events state why the job is
/// parked. Their times never decrease.
#[test]
fn crash_looping_job_is_parked_without_loading() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
    let before_us = sim.record.events[1].time_us;
    let cause = park_unloaded_job(&mut sim, 6, before_us - 1, None);
    assert_eq!(cause, "5 attempts in a row ended before anything of them was recorded");
    let durable = sim.durable();
    assert_eq!(
        (durable.job.state, durable.job.attempt, durable.job.attempts_without_progress),
        (JobState::Parked, 6, 0)
    );
    assert_eq!(durable.job.parked, Some((Code::AttemptsExhausted, None)));
    assert_eq!(durable.job.parked_cause, Some(cause));
    assert!(sim.record.events.iter().all(|event| event.time_us >= before_us));
    // A person continues the job. The job is loaded and executes its call once.
    sim.send_request(InboxRequest::Continue);
    let durable = sim.process(None).expect("no crash is injected");
    assert_eq!((durable.job.state, durable.job.attempt), (JobState::Completed, 7));
    assert_eq!(sim.executions_by_slot[&Slot::from("a")], 1);
    assert_verifies(&sim);
}

/// I123: for every possible last event of its log, a job can be parked without being loaded. A call may be in flight,
/// and the job may be waiting, parked or cancelled.
#[test]
fn unloaded_job_can_be_parked_after_any_log_end() {
    let mut states = BTreeSet::new();
    for crash in (0..14).map(CrashPoint::Write).chain([
        CrashPoint::BeforeExecute(0),
        CrashPoint::AfterExecute(0),
        CrashPoint::AfterExecute(1),
    ]) {
        for asked in [None, Some(InboxRequest::Cancel)] {
            let mut sim = Sim::new(
                Mode::AutoExec,
                vec![step("a", "Read", &[], json!({})), step("b", "Opaque", &["a"], json!({}))],
            );
            drop(sim.process(Some(crash)));
            if let Some(request) = asked {
                sim.send_request(request);
                drop(sim.process(Some(CrashPoint::Write(1))));
            }
            let before = sim.durable().job;
            if before.state.is_terminal() {
                continue;
            }
            states.insert((format!("{:?}", before.state), before.calls.values().any(|call| call.open_try.is_some())));
            let now_us = sim.now_us;
            park_unloaded_job(&mut sim, before.attempt + 3, now_us, None);
            assert_eq!(sim.durable().job.state, JobState::Parked, "{crash:?}");
            sim.send_request(InboxRequest::Continue);
            let after = sim.process(None).expect("no crash is injected").job;
            assert!(after.state.is_terminal() || after.state == JobState::Parked, "{crash:?}: {:?}", after.state);
            assert!(
                sim.executions_by_slot.values().all(|times| *times == 1),
                "{crash:?}: {:?}",
                sim.executions_by_slot
            );
            assert_verifies(&sim);
        }
    }
    assert!(states.len() >= 3, "{states:?}");
}

/// I123: if a retry is requested for a finished job that cannot be loaded, the job is reopened and parked. The
/// reopening event lists no steps and no calls. Later attempts that cannot load the job park it again.
///
/// When the job can be loaded again, it ends as before. The retry must then be requested again.
#[test]
fn finished_job_is_reopened_and_parked_unloaded() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
    let refused = Answer::NotApplied(Failure::new(Code::AuthForbidden, "401"));
    sim.script.insert("Opaque".into(), vec![refused]);
    assert_eq!(sim.process(None).expect("no crash is injected").job.state, JobState::Failed);
    let asked = InboxRow {
        id: 7,
        actor: "ada".into(),
        reason: Some("again".into()),
        request: InboxRequest::Retry,
        verified: None,
    };
    let now_us = sim.now_us;
    park_unloaded_job(&mut sim, 7, now_us, Some(asked));
    park_unloaded_job(&mut sim, 11, now_us, None);
    let durable = sim.durable();
    assert_eq!((durable.job.state, durable.job.parked), (JobState::Parked, Some((Code::AttemptsExhausted, None))));
    let reopened = sim.record.events.iter().find_map(|event| match &event.body {
        Body::JobReopened { by, steps, calls, .. } => Some((by.actor.as_str(), steps.len() + calls.len())),
        _ => None,
    });
    assert_eq!(reopened, Some(("ada", 0)));
    sim.send_request(InboxRequest::Continue);
    assert_eq!(sim.process(None).expect("no crash is injected").job.state, JobState::Failed, "as it was");
    sim.send_request(InboxRequest::Retry);
    assert_eq!(sim.process(None).expect("no crash is injected").job.state, JobState::Completed, "asked once more");
}

/// Claims the job with this attempt number and releases it without loading it.
fn release_unloaded_job(sim: &mut Sim, attempt: u32, reopen: Option<InboxRow>) {
    let (claim, outline) = claimed(sim, attempt, sim.now_us, reopen);
    let context = sim.context();
    let batch = release_unloaded(&claim, &outline, sim.record.clone(), ("w", Hash::default()), &context);
    let batch = batch.expect("it folds");
    assert_eq!((batch.attempt, &batch.writes.kind), (attempt, &BatchKind::EndAttempt(AttemptEnd::Pending)));
    assert_eq!(batch.writes.inbox_done, outline.reopen.iter().map(|row| row.id).collect::<Vec<_>>());
    sim.store(batch);
}

/// I125: attempts that release the job without loading it never count as unrecorded.
#[test]
fn released_unloaded_attempts_do_not_count() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
    for attempt in 1..=20 {
        release_unloaded_job(&mut sim, attempt, None);
        assert_eq!(unrecorded_attempts(attempt + 1, claimed(&sim, attempt + 1, 0, None).1.end), 0);
    }
    assert_eq!(sim.durable().job.attempts_without_progress, 0);
    assert_eq!(sim.process(None).expect("no crash is injected").job.state, JobState::Completed);
    assert_verifies(&sim);
}

/// I125: if a retry is requested for a finished job that cannot be loaded, the first release reopens the job. The
/// retry runs when the job can be loaded again.
#[test]
fn finished_job_is_reopened_and_released_unloaded() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
    let refused = Answer::NotApplied(Failure::new(Code::AuthForbidden, "401"));
    sim.script.insert("Opaque".into(), vec![refused]);
    assert_eq!(sim.process(None).expect("no crash is injected").job.state, JobState::Failed);
    let asked = InboxRow { id: 7, actor: "ada".into(), reason: None, request: InboxRequest::Retry, verified: None };
    release_unloaded_job(&mut sim, 2, Some(asked));
    for attempt in 3..=20 {
        release_unloaded_job(&mut sim, attempt, None);
    }
    let durable = sim.process(None).expect("no crash is injected");
    assert_eq!((durable.job.state, sim.executions_by_slot.get(&Slot::from("a"))), (JobState::Completed, Some(&1)));
    assert_verifies(&sim);
}

/// I123, I125, I155: a request to undo reopens the job even if the job cannot be loaded. The effects are undone
/// when the job is loaded again.
#[test]
fn undo_is_begun_without_loading_the_job() {
    for gives_back in [false, true] {
        let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
        compensation::pin(&mut sim, |name| name == "Opaque");
        assert_eq!(sim.process(None).expect("no crash is injected").job.state, JobState::Completed);
        let asked = InboxRow { id: 7, actor: "ada".into(), reason: None, request: InboxRequest::Undo, verified: None };
        let now_us = sim.now_us;
        match gives_back {
            true => release_unloaded_job(&mut sim, 2, Some(asked)),
            false => {
                park_unloaded_job(&mut sim, 7, now_us, Some(asked));
                assert_eq!(sim.durable().job.parked, Some((Code::AttemptsExhausted, None)));
                sim.send_request(InboxRequest::Continue);
            }
        }
        assert_eq!(sim.executions_by_slot.get(&Slot::from("a~c")), None);
        let durable = sim.process(None).expect("no crash is injected");
        assert_eq!(
            (durable.job.state, sim.executions_by_slot.get(&Slot::from("a~c"))),
            (JobState::Cancelled, Some(&1))
        );
        assert_verifies(&sim);
    }
}

/// I155: if a job was reopened for an undo without being loaded, the receipts of its effects are withdrawn when
/// the job is loaded.
#[test]
fn receipts_are_withdrawn_once_reopened_job_is_loaded() {
    let steps =
        vec![step("b", "Keyed", &[], json!({})), step("f", "Failing", &["b"], json!({ "calls": [], "fail": true }))];
    let mut sim = compensation::job(Mode::AutoExec, "compensate", steps);
    let refused = Answer::NotApplied(Failure::new(Code::AuthForbidden, "401"));
    sim.script.insert("Keyed".into(), vec![Answer::Ok(good()), refused]);
    assert_eq!(sim.process(None).expect("no crash is injected").job.state, JobState::Parked);
    sim.send_request(InboxRequest::Abort);
    assert_eq!(sim.process(None).expect("no crash is injected").job.state, JobState::Partial);
    let given = |sim: &Sim| sim.actions.values().filter(|row| row.receipt.is_some()).count();
    assert_eq!(given(&sim), 1, "what was not undone stands");
    let asked = InboxRow { id: 7, actor: "ada".into(), reason: None, request: InboxRequest::Undo, verified: None };
    let (attempt, now_us) = (sim.durable().job.attempt + 6, sim.now_us);
    park_unloaded_job(&mut sim, attempt, now_us, Some(asked));
    // A cancel request for a job that is already reopened for an undo only wakes the job.
    sim.send_request(InboxRequest::Cancel);
    let durable = sim.process(None).expect("no crash is injected");
    assert_eq!(durable.job.failed_compensation(), Some(&Slot::from("b~c")));
    assert_eq!((durable.job.state, given(&sim)), (JobState::Parked, 0), "no other job gets the receipt");
}
