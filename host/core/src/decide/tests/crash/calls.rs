//! Kills the process at every point, for each class of tool. Each call takes effect at most once, and the job
//! ends with a true record of its effects.

use serde_json::json;

use crate::decide::check_open_call;
use crate::decide::tests::support::{CrashPoint, Sim, step};
use crate::event::{Body, Event};
use crate::model::effect::Answer;
use crate::model::error::{Code, Failure};
use crate::model::ids::{Operator, Slot};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::response::response;
use crate::state::{Durable, Job};
use crate::storage::{InboxRequest, ManualVerdict};

fn plan(operator: &str) -> Vec<serde_json::Value> {
    vec![
        step("a", "Read", &[], json!({})),
        step("b", operator, &["a"], json!({ "x": { "$ref": "a#" } })),
        step("c", "Script", &["b"], json!({ "calls": ["Read", operator, "Read", operator] })),
    ]
}

fn sim(operator: &str) -> Sim {
    let mut sim = Sim::new(Mode::HumanGated, plan(operator));
    // Every gated step is approved at submission. Only crashes interrupt the job.
    approve_all(&mut sim);
    sim
}

fn approve_all(sim: &mut Sim) {
    let Body::IntentAccepted { header } = &sim.record.events[0].body else {
        panic!("the first event is the acceptance of the job")
    };
    let mut header = header.clone();
    header.standing_approvals = vec!["b".into(), "c".into()];
    let accepted = crate::event::Event::seal(0, 1_000, 0, Body::IntentAccepted { header }, Default::default());
    let created = sim.record.events[1].body.clone();
    let created = crate::event::Event::seal(1, 1_000, 0, created, accepted.hash);
    sim.record.events = vec![accepted, created];
}

fn crash_points() -> Vec<CrashPoint> {
    let mut crash_points: Vec<CrashPoint> = (0..40).map(CrashPoint::Write).collect();
    crash_points.extend((0..8).flat_map(|n| [CrashPoint::BeforeExecute(n), CrashPoint::AfterExecute(n)]));
    crash_points
}

/// Runs the job to its end. Gives each call in doubt the verdict that agrees with the simulated world.
fn finish(sim: &mut Sim) -> Durable {
    for _ in 0..20 {
        let durable = sim.durable();
        if durable.job.state.is_terminal() {
            return durable;
        }
        let durable = sim.process(None).expect("no crash is injected");
        if durable.job.state.is_terminal() {
            return durable;
        }
        let response = response(&durable);
        let blocked = response.blocked_on.expect("a job that rests says why");
        assert_eq!(blocked.reason_code, Code::IndeterminateEffect);
        let happened = sim.executions_by_slot.contains_key(&blocked.slot);
        let verdict = if happened { ManualVerdict::Applied("\"done\"".into()) } else { ManualVerdict::NotApplied };
        sim.resolve(blocked.slot, verdict);
    }
    panic!("the job does not end");
}

/// I1, I3: each effect happens exactly once, wherever the process is killed.
#[test]
fn killed_anywhere_each_effect_happens_once() {
    for operator in ["Opaque", "Queryable"] {
        let mut reached = 0;
        for crash in crash_points() {
            let mut sim = sim(operator);
            reached += u32::from(sim.process(Some(crash)).is_err());
            let durable = finish(&mut sim);
            assert_eq!(durable.job.state, JobState::Completed, "{operator} {crash:?}");
            let slots: Vec<_> = sim.executions_by_slot.keys().map(Slot::to_string).collect();
            assert_eq!(slots, ["b", "c/1", "c/3"], "{operator} {crash:?}");
            assert!(
                sim.executions_by_slot.values().all(|n| *n == 1),
                "{operator} {crash:?}: {:?}",
                sim.executions_by_slot
            );
            every_prefix_folds(&durable, &sim);
        }
        assert!(reached > 20, "the cuts reach the run: {reached}");
    }
}

