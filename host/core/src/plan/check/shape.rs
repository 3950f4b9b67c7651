//! Keys of a plan and of a step, and the checks of their values.

use serde_json::Value;

use super::report::{ViolationReport, rule};
use super::values::{Key, ValueCheck, object, one_of_words, set_of};
use super::{STEPS_MAX, parameters, values};
use crate::model::manifest::EffectKind;
use crate::plan::bindings::child;

/// Version of the plan format that is read and written.
const SCHEMA_VERSION: &str = "1.0";

const PLAN: &[Key] = &[
    ("$schema", false, values::schema_address),
    ("plan_id", false, values::text),
    ("schema_version", false, schema_version),
    ("intent_id", false, values::text),
    ("on_failure", false, on_failure),
    ("parameters", false, parameters::schema),
    ("steps", true, steps),
];

const STEP: &[Key] = &[
    ("step_id", true, values::step_id),
    ("kind", false, kind),
    ("name", true, values::operator),
    ("payload", false, values::anything),
    ("depends_on", false, depends_on),
    ("effects", false, effects),
    ("policy_tags", false, policy_tags),
    ("gate", false, gate),
    ("cache_policy", false, cache_policy),
    ("idempotency_template", false, values::template),
    ("hashes", false, hashes),
    ("outcome", false, outcome),
    ("time_sensitive", false, values::boolean),
    ("reuse", false, reuse),
    ("retry", false, retry),
    ("timeout", false, values::timeout),
    ("compensate_with", false, values::operator),
];

const TTL: &[Key] = &[("ttl_seconds", true, values::ttl_seconds)];
const OUTCOME: &[Key] =
    &[("type", true, values::text), ("status", false, status), ("sensitivity", false, values::text)];
const REUSE: &[Key] = &[("plugin", true, values::version_range)];
const RETRY: &[Key] = &[
    ("max", false, values::retries),
    ("base_ms", false, values::milliseconds),
    ("cap_ms", false, values::milliseconds),
];

/// Checks the shape of a whole plan.
pub(super) fn plan(value: &Value, report: &mut ViolationReport) {
    object(value, "", "a plan", PLAN, report);
}

fn steps(value: &Value, at: &str, report: &mut ViolationReport) {
    let Some(items) = value.as_array() else {
        return report.add(at, rule::WRONG_VALUE, "expected an array of steps");
    };
    if items.is_empty() {
        report.add(at, rule::NO_STEPS, "a plan has at least one step");
    }
    if items.len() > STEPS_MAX {
        return report.add(
            at,
            rule::TOO_MANY_STEPS,
            format!("the plan has {} steps, at most {STEPS_MAX} are allowed; split it", items.len()),
        );
    }
    for (index, item) in items.iter().enumerate() {
        object(item, &format!("{at}/{index}"), "a step", STEP, report);
    }
}

fn schema_version(value: &Value, at: &str, report: &mut ViolationReport) {
    if value != SCHEMA_VERSION {
        report.add(at, rule::BAD_VERSION, format!("expected {SCHEMA_VERSION:?}, found {value}"));
    }
}

fn on_failure(value: &Value, at: &str, report: &mut ViolationReport) {
    one_of_words(value, at, &["keep", "compensate"], report);
}

fn kind(value: &Value, at: &str, report: &mut ViolationReport) {
    one_of_words(value, at, &["operator", "llm", "wait"], report);
}

fn depends_on(value: &Value, at: &str, report: &mut ViolationReport) {
    set_of(value, at, values::step_id, report);
}

fn effects(value: &Value, at: &str, report: &mut ViolationReport) {
    let effect: ValueCheck =
        |value, at, report| one_of_words(value, at, &EffectKind::ALL.map(EffectKind::as_str), report);
    set_of(value, at, effect, report);
}

fn policy_tags(value: &Value, at: &str, report: &mut ViolationReport) {
    set_of(value, at, values::text, report);
}

fn gate(value: &Value, at: &str, report: &mut ViolationReport) {
    one_of_words(value, at, &["none", "human_confirm"], report);
}

fn cache_policy(value: &Value, at: &str, report: &mut ViolationReport) {
    match value {
        Value::Object(_) => object(value, at, "a cache policy with a time", TTL, report),
        Value::String(_) => one_of_words(value, at, &["never", "use_if_safe"], report),
        _ => report.add(at, rule::WRONG_VALUE, "expected `never`, `use_if_safe` or {\"ttl_seconds\": 60}"),
    }
}

fn hashes(value: &Value, at: &str, report: &mut ViolationReport) {
    let Some(entries) = value.as_object() else {
        return report.add(at, rule::WRONG_VALUE, "expected an object of named values");
    };
    for name in entries.keys() {
        let at = child(at, name);
        values::text(&Value::String(name.clone()), &at, report);
        if name.contains(['{', '}']) {
            report.add(at, rule::WRONG_VALUE, format!("{name:?}: names for templates must not contain braces"));
        }
    }
}

fn outcome(value: &Value, at: &str, report: &mut ViolationReport) {
    object(value, at, "an outcome", OUTCOME, report);
}

fn status(value: &Value, at: &str, report: &mut ViolationReport) {
    one_of_words(value, at, &["draft", "final"], report);
}

fn reuse(value: &Value, at: &str, report: &mut ViolationReport) {
    object(value, at, "a reuse rule", REUSE, report);
}

fn retry(value: &Value, at: &str, report: &mut ViolationReport) {
    object(value, at, "a retry override", RETRY, report);
}
