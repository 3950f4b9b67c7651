//! Bindings: placeholders in a payload for the results of earlier steps (§10).
//!
//! `{"$ref": "s1#/summary"}` is replaced by the part `/summary` of the output of `s1`. The text after `#` is a JSON
//! pointer (RFC 6901) without percent-encoding. `s1#` refers to the whole output. `{"$outcome": "s2"}` is replaced by
//! the id of the outcome of `s2`.
//!
//! Bindings are resolved once, when the step becomes ready. Inserted values are data and are never searched for
//! bindings. A search would let a binding in a tool's answer read the outputs of other steps.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use crate::encoding::canon;
use crate::model::error::{Code, Failure};
use crate::model::ids::StepId;

mod part;

#[cfg(test)]
mod tests;

pub use crate::encoding::pointer::{child, is_pointer};

/// Value to which a binding refers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reference {
    /// Part of a step's output (`$ref`).
    Output {
        /// Step whose output is used.
        step: StepId,
        /// JSON pointer to the part of the output. Empty for the whole output.
        pointer: String,
    },
    /// Id of a step's outcome (`$outcome`).
    Outcome {
        /// Step whose outcome is used.
        step: StepId,
    },
}

/// Error: a binding is malformed. The text states the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidBinding(pub String);

/// A location in a payload that has a binding. The binding may be malformed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindingLocation {
    /// JSON pointer into the payload.
    pub at: String,
    /// The binding at this location, or the error if the binding is malformed.
    pub binding: Result<Reference, InvalidBinding>,
}

impl Reference {
    /// Returns the step to which the reference points.
    pub fn step(&self) -> &StepId {
        match self {
            Reference::Output { step, .. } | Reference::Outcome { step } => step,
        }
    }

    /// Reads an object as a binding. Returns `None` if the object has neither `$ref` nor `$outcome`.
    pub fn parse(value: &Value) -> Option<Result<Self, InvalidBinding>> {
        let fields = value.as_object()?;
        let key = ["$ref", "$outcome"].into_iter().find(|key| fields.contains_key(*key))?;
        Some(match &fields[key] {
            _ if fields.len() > 1 => Err(InvalidBinding(format!("an object with `{key}` must not have any other key"))),
            Value::String(text) if key == "$ref" => Self::parse_output(text),
            Value::String(text) => Self::parse_outcome(text),
            _ => Err(InvalidBinding(format!("the value of `{key}` must be a string"))),
        })
    }

    fn parse_output(text: &str) -> Result<Self, InvalidBinding> {
        let bad = |why: &str| {
            Err(InvalidBinding(format!(
                "invalid `$ref` {text:?}: {why}; write \"s1#/field\", or \"s1#\" for the whole output"
            )))
        };
        let Some((step, pointer)) = text.split_once('#') else { return bad("it has no `#`") };
        if !StepId::is_valid(step) {
            return bad("the part before `#` is not a valid step_id");
        }
        if !is_pointer(pointer) {
            return bad("the part after `#` is not a JSON pointer");
        }
        Ok(Reference::Output { step: StepId::new(step), pointer: pointer.to_owned() })
    }

    fn parse_outcome(text: &str) -> Result<Self, InvalidBinding> {
        if !StepId::is_valid(text) {
            return Err(InvalidBinding(format!("invalid `$outcome` {text:?}: it is not a valid step_id")));
        }
        Ok(Reference::Outcome { step: StepId::new(text) })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reference::Output { step, pointer } => write!(f, "$ref {step}#{pointer}"),
            Reference::Outcome { step } => write!(f, "$outcome {step}"),
        }
    }
}

/// Lists all locations of a payload that have a binding, in the order of the text. Malformed bindings are included.
pub fn binding_locations(payload: &Value) -> Vec<BindingLocation> {
    fn search(value: &Value, at: &str, found: &mut Vec<BindingLocation>) {
        if let Some(binding) = Reference::parse(value) {
            found.push(BindingLocation { at: at.to_owned(), binding });
            return;
        }
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    search(item, &format!("{at}/{index}"), found);
                }
            }
            Value::Object(fields) => {
                for (key, field) in fields {
                    search(field, &child(at, key), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    search(payload, "", &mut found);
    found
}

/// Lists the references in a payload of a checked plan.
pub fn references(payload: &Value) -> Vec<Reference> {
    binding_locations(payload).into_iter().filter_map(|place| place.binding.ok()).collect()
}

/// Returns the payload with every binding replaced. `lookup` returns the JSON text of a step's output for
/// [`Reference::Output`], and the id of a step's outcome for [`Reference::Outcome`]. `lookup` returns `None` if
/// the step has no such value. If the result has no canonical form, the failure is `INVALID_INPUT`.
pub fn resolve<'a>(payload: &Value, lookup: &dyn Fn(&Reference) -> Option<Cow<'a, [u8]>>) -> Result<Value, Failure> {
    let resolved = replace(payload, lookup)?;
    // Each inserted part has a canonical form, but the result may still be nested too deeply.
    canon::check_value(&resolved)
        .map_err(|refusal| invalid(format!("the payload with its bindings resolved: {refusal}")))?;
    Ok(resolved)
}

fn replace<'a>(value: &Value, lookup: &dyn Fn(&Reference) -> Option<Cow<'a, [u8]>>) -> Result<Value, Failure> {
    if let Some(binding) = Reference::parse(value) {
        return resolve_reference(&binding.map_err(|bad| invalid(bad.0))?, lookup);
    }
    Ok(match value {
        Value::Array(items) => items.iter().map(|item| replace(item, lookup)).collect::<Result<_, _>>()?,
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(key, field)| Ok((key.clone(), replace(field, lookup)?)))
                .collect::<Result<_, Failure>>()?,
        ),
        plain => plain.clone(),
    })
}

fn resolve_reference<'a>(
    reference: &Reference,
    lookup: &dyn Fn(&Reference) -> Option<Cow<'a, [u8]>>,
) -> Result<Value, Failure> {
    let found = lookup(reference);
    match reference {
        Reference::Output { step, pointer } => {
            let output = found.ok_or_else(|| invalid(format!("`{reference}`: step {step} has no output")))?;
            let part = part::find(&output, pointer).map_err(|why| invalid(format!("`{reference}`: {why}")))?;
            canon::parse_strict(part.as_bytes())
                .map_err(|error| invalid(format!("`{reference}` has no canonical JSON: {}", error.refusal)))
        }
        Reference::Outcome { step } => {
            let id = found.ok_or_else(|| invalid(format!("`{reference}`: step {step} has no outcome")))?;
            let id = std::str::from_utf8(&id).expect("ids of outcomes are text");
            Ok(Value::String(id.to_owned()))
        }
    }
}

fn invalid(message: String) -> Failure {
    Failure::new(Code::InvalidInput, message)
}
