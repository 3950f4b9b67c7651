//! Jobs that are not loaded any more, because their processes ended while they loaded them.

use serde_json::json;

use super::evidence::{export, verify};
use super::sim::{Sim, step};
use crate::decide::{silent_attempts, unread};
use crate::effect::Answer;
use crate::error::{Code, Failure};
use crate::event::{Body, Mode};
use crate::ids::{Hash, Slot};
use crate::job::JobState;
use crate::storage::{Claim, InboxRow, LogEnd, Request};

fn end(attempt: u32) -> LogEnd {
    LogEnd { seq: 1, time_us: 1, attempt }
}

/// I123: only what came after the last word counts, and the attempt at hand does not.
#[test]
fn attempts_are_silent_that_came_after_the_last_word() {
    let cases = [(1, 0, 0), (2, 0, 1), (4, 0, 3), (4, 3, 0), (9, 3, 5), (3, 3, 0), (u32::MAX, 0, u32::MAX - 1)];
    for (attempt, last, silent) in cases {
        assert_eq!(silent_attempts(attempt, end(last)), silent, "attempt {attempt} after {last}");
    }
}

/// Claims the job as attempt `attempt`, and parks it unread; answers the cause.
fn park(sim: &mut Sim, attempt: u32, now_us: i64, inbox: &[InboxRow]) -> String {
    let last = sim.record.events.last().expect("it has begun");
    let end = LogEnd { seq: last.seq, time_us: last.time_us, attempt: last.attempt };
    let mut row = sim.record.row.clone();
    (row.attempt, row.next_seq, row.head) = (attempt, last.seq + 1, last.hash);
    let (batch, cause) = unread(&Claim { row, now_us }, end, inbox, "w", Hash::default());
    assert_eq!((batch.attempt, batch.expect_seq, batch.expect_head), (attempt, last.seq + 1, last.hash));
    assert!(batch.unread && batch.inbox_done.is_empty(), "what was asked waits");
    assert_eq!(batch.status.map(|status| (status.to, status.wake_at_us)), Some((JobState::Parked, None)));
    sim.record.events.extend(batch.events);
    cause
}

/// I123: the log goes on as if the job had been loaded, says why it is parked, and its time never goes back.
#[test]
fn a_job_is_parked_without_its_log() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
    let before_us = sim.record.events[1].time_us;
    let cause = park(&mut sim, 6, before_us - 1, &[]);
    assert_eq!(cause, "5 attempts in a row ended before they had loaded the job");
    let durable = sim.durable();
    assert_eq!((durable.job.state, durable.job.attempt, durable.job.barren_attempts), (JobState::Parked, 6, 0));
    assert_eq!(durable.job.parked, Some((Code::AttemptsExhausted, None)));
    assert_eq!(durable.job.parked_cause, Some(cause));
    assert!(sim.record.events.iter().all(|event| event.time_us >= before_us));
    // Somebody lets it go on: it is loaded, and does what it has to do once.
    sim.ask(Request::Continue);
    let durable = sim.process(None).expect("nobody kills it");
    assert_eq!((durable.job.state, durable.job.attempt), (JobState::Completed, 7));
    assert_eq!(sim.world[&Slot::from("a")], 1);
    verify(&export(&sim));
}

/// I123: one that was over is open again, with nothing to do: whoever asked is asked to ask once more.
#[test]
fn a_job_that_was_over_is_parked_as_one_that_was_opened_again() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({}))]);
    let refused = Answer::NotApplied(Failure::new(Code::AuthForbidden, "401"));
    sim.script.insert("Opaque".into(), vec![refused]);
    assert_eq!(sim.process(None).expect("nobody kills it").job.state, JobState::Failed);
    let asked = InboxRow { id: 7, actor: "ada".into(), reason: Some("again".into()), request: Request::Retry };
    let now_us = sim.now_us;
    park(&mut sim, 7, now_us, &[asked]);
    let durable = sim.durable();
    assert_eq!((durable.job.state, durable.job.parked), (JobState::Parked, Some((Code::AttemptsExhausted, None))));
    let reopened = sim.record.events.iter().find_map(|event| match &event.body {
        Body::JobReopened { by, steps, calls } => Some((by.actor.as_str(), steps.len() + calls.len())),
        _ => None,
    });
    assert_eq!(reopened, Some(("ada", 0)));
    for request in [Request::Retry, Request::Continue] {
        sim.ask(request);
    }
    assert_eq!(sim.process(None).expect("nobody kills it").job.state, JobState::Failed, "as it was");
    sim.ask(Request::Retry);
    assert_eq!(sim.process(None).expect("nobody kills it").job.state, JobState::Completed, "asked once more");
}
