//! Tests of retries within a job: their number, their backoff, the precedence of overrides, and their
//! continuation after a restart.

use serde_json::{Value, json};

use crate::decide::tests::support::{CrashPoint, Sim, step};
use crate::event::Body;
use crate::model::effect::Answer;
use crate::model::error::{Code, Failure};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::retry::RetrySpec;

fn failing(code: Code, times: usize, retry_after_ms: Option<u32>) -> Vec<Answer> {
    let failure = Failure { retry_after_ms, ..Failure::new(code, "no") };
    vec![Answer::NotApplied(failure); times]
}

/// Returns a job with one read that fails with `code`. The step and the plugin have the given retry overrides.
fn job(code: Code, of_step: Option<Value>, of_plugin: Option<RetrySpec>, retry_after_ms: Option<u32>) -> Sim {
    let mut read = step("a", "Read", &[], json!({}));
    if let Some(retry) = of_step {
        read["retry"] = retry;
    }
    let mut sim = Sim::new(Mode::HumanGated, vec![read]);
    let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("a log") };
    header.operators.get_mut("Read").unwrap().retry = of_plugin;
    sim.begin_with(*header);
    sim.script.insert("Read".into(), failing(code, 50, retry_after_ms));
    sim
}

/// Returns the scheduled backoffs, in milliseconds.
fn waits(sim: &Sim) -> Vec<i64> {
    let scheduled = sim.record.events.iter().filter_map(|event| match event.body {
        Body::StepRetryScheduled { not_before_us, .. } => Some((not_before_us - event.time_us) / 1000),
        _ => None,
    });
    scheduled.collect()
}

fn tries(mut sim: Sim) -> usize {
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Failed);
    waits(&sim).len() + 1
}

#[test]
fn step_overrides_plugin_and_plugin_overrides_table() {
    let plugin = |max| Some(RetrySpec { max: Some(max), base_ms: None, cap_ms: None });
    assert_eq!(tries(job(Code::NetworkTimeout, None, None, None)), 4);
    assert_eq!(tries(job(Code::RateLimit, None, None, None)), 6);
    assert_eq!(tries(job(Code::NetworkTimeout, None, plugin(1), None)), 2);
    assert_eq!(tries(job(Code::NetworkTimeout, Some(json!({ "max": 2 })), plugin(1), None)), 3);
    assert_eq!(tries(job(Code::NetworkTimeout, Some(json!({ "base_ms": 5 })), plugin(0), None)), 1);
}

#[test]
fn no_override_makes_a_final_code_retryable() {
    let plugin = Some(RetrySpec { max: Some(9), base_ms: Some(1), cap_ms: Some(1) });
    for code in [Code::InvalidInput, Code::AuthForbidden, Code::PolicyDenied, Code::OutOfFuel] {
        assert_eq!(tries(job(code, Some(json!({ "max": 9 })), plugin.clone(), None)), 1, "{code}");
    }
}

/// I249: a read changed nothing, so an answer that the host cannot use is its final error, even after an operation.
#[test]
fn unusable_answer_of_a_read_is_final() {
    let mut sim = job(Code::SchemaValidationFailed, Some(json!({ "max": 9 })), None, None);
    let failure = Failure::new(Code::SchemaValidationFailed, "the result has no canonical form");
    sim.script.insert("Read".into(), vec![Answer::Unknown { failure, kept: Some("[1,".into()) }]);
    assert_eq!(tries(sim), 1);
}

#[test]
fn backoff_respects_cap_and_retry_after() {
    let plugin = Some(RetrySpec { max: Some(8), base_ms: Some(40), cap_ms: Some(100) });
    let mut sim = job(Code::NetworkTimeout, Some(json!({ "cap_ms": 70 })), plugin, None);
    sim.process(None).unwrap();
    assert_eq!(waits(&sim).len(), 8);
    for (n, wait_ms) in waits(&sim).into_iter().enumerate() {
        assert!((-1..=if n == 0 { 40 } else { 70 }).contains(&wait_ms), "retry {n} after {wait_ms} ms");
    }
    let mut sim = job(Code::RateLimit, Some(json!({ "cap_ms": 70 })), None, Some(7_000));
    sim.process(None).unwrap();
    assert!(waits(&sim).iter().all(|wait_ms| (6_999..7_010).contains(wait_ms)), "{:?}", waits(&sim));
}

#[test]
fn restart_keeps_the_time_of_the_next_try() {
    let mut crashed_somewhere = 0;
    for at in 0.. {
        let mut sim = job(Code::RateLimit, None, None, Some(60_000));
        if sim.process(Some(CrashPoint::Write(at))).is_ok() {
            break;
        }
        crashed_somewhere += 1;
        sim.process(None).unwrap();
        assert_eq!(waits(&sim).len(), 5, "cut at {at}");
        let mut not_before = None;
        for event in &sim.record.events {
            match event.body {
                Body::StepRetryScheduled { not_before_us, .. } => not_before = Some(not_before_us),
                Body::ToolInvocationStarted { .. } => {
                    assert!(not_before.is_none_or(|time_us| event.time_us >= time_us), "cut at {at}: too early");
                }
                _ => {}
            }
        }
    }
    assert!(crashed_somewhere > 10);
}
