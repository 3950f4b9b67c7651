//! Rules about whole requests: a plan together with its intent.

use serde_json::Value;

use super::report::{ViolationReport, rule};
use super::values::{Key, object, one_of_words};
use super::{Catalog, Violation, expand, normalize, rules, values};
use crate::plan::Plan;
use crate::plan::bindings::child;

const REQUEST: &[Key] = &[
    ("$schema", false, values::schema_address),
    ("intent", true, intent),
    ("plan", true, values::anything),
    ("mode", false, mode),
    ("request_id", false, values::text),
    ("priority", false, values::priority),
];
const INTENT: &[Key] =
    &[("type", true, values::text), ("payload", true, values::anything), ("contexts", false, contexts)];

/// Checks a whole request and returns its plan in normal form.
pub(in crate::plan) fn check(value: &Value, text: &[u8], catalog: &dyn Catalog) -> Result<Plan, Vec<Violation>> {
    let mut report = ViolationReport::default();
    object(value, "", "a request", REQUEST, &mut report);
    let names: Vec<&str> = named(value).collect();
    let plan = &value["plan"];
    let mut inner = ViolationReport::default();
    let expanded = expand::expand(plan);
    rules((plan, &expanded), &names, catalog, &mut inner);
    report.add_nested("/plan", inner);
    if report.is_empty() {
        match normalize(expanded) {
            Ok(plan) => return Ok(plan),
            Err(error) => report.add("/plan", rule::WRONG_VALUE, error.to_string()),
        }
    }
    Err(report.into_violations(text))
}

/// Returns the names of the contexts that have a name.
fn named(value: &Value) -> impl Iterator<Item = &str> {
    let contexts = value.pointer("/intent/contexts").and_then(Value::as_array).into_iter().flatten();
    contexts.filter_map(|context| context.get("name").and_then(Value::as_str))
}

fn intent(value: &Value, at: &str, report: &mut ViolationReport) {
    object(value, at, "an intent", INTENT, report);
}

fn mode(value: &Value, at: &str, report: &mut ViolationReport) {
    one_of_words(value, at, &["DRY_RUN", "DRAFT_ONLY", "HUMAN_GATED", "AUTO_EXEC"], report);
}

fn contexts(value: &Value, at: &str, report: &mut ViolationReport) {
    let Some(items) = value.as_array() else {
        return report.add(at, rule::WRONG_VALUE, "expected an array of contexts");
    };
    let mut seen = std::collections::BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let Some(name) = item.get("name") else { continue };
        let at = child(&format!("{at}/{index}"), "name");
        values::text(name, &at, report);
        if name.as_str().is_some_and(|name| !seen.insert(name.to_owned())) {
            report.add(at, rule::DUPLICATE_ITEM, format!("two contexts are named {name}; give each its own name"));
        }
    }
}
