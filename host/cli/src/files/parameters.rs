//! `--set` and `--input`: values for the parameters of a plan.

use serde_json::{Map, Value, json};

use latchwork_core::encoding::canon;
use latchwork_core::encoding::suggest::did_you_mean;
use latchwork_core::model::error_docs;
use latchwork_core::plan;
use latchwork_core::plan::bindings::child;
use latchwork_core::plan::{Catalog, ParameterError, SchemaMismatch, Violation};

use crate::args::ParameterArgs;
use crate::context::CommandContext;
use crate::error::{CliError, CliProblem};
use crate::files::source::{InputSource, is_stdin};

/// Returns the parameter values of a request, with defaults. `--set` overrides `--input`. `--input` overrides the
/// payload of the intent. Returns `None` for a plan without parameters.
///
/// # Errors
/// Returns every refused value, with its location.
pub(crate) fn values(
    ctx: &CommandContext<'_>,
    request: &plan::CheckedRequest,
    catalog: &dyn Catalog,
    plan: &InputSource,
    args: &ParameterArgs,
) -> Result<Option<Value>, CliError> {
    let Some(schema) = &request.plan.parameters else { return refuse_undeclared(plan, args) };
    let input = args.input.as_deref().map(|path| InputSource::read(path, ctx)).transpose()?;
    let given = GivenParameters {
        request,
        plan,
        set: set_values(schema, catalog, &args.set)?,
        input: input.map(InputFile::read).transpose()?,
    };
    let mut problems = given.unknown(schema);
    match request.plan.values(given.merged(), catalog) {
        Ok(values) if problems.is_empty() => return Ok(values),
        Ok(_) => {}
        Err(refused) => problems.extend(refused.into_iter().map(|refused| given.problem(refused))),
    }
    let count = match problems.len() {
        1 => "a problem".to_owned(),
        n => format!("{n} problems"),
    };
    let message = format!("the parameters of {} are refused: {count}", plan.name.display());
    Err(CliError::input(error_docs::PARAMETERS_REFUSED, message).with_problems(problems))
}

/// Refuses a command line in which both the plan and `--input` are read from stdin.
pub(crate) fn refuse_second_stdin(plan: &std::path::Path, args: &ParameterArgs) -> Result<(), CliError> {
    match is_stdin(plan) && args.input.as_deref().is_some_and(is_stdin) {
        true => {
            Err(CliError::input(error_docs::USAGE, "the plan and --input are both stdin: give one of them as a file"))
        }
        false => Ok(()),
    }
}

fn refuse_undeclared(plan: &InputSource, args: &ParameterArgs) -> Result<Option<Value>, CliError> {
    let flag = match (args.set.first(), &args.input) {
        (Some((name, _)), _) => format!("--set {name}"),
        (None, Some(_)) => "--input".to_owned(),
        (None, None) => return Ok(None),
    };
    let message = format!(
        "{flag}: {} declares no parameters; add them, such as \"parameters\": {{\"properties\": {{\"name\": {{\"default\": 1}}}}}}",
        plan.name.display(),
    );
    Err(CliError::input(error_docs::PARAMETERS_REFUSED, message))
}

/// The given values and their sources.
struct GivenParameters<'a> {
    request: &'a plan::CheckedRequest,
    plan: &'a InputSource,
    set: Map<String, Value>,
    input: Option<InputFile>,
}

/// File of `--input`.
struct InputFile {
    source: InputSource,
    fields: Map<String, Value>,
}

impl InputFile {
    fn read(source: InputSource) -> Result<Self, CliError> {
        let name = source.name.display();
        let value = canon::parse_strict(&source.text).map_err(|error| {
            let (line, column) = error.line_column(&source.text);
            let message = format!("{name}:{line}:{column} is not JSON with one meaning: {}", error.refusal);
            CliError::input(error_docs::PARAMETERS_REFUSED, message)
        })?;
        let Value::Object(fields) = value else {
            let message = format!("{name} must hold a JSON object: a value for each parameter, by name");
            return Err(CliError::input(error_docs::PARAMETERS_REFUSED, message));
        };
        Ok(Self { source, fields })
    }
}

