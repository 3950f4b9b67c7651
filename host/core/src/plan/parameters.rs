//! Parameters: values that each request gives to a plan.
//!
//! A plan declares parameters as a JSON Schema of an object. The binding `{"$ref": "intent#/name"}` reads the
//! parameter `name`. If the plan has a step named `intent`, the binding reads the output of the step instead.
//!
//! The values of a request are the payload of its intent. If the request is a bare plan, the submitter gives the values
//! separately.
//!
//! At submission, defaults are filled, and the values are checked and stored with the job. No value is filled or
//! checked afterwards.

use serde_json::{Map, Value};

use super::Plan;
use super::check::{Catalog, RULES, SchemaMismatch, Violation, parameter_rule as rule};
use crate::encoding::canon;
use crate::encoding::suggest::did_you_mean;
use crate::plan::bindings;
use crate::plan::bindings::{Reference, child};

/// Name under which bindings read parameters.
pub const INTENT: &str = "intent";
/// Maximum size of a request's values in canonical form, in bytes.
pub const VALUES_BYTES_MAX: usize = 1 << 20;

/// A missing or invalid value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pointer:?} {code}: {message}")]
pub struct ParameterError {
    /// JSON pointer into the values.
    pub pointer: String,
    /// Stable code of the rule, one of [`RULES`].
    pub code: &'static str,
    /// Description of the mistake and of the correction.
    pub message: String,
}

impl ParameterError {
    fn new(pointer: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        debug_assert!(RULES.iter().any(|(known, _)| *known == code), "{code}");
        Self { pointer: pointer.into(), code, message: message.into() }
    }

    /// Converts the error to a violation in the text of a request. `prefix` is the JSON pointer to the
    /// parameter values in `text`.
    pub fn in_text(self, prefix: &str, text: &[u8]) -> Violation {
        Violation::at(format!("{prefix}{}", self.pointer), self.code, self.message, text)
    }

    /// Returns the name of the parameter, or `None` if the mistake concerns all values together.
    pub fn parameter(&self) -> Option<String> {
        let first = self.pointer.strip_prefix('/')?.split('/').next()?;
        Some(unescaped(first))
    }
}

/// Returns the key named by one token of a JSON pointer (RFC 6901).
fn unescaped(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// Returns the names that a schema of parameters declares, in order.
pub fn declared_names(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str())
}

/// Returns true if a schema of parameters admits a name, either declared or as an additional property.
pub fn admits(schema: &Value, name: &str) -> bool {
    let others = schema.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false));
    others || schema.get("patternProperties").is_some() || declared_names(schema).any(|known| known == name)
}

impl Plan {
    /// Returns true if the reference reads a parameter of the plan. Returns false if it reads the output of a step
    /// named `intent`.
    pub fn reads_parameters(&self, reference: &Reference) -> bool {
        let named = matches!(reference, Reference::Output { step, .. } if step.as_str() == INTENT);
        named && self.parameters.is_some() && self.step(reference.step()).is_none()
    }

    /// Fills the defaults in `given`, checks the result against the schema, and returns it as the values of the
    /// request. Returns `None` for a plan without parameters.
    ///
    /// # Errors
    /// Returns every wrong or missing value, sorted by pointer.
    pub fn values(&self, given: Value, catalog: &dyn Catalog) -> Result<Option<Value>, Vec<ParameterError>> {
        let Some(schema) = &self.parameters else { return Ok(None) };
        if !given.is_object() {
            let message = "the parameters of a request must be an object with a value for each name";
            return Err(vec![ParameterError::new("", rule::WRONG_PARAMETER, message)]);
        }
        let values = with_defaults(schema, given);
        let mut found = self.missing_values(&values);
        found.extend(value_errors(schema, &values, catalog));
        // A missing value that several bindings read is reported only once.
        found.sort_by(|a, b| (&a.pointer, a.code).cmp(&(&b.pointer, b.code)));
        found.dedup_by(|a, b| (&a.pointer, a.code) == (&b.pointer, b.code));
        match found.is_empty() {
            true => Ok(Some(values)),
            false => Err(found),
        }
    }

    /// Returns the parameters that bindings of the plan read and that have no value.
    fn missing_values(&self, values: &Value) -> Vec<ParameterError> {
        let mut found = Vec::new();
        for step in &self.steps {
            let read = std::iter::once(&step.payload).chain(step.hashes.values()).flat_map(bindings::references);
            for reference in read.filter(|reference| self.reads_parameters(reference)) {
                let Reference::Output { pointer, .. } = &reference else { continue };
                if values.pointer(pointer).is_none() {
                    found.push(missing(pointer, &format!("step {} reads it", step.step_id)));
                }
            }
        }
        found
    }
}

fn missing(pointer: &str, why: &str) -> ParameterError {
    let path: Vec<String> = pointer.split('/').skip(1).map(unescaped).collect();
    let name = path.join("/");
    // Two kinds of values need `--input`: a value inside a parameter, and a parameter whose name contains an equals
    // sign. In `--set NAME=VALUE`, the first equals sign ends the name.
    let how = match path.len() > 1 || name.contains('=') {
        true => "in `--input FILE`".to_owned(),
        false => format!("with `--set {name}=VALUE`"),
    };
    let message = format!("`{name}` has no value, but {why}; set it {how}, or give the parameter a default");
    ParameterError::new(pointer, rule::MISSING_PARAMETER, message)
}

fn value_errors(schema: &Value, values: &Value, catalog: &dyn Catalog) -> Vec<ParameterError> {
    let bytes = canon::value_to_canonical(values).len();
    if bytes > VALUES_BYTES_MAX {
        let message = format!("the values have {bytes} bytes, at most {VALUES_BYTES_MAX} are allowed");
        return vec![ParameterError::new("", rule::WRONG_PARAMETER, message)];
    }
    let found = match catalog.schema_mismatches(schema, values) {
        Ok(found) => found,
        Err(why) => return vec![ParameterError::new("", rule::WRONG_PARAMETER, why)],
    };
    let refused = |misfit| match misfit {
        SchemaMismatch::Missing { pointer, name } => missing(&child(&pointer, &name), "the schema requires it"),
        SchemaMismatch::Unknown { pointer, name } => {
            let close = match pointer.is_empty() {
                true => did_you_mean(&name, declared_names(schema)),
                false => String::new(),
            };
            let message = format!("there is no parameter `{name}`{close}");
            ParameterError::new(child(&pointer, &name), rule::UNKNOWN_PARAMETER, message)
        }
        SchemaMismatch::Wrong { pointer, why } => ParameterError::new(pointer, rule::WRONG_PARAMETER, why),
    };
    found.into_iter().map(refused).collect()
}

/// Returns the values with defaults filled.
pub(super) fn with_defaults(schema: &Value, mut values: Value) -> Value {
    fill(schema, &mut values);
    values
}

/// Fills the defaults of absent properties, including properties of nested objects.
fn fill(schema: &Value, value: &mut Value) {
    let (Some(properties), Value::Object(fields)) = (schema.get("properties").and_then(Value::as_object), value) else {
        return;
    };
    for (name, property) in properties {
        if let Some(default) = property.get("default").filter(|_| !fields.contains_key(name)) {
            fields.insert(name.clone(), default.clone());
        }
        if let Some(field) = fields.get_mut(name) {
            fill(property, field);
        }
    }
}

/// Returns the intent payload of a bare plan with parameters.
pub fn intent_payload(plan: Value, values: Value) -> Value {
    Value::Object(Map::from_iter([("plan".to_owned(), plan), ("parameters".to_owned(), values)]))
}
