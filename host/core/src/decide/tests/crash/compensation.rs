//! Kills the process at every point of a compensation, with a simulated world that counts executions.

use serde_json::json;

use crate::decide::tests::support::compensation::{job, plan, run_to_gate, with};
use crate::decide::tests::support::evidence::assert_verifies;
use crate::decide::tests::support::{CrashPoint, Sim, step};
use crate::model::effect::Answer;
use crate::model::error::{Code, Failure};
use crate::model::ids::Slot;
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::response::response;
use crate::state::{Durable, Job};
use crate::storage::{InboxRequest, ManualVerdict};

fn crash_points() -> impl Iterator<Item = CrashPoint> {
    (0..40)
        .map(CrashPoint::Write)
        .chain((0..6).flat_map(|n| [CrashPoint::BeforeExecute(n), CrashPoint::AfterExecute(n)]))
}

/// Resolves each parked call truthfully until the job is over.
fn finish(sim: &mut Sim, cancel: bool) -> Durable {
    for _ in 0..20 {
        if cancel && sim.durable().job.cancel.is_none() {
            sim.send_request(InboxRequest::Cancel);
        }
        let durable = sim.process(None).expect("no crash is injected");
        assert_verifies(sim);
        if durable.job.state.is_terminal() {
            return durable;
        }
        let blocked = response(&durable).blocked_on.expect("a job that rests says why");
        assert_eq!(blocked.reason_code, Code::IndeterminateEffect, "{blocked:?}");
        let happened = sim.executions_by_slot.contains_key(&blocked.slot);
        let verdict = if happened { ManualVerdict::Applied("\"done\"".into()) } else { ManualVerdict::NotApplied };
        sim.resolve(blocked.slot, verdict);
    }
    panic!("the job does not end");
}

fn each_once(sim: &Sim, slots: &[&str], when: &str) {
    for slot in slots {
        let undone = format!("{slot}~c");
        for slot in [*slot, undone.as_str()] {
            assert_eq!(
                sim.executions_by_slot.get(&Slot::new(slot)),
                Some(&1),
                "{when}: {slot} in {:?}",
                sim.executions_by_slot
            );
        }
    }
    assert_eq!(
        sim.executions_by_slot.len(),
        2 * slots.len(),
        "{when}: nothing else happened: {:?}",
        sim.executions_by_slot
    );
}

fn every_prefix_folds(sim: &Sim) {
    for length in 2..=sim.record.events.len() {
        Job::fold(&sim.record.events[..length]).expect("every prefix is a job");
    }
}

/// I1, I37: a cancelled job undoes each effect once, wherever the process is killed during compensation.
#[test]
fn killed_anywhere_a_cancelled_job_undoes_each_effect_once() {
    let mut died = 0;
    for crash in crash_points() {
        let mut sim = job(Mode::AutoExec, "keep", plan());
        run_to_gate(&mut sim);
        sim.send_request(InboxRequest::Cancel);
        died += u32::from(sim.process(Some(crash)).is_err());
        assert_verifies(&sim);
        let durable = finish(&mut sim, true);
        assert_eq!(durable.job.state, JobState::Cancelled, "{crash:?}");
        each_once(&sim, &["a", "b", "c/1", "c/2"], &format!("{crash:?}"));
        every_prefix_folds(&sim);
    }
    assert!(died > 20, "the cuts are reached: {died}");
}

/// I1, I37: a job that fails and is rolled back undoes each effect once, wherever the process is killed.
#[test]
fn killed_anywhere_a_failed_job_undoes_each_effect_once() {
    let mut died = 0;
    for crash in crash_points() {
        let steps = vec![
            step("a", "Opaque", &[], json!({})),
            with(step("b", "Queryable", &["a"], json!({})), "compensate_with", "Keyed"),
            step("f", "Failing", &["b"], json!({ "calls": ["Queryable"], "fail": true })),
        ];
        let mut sim = job(Mode::AutoExec, "compensate", steps);
        died += u32::from(sim.process(Some(crash)).is_err());
        let durable = finish(&mut sim, false);
        assert_eq!(durable.job.state, JobState::Partial, "{crash:?}");
        for slot in ["a", "b", "f/0", "a~c", "f/0~c"] {
            assert_eq!(
                sim.executions_by_slot.get(&Slot::new(slot)),
                Some(&1),
                "{crash:?}: {slot} in {:?}",
                sim.executions_by_slot
            );
        }
        // A keyed compensation may be executed again, but only under the same key.
        let keys = sim.effect_keys.iter().filter(|key| key.contains(":b~c:")).count();
        assert_eq!((keys, sim.executions_by_slot.len()), (1, 6), "{crash:?}: {:?}", sim.effect_keys);
    }
    assert!(died > 20, "the cuts are reached: {died}");
}

