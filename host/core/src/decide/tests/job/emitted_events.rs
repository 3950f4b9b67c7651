//! Tests of emitted events. When a step runs again, the events that it emits are compared with the log and
//! never appended twice.

use serde_json::json;

use crate::decide::tests::support::{Sim, step};
use crate::decide::{RetryRefusal, retry_round};
use crate::model::effect::Answer;
use crate::model::error::{Code, Failure};
use crate::model::ids::{Operator, Slot};
use crate::model::mode::Mode;
use crate::replay::check_emit;
use crate::state::EmittedEvent;

#[test]
fn emitted_event_matches_log_or_diverges() {
    let mut durable = Sim::new(Mode::AutoExec, vec![step("a", "Script", &[], json!({ "calls": [] }))]).durable();
    let emit = |after_calls, name: &str, bytes: &[u8]| EmittedEvent {
        after_calls,
        name: name.to_owned(),
        payload: durable.payload_ref("event/a/0", bytes),
    };
    let recorded = emit(2, "found", b"1");
    let others = [emit(2, "lost", b"1"), emit(3, "found", b"1"), emit(2, "found", b"2")];
    assert_eq!(check_emit(&durable.job, &"a".into(), 0, &recorded), Ok(false), "the log does not have it yet");
    durable.job.steps[0].emits.push(recorded.clone());
    assert_eq!(check_emit(&durable.job, &"a".into(), 0, &recorded), Ok(true), "the log has it");
    assert_eq!(check_emit(&durable.job, &"a".into(), 1, &recorded), Ok(false), "the next one is another");
    for (other, field) in others.iter().zip(["name", "calls made before it", "payload"]) {
        let divergence = check_emit(&durable.job, &"a".into(), 0, other).unwrap_err();
        assert_eq!((divergence.at.as_str(), divergence.field.as_str()), ("a:e0", field));
    }
}

/// I24: a job retry does not repeat a failed call if the step emitted an event after the error of the call. A new
/// answer would change the emitted event.
#[test]
fn error_followed_by_emitted_event_is_not_retried() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Failing", &[], json!({ "calls": ["Opaque"] }))]);
    let no = Answer::NotApplied(Failure::new(Code::AuthForbidden, "no"));
    sim.script.insert(Operator::new("Opaque"), vec![no]);
    let mut durable = sim.process(None).unwrap();
    for (after_calls, refused) in [(0, false), (1, true)] {
        let payload = durable.payload_ref("event/a/0", b"1");
        durable.job.steps[0].emits = vec![EmittedEvent { after_calls, name: "told".into(), payload }];
        let expected = RetryRefusal::Followed { slot: Slot::new("a/0") };
        assert_eq!(retry_round(&durable).err(), refused.then_some(expected), "after {after_calls} calls");
    }
}
