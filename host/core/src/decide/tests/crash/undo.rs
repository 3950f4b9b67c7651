//! Kills the process at every point of an undo, with a simulated world that counts executions.

use crate::decide::tests::support::CrashPoint;
use crate::decide::tests::support::compensation::finished;
use crate::decide::tests::support::evidence::assert_verifies;
use crate::model::error::Code;
use crate::model::ids::Slot;
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::response::response;
use crate::state::Job;
use crate::storage::{InboxRequest, ManualVerdict};

fn crash_points() -> impl Iterator<Item = CrashPoint> {
    (0..40)
        .map(CrashPoint::Write)
        .chain((0..6).flat_map(|n| [CrashPoint::BeforeExecute(n), CrashPoint::AfterExecute(n)]))
}

/// I1, I155: an undo undoes each effect once, and the job ends `CANCELLED`, even if two consecutive processes are
/// killed at any point.
#[test]
fn killed_anywhere_a_finished_job_is_undone_once() {
    let mut died = 0;
    let seconds =
        [None, Some(CrashPoint::Write(1)), Some(CrashPoint::BeforeExecute(0)), Some(CrashPoint::AfterExecute(0))];
    for (first, second) in crash_points().flat_map(|first| seconds.map(|second| (first, second))) {
        let when = format!("{first:?} {second:?}");
        let mut sim = finished(Mode::AutoExec);
        sim.send_request(InboxRequest::Undo);
        died += u32::from(sim.process(Some(first)).is_err());
        assert_verifies(&sim);
        if second.is_some() {
            drop(sim.process(second));
        }
        let mut rounds = 0;
        loop {
            rounds += 1;
            assert!(rounds < 20, "{when}: the job does not end");
            // The undo request is an inbox row. The row stays in the inbox until the reopening is durable.
            if sim.durable().job.undo.is_none() {
                sim.send_request(InboxRequest::Undo);
            }
            let durable = sim.process(None).expect("no crash is injected");
            assert_verifies(&sim);
            if durable.job.state.is_terminal() {
                assert_eq!(durable.job.state, JobState::Cancelled, "{when}");
                break;
            }
            let blocked = response(&durable).blocked_on.expect("a job that rests says why");
            assert_eq!(blocked.reason_code, Code::IndeterminateEffect, "{when}: {blocked:?}");
            let happened = sim.executions_by_slot.contains_key(&blocked.slot);
            let verdict = if happened { ManualVerdict::Applied("\"done\"".into()) } else { ManualVerdict::NotApplied };
            sim.resolve(blocked.slot, verdict);
        }
        for slot in ["a", "b", "c/1", "c/2"] {
            for slot in [Slot::new(slot), Slot::new(slot).compensation()] {
                assert_eq!(
                    sim.executions_by_slot.get(&slot),
                    Some(&1),
                    "{when}: {slot} in {:?}",
                    sim.executions_by_slot
                );
            }
        }
        assert_eq!(sim.executions_by_slot.len(), 8, "{when}: nothing else happened: {:?}", sim.executions_by_slot);
        for length in 2..=sim.record.events.len() {
            Job::fold(&sim.record.events[..length]).expect("every prefix is a job");
        }
    }
    assert!(died > 80, "the cuts are reached: {died}");
}
