//! Late answers: an answer that arrives after a person has decided about its call. The answer is stored and
//! shown, and the job's result stays as decided.

use serde_json::{Value, json};

use crate::support::program::{CommandOutput, command_output};
use crate::support::suspension::{continue_process, env_with_short_lease, run_until_suspended};
use crate::support::test_env::{TestEnv, step};

fn env_with_call_and_gate() -> TestEnv {
    let place = env_with_short_lease("atomic");
    // `o` is approved in advance, so it ends first. `k` does not depend on `o` and waits at its gate, so the
    // job stays open after `o` has ended.
    let gated = |mut step: Value| {
        step["gate"] = json!("human_confirm");
        step
    };
    let place = place.with_plan(&[
        step("o", "Effect.Opaque", &[], json!({ "note": 1 })),
        gated(step("k", "Effect.Keyed", &[], json!({ "note": 2 }))),
    ]);
    place.with_approved(vec!["o"])
}

fn checked_response(ran: &CommandOutput) -> Value {
    assert!(matches!(ran.code, 0 | 1 | 3), "{} {}", ran.stdout, ran.stderr);
    ran.json()
}

/// Suspends the process after it has executed `o`, and resolves `o` with `--abort`. If `ends` is true, also ends the
/// job. Then continues the process. The late answer of the process contradicts the resolution.
fn contradicted_job(ends: bool) -> (TestEnv, String) {
    let place = env_with_call_and_gate();
    let child = run_until_suspended(&place, "execute:after:1").expect("the call is executed");
    let first = checked_response(&place.latch(&place.run_args()));
    let id = first["job_id"].as_str().expect("an id").to_owned();
    let blocked: Vec<_> = first["blocked"].as_array().expect("a list").iter().map(|view| &view["slot"]).collect();
    assert_eq!(blocked, ["k", "o"], "{first:#}");
    let lost = place.latch(&["job", "resolve", &id, "o", "--abort", "--reason", "the machine is gone"]);
    assert_eq!(lost.code, 0, "{}", lost.stderr);
    place.latch(&["resume", &id]);
    if ends {
        assert_eq!(place.latch(&["job", "reject", &id, "k", "--reason", "no"]).code, 0);
        place.latch(&["resume", &id]);
    }
    continue_process(&child);
    command_output(child.wait_with_output().expect("it ends"));
    (place, id)
}

fn conflict_numbers(place: &TestEnv, id: &str) -> Vec<u64> {
    let events = place.latch(&["job", "events", id, "--json"]).json()["events"].clone();
    let events = events.as_array().expect("a list").clone();
    let is = |event: &&Value| event["type"] == "resolution_conflict";
    events.iter().filter(is).map(|event| event["seq"].as_u64().expect("a number")).collect()
}

fn assert_verified(place: &TestEnv, id: &str) {
    let replay = place.latch(&["job", "replay", id, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &json!(null)), "{}", replay.stdout);
    assert_eq!(place.latch(&["job", "export", id, "--out", "e.jsonl", "--force"]).code, 0);
    let verified = place.latch(&["verify", "e.jsonl", "--json"]);
    assert_eq!(verified.code, 0, "{}", verified.stdout);
}

/// I44: if the answer of a call arrives while the call is still in doubt, the answer settles the call. The job
/// continues without a person's decision.
#[test]
fn late_answer_settles_a_call_in_doubt() {
    let place = env_with_call_and_gate();
    let child = run_until_suspended(&place, "execute:after:1").expect("the call is executed");
    let first = checked_response(&place.latch(&place.run_args()));
    let id = first["job_id"].as_str().expect("an id").to_owned();
    let blocked = |response: &Value| -> Vec<String> {
        let blocked = response["blocked"].as_array().expect("a list");
        blocked.iter().map(|view| view["slot"].as_str().expect("a slot").to_owned()).collect()
    };
    assert_eq!(blocked(&first), ["k", "o"], "{first:#}");
    continue_process(&child);
    command_output(child.wait_with_output().expect("it ends"));
    let resumed = checked_response(&place.latch(&["resume", &id, "--json"]));
    assert_eq!(blocked(&resumed), ["k"], "the call needs no resolution: {resumed:#}");
    assert!(conflict_numbers(&place, &id).is_empty(), "the late answer contradicts no resolution");
    assert_verified(&place, &id);
    assert_eq!(place.effect_counts().get("o"), Some(&1));
}

/// I44: if a call's answer arrives after the job has ended, the answer becomes an event after the end. The
/// state of the job does not change.
#[test]
fn late_answer_to_an_ended_job_becomes_an_event() {
    let (place, id) = contradicted_job(true);
    let response = checked_response(&place.latch(&["job", "show", &id, "--json"]));
    assert_eq!((&response["state"], &response["contradicted"]), (&json!("FAILED"), &json!(["o"])), "{response:#}");
    let events = place.latch(&["job", "events", &id, "--json"]).json()["events"].clone();
    let last = events.as_array().and_then(|events| events.last()).cloned().expect("events");
    assert_eq!(
        (conflict_numbers(&place, &id), &last["type"]),
        (vec![last["seq"].as_u64().unwrap()], &json!("resolution_conflict"))
    );
    let text = place.latch(&["job", "show", &id]).stdout;
    assert!(text.contains("contradicts") && text.contains("RESOLUTION_CONFLICT"), "{text}");
    assert_verified(&place, &id);
    assert_eq!(place.effect_counts().get("o"), Some(&1));
}

/// I16, I44: a late answer to a call of an open job is recorded by the process that claims the job next.
#[test]
fn late_answer_to_an_open_job_is_recorded_by_the_next_claim() {
    let (place, id) = contradicted_job(false);
    let resumed = checked_response(&place.latch(&["resume", &id, "--json"]));
    assert_eq!((&resumed["state"], &resumed["contradicted"]), (&json!("PARKED"), &json!(["o"])), "{resumed:#}");
    assert_eq!(conflict_numbers(&place, &id).len(), 1);
    assert_verified(&place, &id);
}
