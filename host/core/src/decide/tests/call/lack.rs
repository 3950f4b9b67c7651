//! Tests of calls for which the machine lacked a resource.

use super::one_call::{job, slot};
use crate::decide::tests::support::CrashPoint;
use crate::model::effect::Answer;
use crate::model::error::{Code, Failure};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::storage::{InboxRequest, ManualVerdict};

const OPERATORS: [&str; 4] = ["Opaque", "Keyed", "Queryable", "Read"];
/// First try and its retries.
const TRIES: usize = 4;

/// Answers of tries that lack a resource.
fn lacking(times: usize) -> Vec<Answer> {
    vec![Answer::NotApplied(Failure::new(Code::MachineFault, "too many open files")); times]
}

/// I245. The call is retried three times, and then its step waits. Each time a person continues the job, the call is
/// tried once more.
#[test]
fn lack_of_resources_parks_the_job_of_a_call_and_is_never_its_answer() {
    for operator in OPERATORS {
        for inside in [false, true] {
            let mut sim = job(Mode::AutoExec, operator, inside, lacking(TRIES + 1));
            for _ in 0..2 {
                let durable = sim.process(None).unwrap();
                assert_eq!(durable.job.state, JobState::Parked, "{operator} {inside}");
                assert_eq!(durable.job.parked, Some((Code::MachineFault, Some(slot(inside)))), "{operator} {inside}");
                let offers = crate::response::response(&durable).next_actions;
                assert!(offers.contains(&"latch job resolve job_1 --continue".to_owned()), "{offers:?}");
                sim.send_request(InboxRequest::Continue);
            }
            assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed, "{operator} {inside}");
        }
    }
}

/// I245. A crash at any write neither loses the wait nor repeats the call.
#[test]
fn crash_around_a_lack_of_resources_loses_nothing() {
    for operator in OPERATORS {
        for inside in [false, true] {
            for crash in 0..24 {
                let mut sim = job(Mode::AutoExec, operator, inside, lacking(TRIES));
                let mut crash = Some(CrashPoint::Write(crash));
                for _ in 0..8 {
                    let Ok(durable) = sim.process(crash.take()) else { continue };
                    match durable.job.state {
                        JobState::Completed => break,
                        // If the call is in doubt after the crash, the person states that the call did not happen.
                        JobState::Parked if durable.job.parked.as_ref().unwrap().0 == Code::IndeterminateEffect => {
                            sim.resolve(slot(inside), ManualVerdict::NotApplied);
                        }
                        JobState::Parked => sim.send_request(InboxRequest::Continue),
                        other => panic!("{operator} {inside}: {other:?}"),
                    }
                }
                assert_eq!(sim.durable().job.state, JobState::Completed, "{operator} {inside} {crash:?}");
                assert!(sim.effect_keys.len() <= 1 && sim.executions_by_slot.values().all(|times| *times == 1));
            }
        }
    }
}
