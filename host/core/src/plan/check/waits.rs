//! Rules about wait steps: the keys of their payload, and the step keys that a wait step cannot have.

use std::collections::HashMap;

use serde_json::Value;

use super::report::{ViolationReport, rule};
use super::values;
use super::values::{Key, ValueCheck, object, one_of_words};
use super::view::StepFields;
use crate::model::manifest::EffectKind;
use crate::plan::wait::{WaitKind, parse_duration, parse_time};

const PAYLOAD: &[Key] = &[
    ("wait_kind", true, wait_kind),
    ("correlation_key", false, or_bound_text),
    ("duration", false, span),
    ("until", false, moment),
    ("timeout", false, span),
    ("park", false, values::boolean),
    ("default", false, values::anything),
];

/// Keys that a wait step cannot have, because they apply only to steps that execute something.
const OF_EXECUTIONS: &[&str] = &["retry", "timeout", "compensate_with", "reuse", "time_sensitive"];

/// Checks every wait step.
pub(super) fn check(steps: &[StepFields<'_>], report: &mut ViolationReport) {
    let mut keys: HashMap<&str, String> = HashMap::new();
    for step in steps.iter().filter(|step| step.text("kind") == Some("wait")) {
        executes_nothing(step, report);
        let Some(payload) = step.get("payload") else { continue };
        let at = step.pointer("payload");
        object(payload, &at, "the payload of a wait", PAYLOAD, report);
        if payload.is_object() {
            combination(payload, &at, report);
        }
        let Some(key) = crate::plan::wait::literal_key(payload) else { continue };
        let at = format!("{at}/correlation_key");
        if let Some(other) = keys.get(key) {
            let message = format!("the wait at {other} also has the key {key:?}; give each wait its own key");
            report.add(at, rule::DUPLICATE_CORRELATION_KEY, message);
        } else {
            keys.insert(key, step.at.clone());
        }
    }
}

fn executes_nothing(step: &StepFields<'_>, report: &mut ViolationReport) {
    let mut refuse = |key: &str, what: &str| report.add(step.pointer(key), rule::WAIT_HAS_NONE, what.to_owned());
    for key in OF_EXECUTIONS.iter().filter(|key| step.get(key).is_some()) {
        refuse(key, &format!("a wait executes nothing: remove `{key}` (times of a wait are in its payload)"));
    }
    if step.text("gate") == Some("human_confirm") {
        refuse("gate", "a wait executes nothing that needs approval; use `wait_kind` `human`");
    }
    if step.get("cache_policy").is_some_and(|policy| policy == "use_if_safe" || policy.is_object()) {
        refuse("cache_policy", "the result of a wait cannot be reused; use `never`");
    }
    let effects = step.get("effects").and_then(Value::as_array).into_iter().flatten();
    let changing = EffectKind::ALL.into_iter().filter(|effect| effect.is_world_changing()).map(EffectKind::as_str);
    let changing: Vec<&str> = changing.collect();
    if effects.filter_map(Value::as_str).any(|effect| changing.contains(&effect)) {
        refuse("effects", "a wait changes nothing; declare no effects");
    }
}

/// Checks that the payload has the keys that fit its wait kind.
fn combination(payload: &Value, at: &str, report: &mut ViolationReport) {
    let has = |key: &str| payload.get(key).is_some();
    let mut bad = |key: &str, message: &str| {
        let at = if has(key) { format!("{at}/{key}") } else { at.to_owned() };
        report.add(at, rule::BAD_WAIT, message);
    };
    match payload.get("wait_kind").and_then(Value::as_str) {
        Some("timer") => {
            if has("correlation_key") {
                bad("correlation_key", "a timer takes no signals; remove the key, or use `wait_kind` `signal`");
            }
            if has("timeout") {
                bad("timeout", "a timer ends at its own time; use `duration` or `until`");
            }
            match (has("duration"), has("until")) {
                (true, true) => bad("until", "a timer has a `duration` or an `until`, not both"),
                (false, false) => bad("", "a timer must state `duration` or `until`"),
                _ => {}
            }
        }
        Some("signal" | "human") => {
            for key in ["duration", "until"].into_iter().filter(|key| has(key)) {
                bad(key, "only timers have this key; a wait for a signal has a `timeout`");
            }
            if !has("correlation_key") {
                bad("", "a wait for a signal must state its `correlation_key`");
            }
            if has("default") && !has("timeout") {
                bad("default", "a `default` applies after a `timeout`, and there is no `timeout`");
            }
        }
        // An invalid wait kind is already reported as a violation.
        _ => {}
    }
}

/// Returns true if the value is a binding. The bound value is checked when the step becomes ready.
fn is_binding(value: &Value) -> bool {
    value.get("$ref").is_some() || value.get("$outcome").is_some()
}

fn wait_kind(value: &Value, at: &str, report: &mut ViolationReport) {
    one_of_words(value, at, &WaitKind::NAMES, report);
}

fn or_bound_text(value: &Value, at: &str, report: &mut ViolationReport) {
    if !is_binding(value) {
        values::text(value, at, report);
    }
}

fn or_bound(value: &Value, at: &str, fits: fn(&str) -> bool, wanted: &str, report: &mut ViolationReport) {
    let check: ValueCheck = values::text;
    match value.as_str() {
        _ if is_binding(value) => {}
        None => check(value, at, report),
        Some(text) if !fits(text) => report.add(at, rule::BAD_WAIT_TIME, format!("expected {wanted}, found {text:?}")),
        Some(_) => {}
    }
}

fn span(value: &Value, at: &str, report: &mut ViolationReport) {
    or_bound(
        value,
        at,
        |text| parse_duration(text).is_some(),
        "a time such as \"90s\" or \"3d\", at most 3650d",
        report,
    );
}

fn moment(value: &Value, at: &str, report: &mut ViolationReport) {
    let wanted = "a time with its offset such as \"2026-01-31T09:00:00Z\"";
    or_bound(value, at, |text| parse_time(text).is_some(), wanted, report);
}
