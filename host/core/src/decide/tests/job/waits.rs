//! Tests of wait steps. A wait starts once, and ends once: by a signal with its key or by its time.

use serde_json::json;

use crate::decide::tests::support::{CrashPoint, Sim, step, wait};
use crate::event::Body;
use crate::model::error::Code;
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::step::StepState;
use crate::replay;
use crate::response::response;
use crate::state::{Durable, Job};
use crate::storage::{BatchKind, InboxRequest};

fn signal(key: &str, payload: &str) -> InboxRequest {
    InboxRequest::Signal { key: key.to_owned(), payload: payload.to_owned() }
}

fn output(durable: &Durable, id: &str) -> String {
    String::from_utf8(durable.output(&id.into()).unwrap().to_vec()).unwrap()
}

fn count(sim: &Sim, is: impl Fn(&Body) -> bool) -> usize {
    sim.record.events.iter().filter(|event| is(&event.body)).count()
}

fn completions(sim: &Sim) -> usize {
    count(sim, |body| matches!(body, Body::WaitCompleted { .. }))
}

/// I25: a signal becomes the output of the wait with the same key and of no other wait.
#[test]
fn signal_becomes_output_of_its_wait_only() {
    let key = |key| json!({ "wait_kind": "signal", "correlation_key": key });
    let plan = vec![
        wait("a", &[], key("ka")),
        wait("b", &[], key("kb")),
        step("c", "Read", &["a"], json!({ "got": { "$ref": "a#/n" } })),
    ];
    let mut sim = Sim::new(Mode::HumanGated, plan);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Parked);
    let response = response(&durable);
    assert_eq!(response.status, "partial");
    let first = response.blocked_on.unwrap();
    assert_eq!((first.reason_code, first.correlation_key.as_deref()), (Code::RequiresSignal, Some("ka")));
    assert!(response.next_actions.iter().any(|action| action == "latch job signal job_1 ka --payload JSON"));

    sim.send_request(signal("ka", "{ \"n\" : 1.0 }"));
    sim.send_request(signal("ka", "{\"n\":2}"));
    let durable = sim.process(None).unwrap();
    assert_eq!(output(&durable, "a"), "{ \"n\" : 1.0 }", "the bytes are injected as they were received");
    assert_eq!(durable.input(&"c".into()).unwrap().to_vec(), br#"{"got":1}"#);
    assert_eq!(durable.job.step(&"b".into()).unwrap().state, StepState::WaitingSignal);
    assert_eq!(completions(&sim), 1, "a duplicate changes nothing");
    sim.send_request(signal("kb", "null"));
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    assert_eq!(completions(&sim), 2);
}

/// I25: a signal that arrives before its wait starts is stored for the wait.
#[test]
fn a_signal_that_comes_before_its_wait_is_kept_for_it() {
    let bound = json!({ "wait_kind": "human", "correlation_key": { "$ref": "a#/next" } });
    let plan = vec![
        wait("a", &[], json!({ "wait_kind": "signal", "correlation_key": "first" })),
        wait("b", &["a"], json!({ "wait_kind": "signal", "correlation_key": "second" })),
        wait("c", &["a"], bound),
    ];
    let mut sim = Sim::new(Mode::HumanGated, plan);
    sim.process(None).unwrap();
    // The key of `c` is not known yet, so any signal may be for `c`.
    for (key, payload) in [("second", "2"), ("third", "3"), ("second", "4"), ("first", r#"{"next":"third"}"#)] {
        sim.send_request(signal(key, payload));
    }
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed);
    assert_eq!((output(&durable, "b"), output(&durable, "c")), ("2".to_owned(), "3".to_owned()));
    assert_eq!(completions(&sim), 3);
}

/// I26: a timer ends its wait once, and not before its time.
#[test]
fn a_timer_ends_its_wait_once_and_not_early() {
    let mut sim = Sim::new(
        Mode::HumanGated,
        vec![wait("a", &[], json!({ "wait_kind": "timer", "duration": "3h", "default": { "b": 1, "a": 2 } }))],
    );
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, response(&durable).status.as_str()), (JobState::Parked, "running"));
    let (name, due_us) = durable.job.timers().pop_first().unwrap();
    assert_eq!(name, "wait/a");
    let started = sim.record.events.iter().find(|event| matches!(event.body, Body::WaitStarted { .. })).unwrap();
    assert!((due_us - started.time_us - 3 * 3_600_000_000).abs() <= 100);
    // This timer request is ignored, because its time is earlier than the time of the wait.
    sim.send_request(InboxRequest::Timer { name: name.clone(), due_us: due_us - 1 });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked);
    sim.send_request(InboxRequest::Timer { name: name.clone(), due_us });
    sim.send_request(InboxRequest::Timer { name, due_us });
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, output(&durable, "a").as_str()), (JobState::Completed, r#"{"a":2,"b":1}"#));
    assert_eq!(count(&sim, |body| matches!(body, Body::TimerFired { .. })), 1);
}