/// I171.
#[test]
fn keyed_calls_are_repeated_only_under_the_same_key() {
    for crash in crash_points() {
        let mut sim = sim("Keyed");
        drop(sim.process(Some(crash)));
        let durable = finish(&mut sim);
        assert_eq!(durable.job.state, JobState::Completed, "{crash:?}");
        assert_eq!(sim.effect_keys.len(), 3, "{crash:?}: {:?}", sim.effect_keys);
    }
}

#[test]
fn two_crashes_in_a_row_change_nothing() {
    for first in (0..24).map(CrashPoint::Write) {
        for second in [
            CrashPoint::Write(1),
            CrashPoint::Write(3),
            CrashPoint::BeforeExecute(0),
            CrashPoint::AfterExecute(0),
            CrashPoint::AfterExecute(1),
        ] {
            let mut sim = sim("Queryable");
            drop(sim.process(Some(first)));
            drop(sim.process(Some(second)));
            finish(&mut sim);
            assert!(
                sim.executions_by_slot.values().all(|n| *n == 1),
                "{first:?} {second:?}: {:?}",
                sim.executions_by_slot
            );
            assert_eq!(sim.executions_by_slot.len(), 3, "{first:?} {second:?}");
        }
    }
}

#[test]
fn an_opaque_call_in_doubt_parks_and_is_never_executed_again() {
    let mut sim = sim("Opaque");
    drop(sim.process(Some(CrashPoint::AfterExecute(1))));
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Parked);
    let blocked = response(&durable).blocked_on.unwrap();
    assert_eq!((blocked.slot.as_str(), blocked.reason_code), ("b", Code::IndeterminateEffect));
    assert_eq!(sim.executions_by_slot[&Slot::new("b")], 1);
    let again = sim.process(None).unwrap();
    assert_eq!(again.job.state, JobState::Parked, "the job stays parked until a person decides");
    assert_eq!(sim.executions_by_slot[&Slot::new("b")], 1);
}

#[test]
fn a_lost_call_is_an_answer_like_any_other() {
    let mut sim = sim("Opaque");
    drop(sim.process(Some(CrashPoint::AfterExecute(1))));
    sim.process(None).unwrap();
    sim.resolve(Slot::new("b"), ManualVerdict::Abort);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Partial);
    assert_eq!(response(&durable).failed[0].reason_code, Code::InvocationLost);
    assert_eq!(sim.executions_by_slot[&Slot::new("b")], 1);
}

#[test]
fn unknown_reconcile_falls_to_next_resolution_step() {
    let mut sim = sim("Queryable");
    drop(sim.process(Some(CrashPoint::AfterExecute(1))));
    sim.reconcile_unknown = true;
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Parked);
    assert_eq!(sim.executions_by_slot[&Slot::new("b")], 1);
}

/// I163.
#[test]
fn definite_failures_are_retried_and_doubtful_ones_never_blindly() {
    let limit = |n: usize| vec![Answer::NotApplied(Failure::new(Code::RateLimit, "429")); n];
    let mut sim = sim("Opaque");
    sim.script.insert(Operator::new("Opaque"), limit(5));
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed);
    assert_eq!(durable.job.calls[&Slot::new("b")].tries, 6);

    let mut sim = self::sim("Opaque");
    sim.script.insert(Operator::new("Opaque"), limit(6));
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Partial, "five retries, not more");
    assert!(sim.executions_by_slot.is_empty());

    let mut sim = self::sim("Opaque");
    let timeout = Answer::Unknown { failure: Failure::new(Code::NetworkTimeout, "no answer"), kept: None };
    sim.script.insert(Operator::new("Opaque"), vec![timeout]);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Parked);
    assert_eq!(sim.executions_by_slot[&Slot::new("b")], 1);
}

