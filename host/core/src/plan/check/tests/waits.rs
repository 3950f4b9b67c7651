//! Tests of wait steps: the keys of each wait kind, and one violation for each mistake.

use serde_json::{Value, json};

use super::{Mistake, TestCatalog, brief, changed, violations};
use crate::plan::check;

/// A plan with one wait of each kind, and a step bound to their outputs.
pub(in crate::plan) fn good_waits() -> Value {
    let wait = |id: &str, payload: Value| {
        json!({
            "step_id": id, "kind": "wait", "name": "Wait.Reply", "payload": payload, "effects": [], "policy_tags": [],
            "cache_policy": "never", "idempotency_template": id,
        })
    };
    let mut bound = wait(
        "bound",
        json!({ "wait_kind": "signal", "correlation_key": { "$ref": "reply#/next" }, "timeout": { "$ref": "reply#/t" } }),
    );
    bound["depends_on"] = json!(["reply"]);
    json!({
        "plan_id": "p1", "schema_version": "1.0",
        "steps": [
            wait("reply", json!({ "wait_kind": "signal", "correlation_key": "reply", "timeout": "3d", "default": null })),
            wait("ok", json!({ "wait_kind": "human", "correlation_key": "ok by ada", "park": true })),
            wait("pause", json!({ "wait_kind": "timer", "duration": "90s", "default": { "rested": true } })),
            wait("date", json!({ "wait_kind": "timer", "until": "2026-01-31T09:00:00+01:00" })),
            bound,
        ],
    })
}

pub(in crate::plan) fn wait_mistakes() -> Vec<Mistake> {
    let some = |value: Value| Some(value);
    vec![
        ("/steps/0/payload", some(json!("reply")), "P003", "/steps/0/payload", "an object"),
        ("/steps/0/payload/wait_kind", None, "P004", "/steps/0/payload", "wait_kind"),
        ("/steps/0/payload/wait_kind", some(json!("signl")), "P003", "/steps/0/payload/wait_kind", "`signal`"),
        ("/steps/0/payload/timeuot", some(json!("3d")), "P005", "/steps/0/payload/timeuot", "`timeout`"),
        ("/steps/0/payload/correlation_key", None, "P030", "/steps/0/payload", "correlation_key"),
        ("/steps/0/payload/correlation_key", some(json!("")), "P003", "/steps/0/payload/correlation_key", "1 to 128"),
        (
            "/steps/1/payload/correlation_key",
            some(json!("reply")),
            "P031",
            "/steps/1/payload/correlation_key",
            "/steps/0",
        ),
        ("/steps/0/payload/timeout", None, "P030", "/steps/0/payload/default", "timeout"),
        ("/steps/0/payload/timeout", some(json!("3")), "P032", "/steps/0/payload/timeout", "\"90s\""),
        ("/steps/0/payload/timeout", some(json!("3651d")), "P032", "/steps/0/payload/timeout", "3650d"),
        ("/steps/0/payload/timeout", some(json!(3)), "P003", "/steps/0/payload/timeout", "a string"),
        ("/steps/0/payload/duration", some(json!("3d")), "P030", "/steps/0/payload/duration", "only timers"),
        (
            "/steps/1/payload/until",
            some(json!("2026-01-31T09:00:00Z")),
            "P030",
            "/steps/1/payload/until",
            "only timers",
        ),
        ("/steps/1/payload/park", some(json!("yes")), "P003", "/steps/1/payload/park", "true or false"),
        ("/steps/2/payload/duration", None, "P030", "/steps/2/payload", "`duration` or `until`"),
        ("/steps/2/payload/until", some(json!("2026-01-31T09:00:00Z")), "P030", "/steps/2/payload/until", "not both"),
        ("/steps/2/payload/timeout", some(json!("3d")), "P030", "/steps/2/payload/timeout", "its own time"),
        ("/steps/2/payload/correlation_key", some(json!("k")), "P030", "/steps/2/payload/correlation_key", "a timer"),
        ("/steps/3/payload/until", some(json!("tomorrow")), "P032", "/steps/3/payload/until", "offset"),
        ("/steps/3/payload/until", some(json!("2026-02-30T00:00:00Z")), "P032", "/steps/3/payload/until", "offset"),
        ("/steps/0/effects", some(json!(["external_send"])), "P033", "/steps/0/effects", "changes nothing"),
        ("/steps/0/gate", some(json!("human_confirm")), "P033", "/steps/0/gate", "`human`"),
        ("/steps/0/cache_policy", some(json!("use_if_safe")), "P033", "/steps/0/cache_policy", "`never`"),
        ("/steps/0/retry", some(json!({ "max": 1 })), "P033", "/steps/0/retry", "`retry`"),
        ("/steps/0/timeout", some(json!("3h")), "P033", "/steps/0/timeout", "payload"),
        (
            "/steps/0/compensate_with",
            some(json!("Mail.Recall")),
            "P033",
            "/steps/0/compensate_with",
            "executes nothing",
        ),
        ("/steps/0/time_sensitive", some(json!(true)), "P033", "/steps/0/time_sensitive", "executes nothing"),
    ]
}

/// I18: each mistake in a wait step causes exactly one violation with the correct pointer.
#[test]
fn each_wait_mistake_causes_one_violation_with_its_pointer() {
    assert_eq!(violations(&good_waits()), []);
    let mut wrong = Vec::new();
    for (pointer, value, code, at, word) in wait_mistakes() {
        let found = violations(&changed(good_waits(), pointer, value.clone()));
        if brief(&found) != [(code, at)] || !found[0].message.contains(word) {
            wrong.push(format!("{pointer} := {value:?}: {found:#?}, not {code} at {at:?} with {word:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_wait_needs_no_operator() {
    let plan = check(good_waits().to_string().as_bytes(), &TestCatalog).unwrap();
    assert_eq!(plan.steps.iter().filter(|step| step.kind == crate::plan::StepKind::Wait).count(), 5);
}