#[test]
fn short_wait_stays_waiting_and_park_parks() {
    let timer = |park: bool| json!({ "wait_kind": "timer", "duration": "5s", "park": park });
    let mut sim = Sim::new(Mode::HumanGated, vec![wait("a", &[], timer(false))]);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    let mut sim = Sim::new(Mode::HumanGated, vec![wait("a", &[], timer(true))]);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.parked.as_ref().unwrap().0, Code::WaitingTimer);
}

/// I25, I26: a timeout gives the default or fails the step. A signal that was acknowledged before the timeout
/// was written takes precedence over the timeout.
#[test]
fn a_time_out_gives_the_default_or_fails_unless_a_signal_was_acknowledged() {
    for (default, state, code) in
        [(Some(json!("none")), JobState::Completed, None), (None, JobState::Failed, Some(Code::WaitTimedOut))]
    {
        let mut payload = json!({ "wait_kind": "signal", "correlation_key": "k", "timeout": "1h" });
        if let Some(default) = &default {
            payload["default"] = default.clone();
        }
        let plan = vec![wait("a", &[], payload)];
        let mut sim = Sim::new(Mode::HumanGated, plan.clone());
        let (name, due_us) = sim.process(None).unwrap().job.timers().pop_first().unwrap();
        sim.send_request(InboxRequest::Timer { name: name.clone(), due_us });
        let durable = sim.process(None).unwrap();
        assert_eq!(durable.job.state, state);
        assert_eq!(response(&durable).failed.first().map(|failed| failed.reason_code), code);
        assert_eq!(count(&sim, |body| matches!(body, Body::WaitTimedOut { .. })), 1);

        // The timer fired first, but the signal was acknowledged before the timeout was written.
        let mut sim = Sim::new(Mode::HumanGated, plan);
        let due_us = sim.process(None).unwrap().job.timers()[&name];
        sim.send_request(InboxRequest::Timer { name, due_us });
        sim.send_request(signal("k", "7"));
        let durable = sim.process(None).unwrap();
        assert_eq!((durable.job.state, output(&durable, "a").as_str()), (JobState::Completed, "7"));
        assert_eq!(count(&sim, |body| matches!(body, Body::WaitTimedOut { .. })), 0);
    }
}

/// I25: the timeout of a wait is written only if the inbox is empty.
#[test]
fn timed_end_is_written_only_after_inbox_is_drained() {
    let payload = json!({ "wait_kind": "signal", "correlation_key": "k", "timeout": "1h" });
    let mut sim = Sim::new(Mode::HumanGated, vec![wait("a", &[], payload)]);
    let durable = sim.process(None).unwrap();
    let (name, due_us) = durable.job.timers().pop_first().unwrap();
    let mut claimed = durable.clone();
    claimed.seal(durable.job.attempt + 1, crate::decide::claimed("w", Default::default()), sim.now_us).unwrap();
    let row = |request| crate::storage::InboxRow { id: 1, actor: "x".into(), reason: None, request, verified: None };
    let rules = crate::model::rules::Rules::default();
    let context = crate::decide::Context { now_us: due_us, random: 0, rules: &rules, clock_margin_ms: 0 };
    let timed_out = crate::decide::apply_request(&claimed, &row(InboxRequest::Timer { name, due_us }), &context);
    assert!(matches!(timed_out.kind, BatchKind::EndWait { .. }));
    let signalled = crate::decide::apply_request(&claimed, &row(signal("k", "1")), &context);
    assert!(!matches!(signalled.kind, BatchKind::EndWait { .. }));
    let batch = claimed.seal(claimed.job.attempt, timed_out, due_us).unwrap();
    assert!(matches!(batch.writes.kind, BatchKind::EndWait { .. }), "the batch marks the inbox as drained");
    assert_eq!(batch.expectations[0].state, crate::storage::expectation::ExpectationState::Over);
    assert_eq!((batch.timers.len(), batch.timers[0].due_us), (1, None));
}

