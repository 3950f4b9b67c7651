//! Expansion of a plan: fills the keys that the plan and its steps omit.
//!
//! The expansion uses no data from plugins, so the same text gives the same plan on every host. The default effect of
//! a step is `read_only`. [`super::check`] refuses a step whose operator may cause more effects than the step
//! declares.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::STEPS_MAX;
use crate::model::ids::StepId;
use crate::plan::bindings;

/// Returns the optional keys of a plan with their defaults. In the normal form these keys always have a value.
fn plan_defaults() -> [(&'static str, Value); 3] {
    [("plan_id", json!("plan")), ("schema_version", json!("1.0")), ("on_failure", json!("keep"))]
}

/// Returns the optional keys of a step with their defaults. `depends_on` is not listed, because its default follows
/// from the step's bindings.
fn step_defaults() -> [(&'static str, Value); 7] {
    [
        ("kind", json!("operator")),
        ("payload", json!({})),
        ("effects", json!(["read_only"])),
        ("policy_tags", json!([])),
        ("gate", json!("none")),
        ("cache_policy", json!("never")),
        ("idempotency_template", Value::Null),
    ]
}

/// Returns the plan with all defaults filled and without `$schema`. Invalid parts stay unchanged.
pub(super) fn expand(plan: &Value) -> Value {
    let mut plan = plan.clone();
    let Some(fields) = plan.as_object_mut() else { return plan };
    if fields.get("$schema").is_some_and(Value::is_string) {
        fields.remove("$schema");
    }
    for (key, value) in plan_defaults() {
        fields.entry(key).or_insert(value);
    }
    let Some(steps) = fields.get_mut("steps").and_then(Value::as_array_mut) else { return plan };
    if steps.len() > STEPS_MAX {
        return plan;
    }
    let ids: BTreeSet<String> = steps.iter().filter_map(|step| id(step.as_object()?)).map(str::to_owned).collect();
    for step in steps.iter_mut().filter_map(Value::as_object_mut) {
        if !step.contains_key("depends_on") {
            step.insert("depends_on".to_owned(), json!(bound_steps(step, &ids)));
        }
        for (key, value) in step_defaults() {
            step.entry(key).or_insert(value);
        }
    }
    plan
}

/// Finds the bindings in the step's `payload` and `hashes`, and returns the ids of the steps that they refer to. The id
/// of the step itself and ids that are not in `ids` are left out.
fn bound_steps<'a>(step: &Map<String, Value>, ids: &'a BTreeSet<String>) -> BTreeSet<&'a str> {
    let values = ["payload", "hashes"].into_iter().filter_map(|key| step.get(key));
    let named = values.flat_map(bindings::references).map(|reference| reference.step().to_string());
    named.filter(|name| id(step) != Some(name)).filter_map(|name| ids.get(&name).map(String::as_str)).collect()
}

fn id(step: &Map<String, Value>) -> Option<&str> {
    step.get("step_id").and_then(Value::as_str).filter(|id| StepId::is_valid(id))
}

/// Returns the JSON pointers of all values that are in the normal form `plan` but not in the original text `written`.
/// The pointers are into the normal form.
pub(super) fn omitted_values(written: &Value, plan: &super::Plan) -> Vec<String> {
    let missing = |fields: &Value, key: &str| fields.get(key).is_none();
    let of_plan =
        plan_defaults().into_iter().filter(|(key, _)| missing(written, key)).map(|(key, _)| format!("/{key}"));
    let steps = written.get("steps").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let of_steps = plan.steps.iter().enumerate().flat_map(|(index, step)| {
        let written = steps.iter().find(|other| other.get("step_id").is_some_and(|id| id == step.step_id.as_str()));
        let keys = step_defaults().into_iter().map(|(key, _)| key).chain(["depends_on"]);
        let keys = keys.filter(move |key| written.is_some_and(|written| missing(written, key)));
        keys.map(move |key| format!("/steps/{index}/{key}"))
    });
    let mut filled: Vec<String> = of_plan.chain(of_steps).collect();
    filled.sort_unstable();
    filled
}
