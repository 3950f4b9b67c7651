//! Tests of parameters: the plan declares them, the request gives their values, and bindings read them.

use super::*;
use crate::plan::{ParameterError, check_request};

/// Catalog with the operators of the tests and an evaluator of JSON Schemas.
struct SchemaCatalog;

impl Catalog for SchemaCatalog {
    fn operator(&self, name: &str) -> Option<OperatorInfo> {
        TestCatalog.operator(name)
    }

    fn names(&self) -> Vec<String> {
        TestCatalog.names()
    }

    fn schema_mismatches(&self, schema: &Value, value: &Value) -> Result<Vec<SchemaMismatch>, String> {
        use jsonschema::error::ValidationErrorKind::{AdditionalProperties, Required};
        let validator = jsonschema::draft202012::new(schema).map_err(|error| error.to_string())?;
        let found = validator.iter_errors(value).flat_map(|error| {
            let pointer = error.instance_path().to_string();
            match error.kind() {
                Required { property } => {
                    vec![SchemaMismatch::Missing { pointer, name: property.as_str().unwrap_or_default().to_owned() }]
                }
                AdditionalProperties { unexpected } => unexpected
                    .iter()
                    .map(|name| SchemaMismatch::Unknown { pointer: pointer.clone(), name: name.clone() })
                    .collect(),
                _ => vec![SchemaMismatch::Wrong { pointer, why: error.to_string() }],
            }
        });
        Ok(found.collect())
    }
}

fn letter() -> Value {
    json!({
        "parameters": {
            "properties": {
                "professor": { "type": "integer" },
                "tone": { "enum": ["warm", "plain"], "default": "warm" },
                "options": { "type": "object", "default": {}, "properties": { "pages": { "type": "integer", "default": 2 } } },
            },
            "required": ["professor"],
        },
        "steps": [
            { "step_id": "fetch", "name": "Web.Fetch", "payload": { "of": { "$ref": "intent#/professor" } } },
            { "step_id": "sum", "name": "Text.Summarize", "payload": { "tone": { "$ref": "intent#/tone" }, "text": { "$ref": "fetch#" } },
              "hashes": { "pages": { "$ref": "intent#/options/pages" } }, "idempotency_template": "sum:{pages}" },
        ],
    })
}

fn found(plan: &Value) -> Vec<Violation> {
    check(plan.to_string().as_bytes(), &SchemaCatalog).err().unwrap_or_default()
}

fn values(plan: &Value, given: Value) -> Result<Option<Value>, Vec<ParameterError>> {
    let plan = check(plan.to_string().as_bytes(), &SchemaCatalog).unwrap_or_else(|found| panic!("{found:?}"));
    plan.values(given, &SchemaCatalog)
}

/// I147: a binding to `intent` depends on no step.
#[test]
fn parameter_bindings_add_no_dependency() {
    let plan = check(letter().to_string().as_bytes(), &SchemaCatalog).unwrap();
    let depends_on: Vec<_> = plan.steps.iter().map(|step| step.depends_on.len()).collect();
    assert_eq!(depends_on, [0, 1]);
    assert!(plan.parameters.is_some());
    let again = check(&plan.to_canonical(), &SchemaCatalog).unwrap();
    assert_eq!((again.hash(), &again), (plan.hash(), &plan));
}

#[test]
fn step_named_intent_takes_precedence_over_parameters() {
    let mut plan = letter();
    plan["steps"][0]["step_id"] = json!("intent");
    plan["steps"][0]["payload"] = json!({});
    plan["steps"][1]["payload"]["text"] = json!({ "$ref": "intent#/anything" });
    let plan = check(plan.to_string().as_bytes(), &SchemaCatalog).unwrap_or_else(|found| panic!("{found:?}"));
    assert_eq!(plan.steps[1].depends_on, ["intent".into()]);
    let given = plan.values(json!({ "professor": 1 }), &SchemaCatalog).unwrap().unwrap();
    assert_eq!(given["tone"], "warm", "defaults are filled in");
}

#[test]
fn nested_defaults_are_filled() {
    let given = values(&letter(), json!({ "professor": 910, "extra": 1 })).unwrap().unwrap();
    assert_eq!(given, json!({ "professor": 910, "tone": "warm", "options": { "pages": 2 }, "extra": 1 }));
    let given = values(&letter(), json!({ "professor": 910, "options": { "pages": 3 } })).unwrap().unwrap();
    assert_eq!(given["options"], json!({ "pages": 3 }));
    let mut bare = letter();
    bare.as_object_mut().unwrap().remove("parameters");
    assert_eq!(found(&bare).len(), 3, "each binding is refused");
    assert_eq!(values(&json!({ "steps": [{ "step_id": "a", "name": "Web.Fetch" }] }), json!({ "x": 1 })), Ok(None));
}