/// I174.
#[test]
fn a_final_code_is_never_retried() {
    let mut sim = sim("Opaque");
    let denied = Answer::NotApplied(Failure::new(Code::AuthForbidden, "401"));
    sim.script.insert(Operator::new("Opaque"), vec![denied]);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.calls[&Slot::new("b")].tries, 1);
    assert_eq!(durable.job.state, JobState::Partial);
    let skipped = &response(&durable).steps[2];
    assert_eq!(skipped.reason_code, Some(Code::AuthForbidden));
}

#[test]
fn a_claim_that_left_no_event_still_counts() {
    let mut sim = sim("Opaque");
    sim.lost_claims = 1;
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, durable.job.attempt), (JobState::Completed, 2));
}

#[test]
fn a_cancelled_job_starts_nothing_new() {
    let mut sim = sim("Opaque");
    drop(sim.process(Some(CrashPoint::Write(3))));
    sim.send_request(InboxRequest::Cancel);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Cancelled);
    assert!(sim.executions_by_slot.is_empty());
}

#[test]
fn a_cancelled_job_in_doubt_waits_for_the_verdict() {
    let mut sim = sim("Opaque");
    drop(sim.process(Some(CrashPoint::AfterExecute(1))));
    sim.send_request(InboxRequest::Cancel);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Parked);
    let blocked = response(&durable).blocked_on.expect("it says what it waits for");
    assert_eq!((blocked.slot.as_str(), blocked.reason_code), ("b", Code::IndeterminateEffect));
    sim.resolve(Slot::new("b"), ManualVerdict::Applied("\"done\"".into()));
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Cancelled);
    assert_eq!(sim.executions_by_slot[&Slot::new("b")], 1);
}

fn every_prefix_folds(durable: &Durable, sim: &Sim) {
    for length in 2..=sim.record.events.len() {
        let job = Job::fold(&sim.record.events[..length]).expect("every prefix is a job");
        assert_eq!(job.next_seq, length as u64);
    }
    assert_eq!(durable.job.next_seq, sim.record.events.len() as u64);
}

/// I126: a process that dies repeatedly does not quickly use up the tries of its call. The first repeat follows
/// immediately. Each later repeat follows after a backoff.
#[test]
fn crashed_tries_are_repeated_after_backoff() {
    for operator in ["Keyed", "Queryable"] {
        let mut sim = Sim::new(Mode::AutoExec, vec![step("a", operator, &[], json!({}))]);
        sim.loses_calls = true;
        // This random number gives nearly the longest backoff.
        sim.random = u64::from(u32::MAX) - 10_000;
        for _ in 0..3 {
            assert!(sim.process(Some(CrashPoint::BeforeExecute(0))).is_err(), "{operator}");
        }
        let starts = |event: &&Event| matches!(event.body, Body::ToolInvocationStarted { .. });
        let started: Vec<i64> = sim.record.events.iter().filter(starts).map(|event| event.time_us).collect();
        assert_eq!(started.len(), 3, "{operator}");
        assert!(started[2] - started[1] >= 500_000, "{operator}: {started:?}");
        assert!(operator != "Keyed" || started[1] - started[0] < 500_000, "{operator}: {started:?}");
    }
}

/// I3, I19: if the process dies while a call is open, the call is in doubt. The class of the tool determines the
/// resolution: the tool is asked, the call is repeated under its key, or a person decides. Replay checks this for every
/// prefix of a log.
#[test]
fn an_open_call_of_any_prefix_is_in_doubt() {
    let mut checked = 0;
    for operator in ["Opaque", "Queryable", "Keyed"] {
        let mut sim = sim(operator);
        sim.process(None).unwrap();
        let whole = sim.durable();
        for end in 2..=sim.record.events.len() {
            let prefix = Job::fold(&sim.record.events[..end]).unwrap();
            for (slot, call) in prefix.calls.iter().filter(|(_, call)| call.open_try.is_some()) {
                check_open_call(&whole, &prefix, slot, call)
                    .unwrap_or_else(|fault| panic!("{operator} {slot}: {fault}"));
                checked += 1;
            }
        }
    }
    assert!(checked >= 9, "{checked} open calls");
}