#[test]
fn bound_correlation_keys_are_unique_in_the_job() {
    let plan = vec![
        wait("a", &[], json!({ "wait_kind": "signal", "correlation_key": "k" })),
        step("r", "Read", &[], json!({})),
        wait("b", &["r"], json!({ "wait_kind": "signal", "correlation_key": { "$ref": "r#" } })),
        wait("c", &["r"], json!({ "wait_kind": "signal", "correlation_key": { "$ref": "r#" } })),
    ];
    let mut sim = Sim::new(Mode::HumanGated, plan);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.step(&"b".into()).unwrap().state, StepState::WaitingSignal);
    assert_eq!(durable.job.waits["b"].key.as_deref(), Some("done"));
    let refused = durable.job.step(&"c".into()).unwrap().failure.clone().unwrap();
    assert_eq!(refused.code, Code::InvalidInput);
}

#[test]
fn a_dry_run_waits_for_nothing() {
    let plan = vec![
        wait("a", &[], json!({ "wait_kind": "signal", "correlation_key": "k" })),
        step("b", "Read", &["a"], json!({ "x": { "$ref": "a#" } })),
        step("c", "Read", &["b"], json!({ "x": { "$ref": "a#" } })),
        step("d", "Read", &["a"], json!({})),
    ];
    let mut sim = Sim::new(Mode::DryRun, plan);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed);
    let codes: Vec<_> = response(&durable).steps.iter().map(|step| step.reason_code).collect();
    // `c` has a binding to `a`, but depends on `a` only through `b`.
    assert_eq!(codes, [Some(Code::ModeForbids), Some(Code::DryRunUpstream), Some(Code::DryRunUpstream), None]);
}

#[test]
fn a_cancelled_job_stops_waiting() {
    let payload = json!({ "wait_kind": "signal", "correlation_key": "k", "timeout": "1h" });
    let mut sim = Sim::new(Mode::HumanGated, vec![wait("a", &[], payload)]);
    sim.process(None).unwrap();
    sim.send_request(InboxRequest::Cancel);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Cancelled);
    assert!(durable.job.timers().is_empty());
}

/// I1, I19, I25, I26: the job ends in the same way wherever the process dies, and every prefix of its log can
/// be folded.
#[test]
fn killed_before_any_write_a_job_with_waits_ends_the_same() {
    let plan = || {
        vec![
            wait("t", &[], json!({ "wait_kind": "timer", "duration": "2s" })),
            wait("s", &["t"], json!({ "wait_kind": "signal", "correlation_key": "k", "timeout": "5s", "default": 0 })),
            step("r", "Read", &["s"], json!({ "got": { "$ref": "s#" } })),
        ]
    };
    let mut whole = Sim::new(Mode::HumanGated, plan());
    let expected = output(&whole.process(None).unwrap(), "s");
    for at in 0.. {
        let mut sim = Sim::new(Mode::HumanGated, plan());
        if sim.process(Some(CrashPoint::Write(at))).is_ok() {
            assert!(at > 8, "every write was cut at");
            break;
        }
        let durable = sim.process(None).unwrap();
        assert_eq!((durable.job.state, output(&durable, "s")), (JobState::Completed, expected.clone()), "cut at {at}");
        assert_eq!(completions(&sim), 1, "cut at {at}");
        assert_eq!(count(&sim, |body| matches!(body, Body::TimerFired { .. })), 2, "cut at {at}");
        for length in 2..=sim.record.events.len() {
            let job = Job::fold(&sim.record.events[..length]).unwrap();
            assert!(job.steps.iter().all(|step| replay::check_complete(&job, &step.id, u32::MAX).is_ok()));
        }
    }
}

/// I25: a signal is not stored if no wait can have its key. If two signals come early for the same wait, only
/// the first signal is stored. The log names the sender of the signal that ends a wait.
#[test]
fn early_signal_is_stored_once_and_only_for_a_possible_wait() {
    let key = |key| json!({ "wait_kind": "signal", "correlation_key": key });
    let plan = vec![wait("a", &[], key("first")), wait("b", &["a"], key("second"))];
    let mut sim = Sim::new(Mode::HumanGated, plan);
    sim.process(None).unwrap();
    for (key, payload) in [("unknown", "0"), ("second", "2"), ("second", "3"), ("first", "1"), ("first", "4")] {
        sim.send_request(signal(key, payload));
    }
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, output(&durable, "b").as_str()), (JobState::Completed, "2"));
    assert_eq!(count(&sim, |body| matches!(body, Body::SignalKept { .. })), 1);
    let by_bob = |body: &Body| matches!(body, Body::WaitCompleted { by, .. } if by.as_deref() == Some("bob"));
    assert_eq!(count(&sim, by_bob), 2);
}