impl GivenParameters<'_> {
    fn merged(&self) -> Value {
        let mut values = match &self.request.intent {
            Some(intent) => intent.payload.clone(),
            None => json!({}),
        };
        if let Value::Object(fields) = &mut values {
            let input = self.input.iter().flat_map(|input| &input.fields);
            fields.extend(input.chain(&self.set).map(|(name, value)| (name.clone(), value.clone())));
        }
        values
    }

    /// Returns a problem for each name on the command line that the schema does not declare. The payload of a request
    /// may contain undeclared names.
    fn unknown(&self, schema: &Value) -> Vec<CliProblem> {
        let input = self.input.iter().flat_map(|input| &input.fields);
        let names = input.chain(&self.set).map(|(name, _)| name).filter(|name| !plan::admits(schema, name));
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        // A schema with `additionalProperties: false` refuses unknown names itself.
        let names = names.filter(|_| !closed);
        names
            .map(|name| {
                let close = did_you_mean(name, plan::declared_names(schema));
                let message = format!("there is no parameter `{name}`{close}");
                self.problem(ParameterError { pointer: child("", name), code: "P038", message })
            })
            .collect()
    }

    /// Returns the problem of a refused value, with its location. The location is the flag or the file that gives the
    /// value. For any other value, the location is in the payload of the request. Without a payload, the location is
    /// the declaration of the parameter in the plan.
    fn problem(&self, refused: ParameterError) -> CliProblem {
        let name = refused.parameter().unwrap_or_default();
        if self.set.contains_key(&name) {
            let ParameterError { pointer, code, message } = refused;
            let json = json!({ "flag": "--set", "pointer": pointer, "code": code, "message": message });
            let inside = pointer.strip_prefix(&child("", &name)).unwrap_or_default();
            return CliProblem { location: format!("--set {name}{inside}"), code: code.to_owned(), message, json };
        }
        match &self.input {
            Some(InputFile { source, fields }) if fields.contains_key(&name) || refused.pointer.is_empty() => {
                let file = source.name.display().to_string();
                let mut problem = CliProblem::from(&refused.in_text("", &source.text));
                problem.location = format!("{file}:{}", problem.location);
                problem.json["file"] = json!(file);
                problem
            }
            _ => {
                let prefix = if self.request.intent.is_some() { "/intent/payload" } else { "/parameters/properties" };
                let violation: Violation = refused.in_text(prefix, &self.plan.text);
                CliProblem::from(&violation)
            }
        }
    }
}

/// Returns the values of `--set` by name.
fn set_values(
    schema: &Value,
    catalog: &dyn Catalog,
    given: &[(String, String)],
) -> Result<Map<String, Value>, CliError> {
    let mut values = Map::new();
    for (name, text) in given {
        let property = schema.get("properties").and_then(|properties| properties.get(name)).unwrap_or(&Value::Null);
        let value = value_of(property, text, &|value| accepts_value(schema, catalog, name, value))
            .map_err(|why| CliError::input(error_docs::PARAMETERS_REFUSED, format!("--set {name}: {why}")))?;
        if values.insert(name.clone(), value).is_some() {
            return Err(CliError::input(error_docs::USAGE, format!("--set {name} is given twice: keep one")));
        }
    }
    Ok(values)
}

/// Returns true if the schema accepts the value for this parameter, regardless of other parameters.
fn accepts_value(schema: &Value, catalog: &dyn Catalog, name: &str, value: &Value) -> bool {
    let at = child("", name);
    let is_about =
        |pointer: &str| pointer.strip_prefix(&at).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let values = Value::Object(Map::from_iter([(name.to_owned(), value.clone())]));
    let misfits = catalog.schema_mismatches(schema, &values).unwrap_or_default();
    !misfits.iter().any(|misfit| match misfit {
        SchemaMismatch::Missing { pointer, .. }
        | SchemaMismatch::Unknown { pointer, .. }
        | SchemaMismatch::Wrong { pointer, .. } => is_about(pointer),
    })
}

