//! Tests of calls that the rules of grants deny now and that earlier versions allowed under the same grants. Also tests
//! of reads that a dry run skips.

use super::one_call::{job, slot};
use crate::decide::tests::support::CrashPoint;
use crate::event::Body;
use crate::model::effect::Answer;
use crate::model::error::{Code, Failure};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::step::StepState;
use crate::storage::InboxRequest;

const OPERATORS: [&str; 5] = ["Opaque", "Keyed", "Queryable", "Read", "Model"];

fn denied(code: Code, times: usize) -> Vec<Answer> {
    vec![Answer::NotApplied(Failure::new(code, "the grant states too little")); times]
}

/// I199. The step waits as long as the grant is missing. Each time a person continues the job, the call is tried again.
#[test]
fn denied_call_waits_for_the_grant_and_is_made_once() {
    for operator in OPERATORS {
        for inside in [false, true] {
            let mut sim = job(Mode::AutoExec, operator, inside, denied(Code::GrantRequired, 8));
            for _ in 0..8 {
                let durable = sim.process(None).unwrap();
                assert_eq!(durable.job.state, JobState::Parked, "{operator} {inside}");
                assert_eq!(durable.job.parked, Some((Code::GrantRequired, Some(slot(inside)))), "{operator} {inside}");
                sim.send_request(InboxRequest::Continue);
            }
            let durable = sim.process(None).unwrap();
            assert_eq!(durable.job.state, JobState::Completed, "{operator} {inside}");
            let made = sim.executions_by_slot.get(&slot(inside)).copied().unwrap_or_default();
            assert_eq!(made, u32::from(!["Read", "Model"].contains(&operator)), "{operator} {inside}");
        }
    }
}

/// I199. A crash at any write neither loses the wait nor repeats the call.
#[test]
fn crash_around_a_denied_call_loses_nothing() {
    for operator in OPERATORS {
        for inside in [false, true] {
            for crash in 0..20 {
                let mut sim = job(Mode::AutoExec, operator, inside, denied(Code::GrantRequired, 1));
                let mut crash = Some(CrashPoint::Write(crash));
                for _ in 0..8 {
                    let Ok(durable) = sim.process(crash.take()) else { continue };
                    match durable.job.state {
                        JobState::Completed => break,
                        // If the call is in doubt after the crash, the person states that the call did not happen.
                        JobState::Parked if durable.job.parked.as_ref().unwrap().0 == Code::IndeterminateEffect => {
                            sim.resolve(slot(inside), crate::storage::ManualVerdict::NotApplied);
                        }
                        JobState::Parked => sim.send_request(InboxRequest::Continue),
                        other => panic!("{operator} {inside}: {other:?}"),
                    }
                }
                assert_eq!(sim.durable().job.state, JobState::Completed, "{operator} {inside}");
                assert!(sim.effect_keys.len() <= 1 && sim.executions_by_slot.values().all(|times| *times == 1));
            }
        }
    }
}

/// A job that is cancelled does not wait for a grant.
#[test]
fn abort_ends_a_job_that_waits_for_a_grant() {
    let mut sim = job(Mode::AutoExec, "Opaque", false, denied(Code::GrantRequired, 1));
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked);
    sim.send_request(InboxRequest::Abort);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Failed);
    assert!(sim.effect_keys.is_empty());
}

/// I197, I42. A read tries to send more than reads. A dry run skips the step of this read and shows the call.
#[test]
fn dry_run_skips_a_read_that_its_mode_refuses() {
    for (operator, inside) in [("Read", false), ("Read", true), ("Model", false), ("Model", true)] {
        let mut sim = job(Mode::DryRun, operator, inside, denied(Code::ModeForbids, 1));
        let durable = sim.process(None).unwrap();
        assert_eq!(durable.job.state, JobState::Completed);
        let step = durable.job.step(&"a".into()).unwrap();
        assert_eq!(step.state, StepState::Skipped, "{operator} {inside}");
        assert_eq!(step.skipped.as_ref().unwrap().0, Code::ModeForbids);
        assert_eq!(step.would_call.as_ref().map(|call| &call.slot), inside.then(|| slot(true)).as_ref());
        let finished = |event: &crate::event::Event| matches!(event.body, Body::ToolInvocationFinished { .. });
        assert!(!sim.record.events.iter().any(finished), "a skipped call has no answer");
    }
}
