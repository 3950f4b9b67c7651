//! Plans of bookings, whose effects can be undone, and checks of the jobs that run them.

use serde_json::{Value, json};

use crate::support::evidence;
use crate::support::program::CommandOutput;
use crate::support::test_env::{TestEnv, step, wait};

/// Writes a plan with these steps. If a step fails, `on_failure` decides about the effects of the other steps: `keep`
/// keeps these effects, and `compensate` undoes them.
pub(crate) fn write_plan(place: &TestEnv, on_failure: &str, steps: &[Value]) {
    let plan = json!({ "plan_id": "undo", "schema_version": "1.0", "on_failure": on_failure, "steps": steps });
    std::fs::write(place.dir.join("plan.json"), plan.to_string()).expect("writable");
}

pub(crate) fn with_field(mut step: Value, key: &str, value: Value) -> Value {
    step[key] = value;
    step
}

/// Returns a step that waits for a signal. The signal is never sent, so the job parks.
pub(crate) fn never_ending_wait(depends_on: &str) -> Value {
    let payload = json!({ "wait_kind": "signal", "correlation_key": "never", "park": true });
    with_field(wait("w", payload), "depends_on", json!([depends_on]))
}

/// Returns three steps that make bookings, and a wait that never ends. The first booking is undone by its own plugin,
/// and the second booking by another operator. The third booking is made by a call inside a step.
pub(crate) fn bookings() -> Vec<Value> {
    let inside = json!({ "calls": [{ "operator": "Booking.Make", "args": { "note": 3 } }] });
    let other = step("b", "Booking.Make", &["a"], json!({ "note": 2 }));
    vec![
        step("a", "Booking.Make", &[], json!({ "note": 1 })),
        with_field(other, "compensate_with", json!("Booking.Cancel")),
        step("d", "Driver.Run", &["b"], inside),
        never_ending_wait("d"),
    ]
}

pub(crate) fn run_plan(place: &TestEnv, more: &[&str]) -> CommandOutput {
    place.latch(&[&["run", "plan.json", "--json", "--actor", "ada"], more].concat())
}

pub(crate) fn job_id(response: &Value) -> String {
    response["job_id"].as_str().expect("a response names its job").to_owned()
}

pub(crate) fn show_job(place: &TestEnv, job: &str) -> Value {
    place.latch(&["job", "show", job, "--json"]).json()
}

/// Checks that the job replays from every prefix and that its evidence verifies.
pub(crate) fn assert_replayable_and_verified(place: &TestEnv, job: &str, when: &str) {
    let replay = place.latch(&["job", "replay", job, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &Value::Null), "{when}: {}", replay.stdout);
    evidence::verify_offline(place, job, when);
}