fn refused(plan: &Value, given: Value) -> Vec<(&'static str, String)> {
    let found = values(plan, given).unwrap_err();
    found.into_iter().map(|refused| (refused.code, refused.pointer)).collect()
}

#[test]
fn all_wrong_and_missing_values_are_reported() {
    let wrong = refused(&letter(), json!({ "professor": "x", "tone": "cold", "options": { "pages": "many" } }));
    assert_eq!(wrong, [("P039", "/options/pages".into()), ("P039", "/professor".into()), ("P039", "/tone".into())]);
    assert_eq!(refused(&letter(), json!({})), [("P040", "/professor".into())], "once, though it is read and required");
    assert_eq!(refused(&letter(), json!([])), [("P039", String::new())]);
    let mut read = letter();
    read["parameters"]["required"] = json!([]);
    assert_eq!(refused(&read, json!({})), [("P040", "/professor".into())], "what a step reads is needed");
    let mut closed = letter();
    closed["parameters"]["additionalProperties"] = json!(false);
    let found = values(&closed, json!({ "professor": 1, "tonne": 1 })).unwrap_err();
    assert_eq!((found[0].code, found[0].pointer.as_str()), ("P038", "/tonne"));
    assert!(found[0].message.contains("did you mean `tone`"), "{found:?}");
    assert_eq!(found[0].parameter().as_deref(), Some("tonne"));
    let large = "x".repeat(crate::plan::VALUES_BYTES_MAX);
    assert_eq!(refused(&letter(), json!({ "professor": 1, "text": large })), [("P039", String::new())]);
}

#[test]
fn binding_to_undeclared_parameter_is_refused() {
    let mut plan = letter();
    plan["steps"][0]["payload"]["of"] = json!({ "$ref": "intent#/profesor" });
    plan["steps"][0]["payload"]["whole"] = json!({ "$ref": "intent#" });
    plan["steps"][1]["payload"]["tone"] = json!({ "$outcome": "intent" });
    let found = self::found(&plan);
    assert_eq!(brief(&found), [("P038", "/steps/0/payload/of"), ("P017", "/steps/1/payload/tone")]);
    assert!(found[0].message.contains("did you mean `professor`"), "{found:?}");
    // The schema now admits additional names, so the binding to an undeclared name is valid. Only the `$outcome`
    // binding still causes a violation.
    plan["parameters"]["additionalProperties"] = json!({ "type": "integer" });
    assert_eq!(super::violations(&plan).len(), 1);
}

#[test]
fn unusable_parameter_schema_is_refused_with_its_pointer() {
    let mut plan = letter();
    plan["parameters"]["properties"]["tone"]["default"] = json!("loud");
    plan["parameters"]["properties"]["options"]["properties"]["pages"]["default"] = json!("two");
    let found = self::found(&plan);
    let expected =
        [("P039", "/parameters/properties/options/default/pages"), ("P039", "/parameters/properties/tone/default")];
    let mut wrong = brief(&found);
    wrong.sort_unstable();
    assert_eq!(wrong, expected, "{found:?}");
    let mut plan = letter();
    plan["parameters"]["properties"]["tone"] = json!({ "type": "nonsense" });
    assert_eq!(brief(&self::found(&plan)), [("P037", "/parameters")]);
}

/// A wrong value in the payload of a request causes a violation with a position in the text of the request.
#[test]
fn value_violations_point_into_the_request_text() {
    let text = format!(
        "{{\"intent\": {{\"type\": \"letter\", \"payload\":\n {{\"professor\": \"x\"}}}}, \"plan\": {}}}",
        letter()
    );
    let request = check_request(text.as_bytes(), &SchemaCatalog).unwrap();
    let payload = request.intent.unwrap().payload;
    let found = request.plan.values(payload, &SchemaCatalog).unwrap_err().remove(0);
    let violation = found.in_text("/intent/payload", text.as_bytes());
    assert_eq!((violation.pointer.as_str(), violation.line, violation.column), ("/intent/payload/professor", 2, 16));
}
