//! Checks of single values that depend only on the value, not on the rest of the plan.

use serde_json::Value;

use super::report::{ViolationReport, rule};
use crate::encoding::suggest::{did_you_mean, quoted_list};
use crate::model::ids::{Operator, StepId};
use crate::model::keys::Template;
use crate::plan::bindings::child;
use crate::plan::timeout::{DAY_MS, parse_timeout};

/// Checks the value at a pointer and adds violations to the report.
pub(super) type ValueCheck = fn(&Value, &str, &mut ViolationReport);

/// Maximum length of identifiers and tags, in characters.
const TEXT_CHARS_MAX: usize = 128;
/// Maximum length of a template, in characters.
const TEMPLATE_CHARS_MAX: usize = 1_024;
/// Maximum number of retries in a retry override.
const RETRIES_MAX: u64 = 100;
/// Largest priority. Its negative is the smallest priority.
const PRIORITY_MAX: i64 = 100;

pub(super) fn wrong(at: &str, report: &mut ViolationReport, message: impl Into<String>) {
    report.add(at, rule::WRONG_VALUE, message);
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Returns the value as text, or reports a violation.
fn as_text<'a>(value: &'a Value, at: &str, report: &mut ViolationReport) -> Option<&'a str> {
    if !value.is_string() {
        wrong(at, report, format!("expected a string, found {}", type_name(value)));
    }
    value.as_str()
}

fn bounded_text(value: &Value, at: &str, chars_max: usize, report: &mut ViolationReport) {
    let Some(text) = as_text(value, at, report) else { return };
    if !(1..=chars_max).contains(&text.chars().count()) {
        wrong(at, report, format!("expected 1 to {chars_max} characters, found {}", text.chars().count()));
    }
    if text.chars().any(is_control) {
        wrong(at, report, "zero bytes and other control characters are not allowed here");
    }
}

fn is_control(char: char) -> bool {
    char < ' ' || char == '\u{7f}'
}

pub(super) fn text(value: &Value, at: &str, report: &mut ViolationReport) {
    bounded_text(value, at, TEXT_CHARS_MAX, report);
}

/// Checks that the value is one of `words`. Reports any other value as a violation and suggests a similar word.
pub(super) fn one_of_words(value: &Value, at: &str, words: &[&str], report: &mut ViolationReport) {
    let Some(text) = as_text(value, at, report) else { return };
    if !words.contains(&text) {
        let close = did_you_mean(text, words.iter().copied());
        wrong(at, report, format!("expected {}, found {text:?}{close}", quoted_list(words)));
    }
}

pub(super) fn anything(_: &Value, _: &str, _: &mut ViolationReport) {}

pub(super) fn boolean(value: &Value, at: &str, report: &mut ViolationReport) {
    if !value.is_boolean() {
        wrong(at, report, format!("expected true or false, found {}", type_name(value)));
    }
}

fn integer(value: &Value, at: &str, min: u64, max: u64, report: &mut ViolationReport) {
    if !value.as_u64().is_some_and(|number| (min..=max).contains(&number)) {
        let found = if value.is_number() { value.to_string() } else { type_name(value).to_owned() };
        wrong(at, report, format!("expected an integer from {min} to {max}, found {found}"));
    }
}

/// Checks the priority of a request. A request without a priority has priority 0.
pub(super) fn priority(value: &Value, at: &str, report: &mut ViolationReport) {
    if !value.as_i64().is_some_and(|number| (-PRIORITY_MAX..=PRIORITY_MAX).contains(&number)) {
        let found = if value.is_number() { value.to_string() } else { type_name(value).to_owned() };
        wrong(at, report, format!("expected an integer from -{PRIORITY_MAX} to {PRIORITY_MAX}, found {found}"));
    }
}

pub(super) fn retries(value: &Value, at: &str, report: &mut ViolationReport) {
    integer(value, at, 0, RETRIES_MAX, report);
}

pub(super) fn milliseconds(value: &Value, at: &str, report: &mut ViolationReport) {
    integer(value, at, 0, DAY_MS.into(), report);
}

pub(super) fn ttl_seconds(value: &Value, at: &str, report: &mut ViolationReport) {
    integer(value, at, 1, u32::MAX.into(), report);
}

