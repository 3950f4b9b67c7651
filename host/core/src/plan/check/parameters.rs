//! Rules about the `parameters` of a plan and the bindings that read them.

use serde_json::{Value, json};

use super::report::{ViolationReport, rule};
use super::values::wrong;
use super::{Catalog, SchemaMismatch};
use crate::encoding::suggest::did_you_mean;
use crate::plan::bindings::{Reference, child, is_pointer};
use crate::plan::parameters::{admits, declared_names, with_defaults};

/// Maximum number of parameters that a plan may declare.
const NAMES_MAX: usize = 100;

/// Checks the parts of `parameters` that bindings, defaults and `--set` use. The catalog evaluates all other parts as
/// JSON Schema.
pub(super) fn schema(value: &Value, at: &str, report: &mut ViolationReport) {
    let Some(fields) = value.as_object() else {
        return wrong(at, report, "expected a JSON Schema of an object, such as {\"properties\": {\"name\": {}}}");
    };
    let mut bad = |key: &str, message: &str| report.add(child(at, key), rule::BAD_PARAMETERS, message);
    if fields.get("type").is_some_and(|kind| kind != "object") {
        bad("type", "parameters must be an object: use \"object\", or omit `type`");
    }
    match fields.get("properties") {
        None => {}
        Some(Value::Object(named)) if named.len() > NAMES_MAX => {
            bad(
                "properties",
                &format!("the plan has {} parameters, at most {NAMES_MAX} are allowed; nest them", named.len()),
            );
        }
        Some(Value::Object(named)) => {
            for name in named.keys().filter(|name| name.is_empty() || name.chars().any(char::is_control)) {
                let at = child(&child(at, "properties"), name);
                report.add(
                    at,
                    rule::BAD_PARAMETERS,
                    "the name of a parameter must not be empty or contain control characters",
                );
            }
        }
        Some(_) => bad("properties", "expected an object: a JSON Schema for each parameter, by name"),
    }
}

/// Checks that the schema can be evaluated and accepts its own defaults.
pub(super) fn check(parameters: Option<&Value>, catalog: &dyn Catalog, report: &mut ViolationReport) {
    let Some(schema) = parameters.filter(|schema| schema.is_object()) else { return };
    let found = match catalog.schema_mismatches(schema, &with_defaults(schema, json!({}))) {
        Ok(found) => found,
        Err(why) => {
            return report.add("/parameters", rule::BAD_PARAMETERS, format!("`parameters` cannot be used: {why}"));
        }
    };
    for misfit in found {
        let (pointer, why) = match misfit {
            // A parameter without a default gets its value from the request.
            SchemaMismatch::Missing { .. } => continue,
            SchemaMismatch::Unknown { pointer, name } => {
                (child(&pointer, &name), "the schema admits no such property".to_owned())
            }
            SchemaMismatch::Wrong { pointer, why } => (pointer, why),
        };
        let (name, rest) =
            pointer.strip_prefix('/').map_or(("", ""), |path| path.split_once('/').unwrap_or((path, "")));
        let at = format!("/parameters/properties/{name}/default{}{rest}", if rest.is_empty() { "" } else { "/" });
        let at = if pointer.is_empty() { "/parameters".to_owned() } else { at };
        report.add(at, rule::WRONG_PARAMETER, format!("the default does not fit the schema: {why}"));
    }
}

/// Checks a binding to `intent` in a plan without a step named `intent`.
pub(super) fn check_parameter_binding(
    reference: &Reference,
    parameters: Option<&Value>,
    at: String,
    report: &mut ViolationReport,
) {
    let (Some(schema), Reference::Output { pointer, .. }) = (parameters, reference) else {
        let message = match reference {
            Reference::Output { .. } => "there is no step `intent` in this plan, and it declares no `parameters`",
            Reference::Outcome { .. } => "parameters have no outcome; read them with {\"$ref\": \"intent#/name\"}",
        };
        return report.add(at, rule::BINDING_UNKNOWN_STEP, message);
    };
    debug_assert!(is_pointer(pointer), "bindings are read with valid pointers");
    let Some(first) = pointer.strip_prefix('/').and_then(|path| path.split('/').next()) else { return };
    let name = first.replace("~1", "/").replace("~0", "~");
    if !admits(schema, &name) {
        let close = did_you_mean(&name, declared_names(schema));
        let message = format!("the plan declares no parameter `{name}`{close}; declare it in `parameters`");
        report.add(at, rule::UNKNOWN_PARAMETER, message);
    }
}