/// Returns the value of a text on the command line. The text itself is the value if the schema requires a string, if
/// the text is not JSON, or if the schema accepts only the string. Otherwise the text is parsed as JSON.
fn value_of(property: &Value, text: &str, fits: &dyn Fn(&Value) -> bool) -> Result<Value, String> {
    let words = property.get("enum").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let wants_text = property.get("type").is_some_and(|kind| kind == "string")
        || property.get("const").is_some_and(Value::is_string)
        || (!words.is_empty() && words.iter().all(Value::is_string));
    let as_text = Value::String(text.to_owned());
    if wants_text {
        return Ok(as_text);
    }
    match canon::parse_strict(text.as_bytes()) {
        Ok(value) if !fits(&value) && fits(&as_text) => Ok(as_text),
        Ok(value) => Ok(value),
        // Refuses JSON whose meaning is not unique, because a number would be rounded or an object has a duplicate key.
        // Such a text is not accepted as a string either.
        Err(error) if serde_json::from_str::<Value>(text).is_ok() => Err(error.refusal.to_string()),
        Err(_) => Ok(as_text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_json_unless_the_schema_wants_text() {
        struct Schemas;
        impl Catalog for Schemas {
            fn operator(&self, _: &str) -> Option<plan::OperatorInfo> {
                None
            }
            fn names(&self) -> Vec<String> {
                vec![]
            }
            fn schema_mismatches(&self, schema: &Value, value: &Value) -> Result<Vec<SchemaMismatch>, String> {
                latchwork_engine::schema::misfits(schema, value)
            }
        }
        let read = |property: Value, text: &str| {
            let schema = json!({ "properties": { "a/b": property }, "$defs": { "s": { "type": "string" } } });
            value_of(&schema["properties"]["a/b"], text, &|value| accepts_value(&schema, &Schemas, "a/b", value))
                .unwrap()
        };
        for (property, text, value) in [
            (json!({ "type": "integer" }), "910", json!(910)),
            (json!({}), "910", json!(910)),
            (json!({}), "Ada", json!("Ada")),
            (json!({}), "[1, \"x\"]", json!([1, "x"])),
            (json!({ "type": "string" }), "910", json!("910")),
            (json!({ "type": "string" }), "\"x\"", json!("\"x\"")),
            (json!({ "enum": ["1", "2"] }), "1", json!("1")),
            (json!({ "const": "true" }), "true", json!("true")),
            (json!({ "type": ["string", "null"] }), "null", json!(null)),
            (json!({ "type": ["string", "null"] }), "7", json!("7")),
            (json!({ "type": ["string", "integer"] }), "7", json!(7)),
            (json!({ "type": ["string", "integer"], "maximum": 5 }), "910", json!("910")),
            (json!({ "$ref": "#/$defs/s" }), "910", json!("910")),
            (json!({ "enum": ["910", null] }), "910", json!("910")),
            (json!({ "enum": ["910", null] }), "null", json!(null)),
            (json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }), "910", json!("910")),
            (json!({ "allOf": [{ "type": "string" }] }), "910", json!("910")),
            (json!({ "type": "integer", "maximum": 5 }), "910", json!(910)),
            (json!({ "type": "boolean" }), "yes", json!("yes")),
            (json!({ "type": "string" }), "a=b", json!("a=b")),
            (json!({ "type": "string" }), "", json!("")),
        ] {
            assert_eq!(read(property.clone(), text), value, "{property} {text:?}");
        }
        assert!(value_of(&json!({}), "9007199254740993", &|_| true).unwrap_err().contains("9007199254740993"));
    }
}