pub(super) fn step_id(value: &Value, at: &str, report: &mut ViolationReport) {
    let Some(text) = as_text(value, at, report) else { return };
    if !StepId::is_valid(text) {
        let message = format!("invalid step_id {text:?}: use 1 to 64 characters from A-Z, a-z, 0-9, `_` and `-`");
        report.add(at, rule::BAD_STEP_ID, message);
    }
}

pub(super) fn operator(value: &Value, at: &str, report: &mut ViolationReport) {
    let Some(text) = as_text(value, at, report) else { return };
    if !Operator::is_valid(text) {
        wrong(
            at,
            report,
            format!(
                "invalid operator name {text:?}: use 1 to 128 visible ASCII characters without `/`, `:`, `~` and `\"`"
            ),
        );
    }
}

pub(super) fn timeout(value: &Value, at: &str, report: &mut ViolationReport) {
    let Some(text) = as_text(value, at, report) else { return };
    if parse_timeout(text).is_none() {
        let message =
            format!("invalid timeout {text:?}: write a whole number and ms, s, m or h, at most 24h, as in \"30s\"");
        report.add(at, rule::BAD_TIMEOUT, message);
    }
}

/// Checks the key `$schema`, which contains the address of the JSON Schema for editors. Every text is accepted.
pub(super) fn schema_address(value: &Value, at: &str, report: &mut ViolationReport) {
    as_text(value, at, report);
}

/// Checks a template. `null` means no template.
pub(super) fn template(value: &Value, at: &str, report: &mut ViolationReport) {
    if value.is_null() {
        return;
    }
    bounded_text(value, at, TEMPLATE_CHARS_MAX, report);
    if let Some(Err(bad)) = value.as_str().map(Template::parse) {
        report.add(at, rule::BAD_TEMPLATE, format!("{bad}; write names as `{{name}}`"));
    }
}

pub(super) fn version_range(value: &Value, at: &str, report: &mut ViolationReport) {
    let Some(text) = as_text(value, at, report) else { return };
    if !text.split(',').all(|comparison| is_comparison(comparison.trim())) {
        let message = format!(
            "invalid version range {text:?}: write comparisons (`>=`, `>`, `<=`, `<` or `=` and a version) separated by commas, as in \">=1.2, <2\""
        );
        report.add(at, rule::BAD_VERSION_RANGE, message);
    }
}

/// Returns true if the text is a comparison operator, followed by a version of one to three numbers: `>=1.2`.
fn is_comparison(text: &str) -> bool {
    let version = [">=", "<=", ">", "<", "="].into_iter().find_map(|operator| text.strip_prefix(operator));
    let Some(version) = version.map(str::trim_start) else { return false };
    let is_number = |part: &str| (1..=9).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    version.split('.').count() <= 3 && version.split('.').all(is_number)
}

/// Checks an array of unique items, each with `check`.
pub(super) fn set_of(value: &Value, at: &str, check: ValueCheck, report: &mut ViolationReport) {
    let Some(items) = value.as_array() else {
        return wrong(at, report, format!("expected an array, found {}", type_name(value)));
    };
    let mut seen = std::collections::HashSet::new();
    for (index, item) in items.iter().enumerate() {
        let at = format!("{at}/{index}");
        check(item, &at, report);
        if let Some(text) = item.as_str().filter(|text| !seen.insert(*text)) {
            report.add(at, rule::DUPLICATE_ITEM, format!("{text:?} is listed twice; keep one"));
        }
    }
}

/// A key of an object: its name, true if it is required, and the check of its value.
pub(super) type Key = (&'static str, bool, ValueCheck);

/// Checks an object that may have only the keys in `keys`. `what` names the object in messages.
pub(super) fn object(value: &Value, at: &str, what: &str, keys: &[Key], report: &mut ViolationReport) {
    let Some(fields) = value.as_object() else {
        return wrong(at, report, format!("expected {what} (an object), found {}", type_name(value)));
    };
    for (name, field) in fields {
        let at = child(at, name);
        match keys.iter().find(|(key, _, _)| key == name) {
            Some((_, _, check)) => check(field, &at, report),
            None => {
                let close = did_you_mean(name, keys.iter().map(|(key, _, _)| *key));
                report.add(at, rule::UNKNOWN_KEY, format!("{what} has no key {name:?}{close}"));
            }
        }
    }
    for (name, _, _) in keys.iter().filter(|(name, required, _)| *required && !fields.contains_key(*name)) {
        report.add(at, rule::MISSING_KEY, format!("{what} must state `{name}`"));
    }
}
