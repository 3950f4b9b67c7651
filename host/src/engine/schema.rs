//! JSON Schemas of operators, compiled once.

use latchwork_core::error::{Code, Failure};
use serde_json::Value;

/// How many violations a message lists.
const VIOLATIONS_SHOWN: usize = 5;

/// The two schemas of an operator.
#[derive(Debug)]
pub(crate) struct Schemas {
    input: jsonschema::Validator,
    output: jsonschema::Validator,
}

impl Schemas {
    /// Compile both; says which and why where one does not hold.
    pub(crate) fn compile(input: &str, output: &str) -> Result<Self, Vec<(&'static str, String)>> {
        match (compile(input), compile(output)) {
            (Ok(input), Ok(output)) => Ok(Self { input, output }),
            (input, output) => Err([("input-schema", input.err()), ("output-schema", output.err())]
                .into_iter()
                .filter_map(|(name, error)| Some((name, error?)))
                .collect()),
        }
    }

    pub(crate) fn check_input(&self, value: &Value) -> Result<(), Failure> {
        check(&self.input, value)
            .map_err(|text| Failure::new(Code::InvalidInput, format!("the input does not fit the operator: {text}")))
    }

    pub(crate) fn check_output(&self, value: &Value) -> Result<(), Failure> {
        check(&self.output, value).map_err(|text| {
            Failure::new(Code::SchemaValidationFailed, format!("the answer does not fit its schema: {text}"))
        })
    }
}

fn compile(text: &str) -> Result<jsonschema::Validator, String> {
    let schema: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    jsonschema::validator_for(&schema).map_err(|error| format!("not a JSON Schema: {}", error.masked()))
}

/// Every violation up to a handful, by JSON pointer; values are masked, for they may be large or private.
fn check(validator: &jsonschema::Validator, value: &Value) -> Result<(), String> {
    let mut errors = validator.iter_errors(value);
    let shown: Vec<_> = errors
        .by_ref()
        .take(VIOLATIONS_SHOWN)
        .map(|error| {
            let at = error.instance_path().to_string();
            format!("{} {}", if at.is_empty() { "/" } else { &at }, error.masked())
        })
        .collect();
    if shown.is_empty() {
        return Ok(());
    }
    let more = errors.count();
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    Err(format!("{}{more}", shown.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn violations_are_located() {
        let object = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
        let schemas = Schemas::compile(object, "true").unwrap();
        schemas.check_input(&json!({"n": 1})).unwrap();
        let failure = schemas.check_input(&json!({"n": "secret"})).unwrap_err();
        assert_eq!(failure.code, Code::InvalidInput);
        assert!(failure.message.contains("/n"), "{failure}");
        assert!(!failure.message.contains("secret"), "{failure}");
    }

    #[test]
    fn both_bad_schemas_are_named() {
        let bad = Schemas::compile("{", r#"{"type":"nonsense"}"#).unwrap_err();
        assert_eq!(bad.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["input-schema", "output-schema"]);
    }
}