#[test]
fn two_crashes_in_a_row_change_nothing() {
    for first in (1..24).map(CrashPoint::Write) {
        for second in [
            CrashPoint::Write(1),
            CrashPoint::Write(3),
            CrashPoint::BeforeExecute(0),
            CrashPoint::AfterExecute(0),
            CrashPoint::AfterExecute(1),
        ] {
            let mut sim = job(Mode::AutoExec, "keep", plan());
            run_to_gate(&mut sim);
            sim.send_request(InboxRequest::Cancel);
            drop(sim.process(Some(first)));
            drop(sim.process(Some(second)));
            finish(&mut sim, true);
            each_once(&sim, &["a", "b", "c/1", "c/2"], &format!("{first:?} {second:?}"));
        }
    }
}

/// I37: a failed compensation that a person retries is executed once, wherever the process is killed.
#[test]
fn killed_anywhere_a_retried_compensation_happens_once() {
    for crash in crash_points() {
        let mut sim = job(Mode::AutoExec, "keep", plan());
        run_to_gate(&mut sim);
        let refused = Answer::NotApplied(Failure::new(Code::AuthForbidden, "no"));
        sim.script.insert("Queryable".into(), vec![refused]);
        sim.send_request(InboxRequest::Cancel);
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked);
        let slot = Slot::new("c/1~c");
        sim.resolve(slot.clone(), ManualVerdict::NotApplied);
        drop(sim.process(Some(crash)));
        assert_verifies(&sim);
        // If the crash came before the verdict was recorded, the person gives the verdict again.
        if sim.durable().job.failed_compensation() == Some(&slot) {
            sim.resolve(slot, ManualVerdict::NotApplied);
        }
        finish(&mut sim, true);
        each_once(&sim, &["a", "b", "c/1", "c/2"], &format!("{crash:?}"));
    }
}

/// I3: a compensating call that the plugin of the undone call executes may be in doubt. The job is then parked. The
/// call is not reconciled or repeated, because the class of the plugin does not cover the `compensate` export.
#[test]
fn a_compensation_in_doubt_parks() {
    for (operator, parks) in [("Opaque", true), ("Keyed", true), ("Queryable", true)] {
        let steps = vec![
            step("a", operator, &[], json!({})),
            with(step("d", "Opaque", &["a"], json!({})), "gate", "human_confirm"),
        ];
        let mut sim = job(Mode::AutoExec, "keep", steps);
        sim.process(None).unwrap();
        sim.send_request(InboxRequest::Cancel);
        assert!(sim.process(Some(CrashPoint::AfterExecute(0))).is_err());
        for _ in 0..2 {
            let durable = sim.process(None).unwrap();
            let blocked = response(&durable).blocked_on.unwrap();
            assert_eq!((durable.job.state == JobState::Parked, blocked.slot.as_str()), (parks, "a~c"), "{operator}");
            assert_eq!(
                (blocked.reason_code, sim.executions_by_slot[&Slot::new("a~c")]),
                (Code::IndeterminateEffect, 1)
            );
        }
        // If the person closes the compensation as lost, the job ends and reports an unknown outcome.
        sim.resolve(Slot::new("a~c"), ManualVerdict::Abort);
        let durable = sim.process(None).unwrap();
        assert_verifies(&sim);
        assert_eq!(durable.job.state, JobState::Cancelled);
        let view = &response(&durable).compensations[0];
        assert_eq!(
            (view.state, view.reason_code),
            (crate::response::CompensationState::Unknown, Some(Code::InvocationLost))
        );
    }
}

/// A job whose compensation was aborted still resolves the compensating call in flight.
#[test]
fn in_flight_call_of_aborted_compensation_is_resolved() {
    let mut sim = job(Mode::AutoExec, "keep", plan());
    run_to_gate(&mut sim);
    sim.send_request(InboxRequest::Cancel);
    assert!(sim.process(Some(CrashPoint::AfterExecute(0))).is_err());
    sim.send_request(InboxRequest::Abort);
    let durable = sim.process(None).unwrap();
    let blocked = response(&durable).blocked_on.unwrap();
    assert_eq!((blocked.slot.as_str(), blocked.reason_code), ("c/2~c", Code::IndeterminateEffect));
    sim.resolve(blocked.slot, ManualVerdict::Applied("1".into()));
    let durable = sim.process(None).unwrap();
    assert_verifies(&sim);
    assert_eq!(
        (durable.job.state, sim.executions_by_slot.len()),
        (JobState::Cancelled, 5),
        "{:?}",
        sim.executions_by_slot
    );
    use crate::response::CompensationState;
    let reported: Vec<_> = response(&durable).compensations.iter().map(|view| view.state).collect();
    assert_eq!(
        reported,
        [CompensationState::Compensated, CompensationState::Left, CompensationState::Left, CompensationState::Left]
    );
}
