//! Tests of steps that call a model: refused payloads and the pointers of their violations.

use jsonschema::draft202012;

use super::*;
use crate::plan::{SCHEMA, StepKind};

/// A plan with two llm steps: `ask` has messages, and `again` is bound to the answer of `ask`.
fn asking() -> Value {
    let step = |id: &str, payload: Value, depends_on: &[&str]| {
        json!({
            "step_id": id, "kind": "llm", "name": "Llm.Chat", "payload": payload, "depends_on": depends_on,
            "effects": ["read_only"], "policy_tags": [], "cache_policy": if depends_on.is_empty() { "never" } else { "use_if_safe" }, "idempotency_template": "x",
        })
    };
    let messages = json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": "Why?" }]);
    let params = json!({ "max_tokens": 100, "temperature": 0.2, "reasoning_effort": "low" });
    json!({ "plan_id": "p", "schema_version": "1.0", "steps": [
        step("ask", json!({ "messages": messages, "model": "small", "params": params }), &[]),
        step("again", json!({ "prompt": { "$ref": "ask#/text" }, "model": { "$ref": "ask#/model" } }), &["ask"]),
    ] })
}

fn changed(pointer: &str, value: Option<Value>) -> Value {
    let mut plan = asking();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let fields = plan.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Some(value) => fields.insert(key.to_owned(), value),
        None => fields.remove(key),
    };
    plan
}

/// Mistakes in llm steps. Each entry has the pointer and the new value of a change, the code of the violated
/// rule, and the pointer of the violation.
pub(super) fn mistakes() -> Vec<(&'static str, Option<Value>, &'static str, &'static str)> {
    const P: &str = "/steps/0/payload";
    let some = |value: Value| Some(value);
    vec![
        (P, some(json!("Why?")), "P003", P),
        ("/steps/0/payload/model", None, "P004", P),
        ("/steps/0/payload/model", some(json!("")), "P003", "/steps/0/payload/model"),
        ("/steps/0/payload/messages", None, "P028", P),
        ("/steps/0/payload/prompt", some(json!("Why?")), "P028", P),
        ("/steps/0/payload/temperature", some(json!(1)), "P005", "/steps/0/payload/temperature"),
        ("/steps/1/payload/prompt", some(json!("")), "P003", "/steps/1/payload/prompt"),
        ("/steps/1/payload/prompt", some(json!({ "$ref": "again#" })), "P018", "/steps/1/payload/prompt"),
        ("/steps/0/payload/messages", some(json!([])), "P003", "/steps/0/payload/messages"),
        (
            "/steps/0/payload/messages",
            some(json!([{ "role": "robot", "content": "x" }])),
            "P003",
            "/steps/0/payload/messages/0/role",
        ),
        ("/steps/0/payload/messages", some(json!([{ "role": "user" }])), "P004", "/steps/0/payload/messages/0"),
        (
            "/steps/0/payload/messages",
            some(json!([{ "role": "user", "content": 7 }])),
            "P003",
            "/steps/0/payload/messages/0/content",
        ),
        ("/steps/0/payload/params", some(json!([])), "P003", "/steps/0/payload/params"),
        ("/steps/0/payload/params/max_tokens", some(json!(0)), "P003", "/steps/0/payload/params/max_tokens"),
        ("/steps/0/payload/params/temperature", some(json!(3)), "P003", "/steps/0/payload/params/temperature"),
        ("/steps/0/payload/params/stream", some(json!(true)), "P005", "/steps/0/payload/params/stream"),
        ("/steps/0/payload/params/n", some(json!(2)), "P003", "/steps/0/payload/params/n"),
        ("/steps/0/name", some(json!("Web.Fetch")), "P029", "/steps/0/name"),
        ("/steps/0/name", some(json!("Email.GenerateDraft")), "P029", "/steps/0/name"),
        ("/steps/0/name", some(json!("Llm.Chatt")), "P012", "/steps/0/name"),
        ("/steps/0/effects", some(json!([])), "P019", "/steps/0/effects"),
    ]
}

#[test]
fn plan_with_llm_steps_is_accepted() {
    let plan = check(asking().to_string().as_bytes(), &TestCatalog).unwrap_or_else(|found| panic!("{found:?}"));
    assert!(plan.steps.iter().all(|step| step.kind == StepKind::Llm));
    assert_eq!(violations(&changed("/steps/0/payload", Some(json!({ "$ref": "other#" }))))[0].code, "P017");
}

/// I18: each mistake in an llm step causes exactly one violation with the correct pointer.
#[test]
fn each_llm_step_mistake_causes_one_violation_with_its_pointer() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = draft202012::new(&schema).unwrap();
    assert!(validator.is_valid(&asking()));
    let beyond_structure = ["P012", "P018", "P019", "P029"];
    for (pointer, value, code, at) in mistakes() {
        let plan = changed(pointer, value.clone());
        assert_eq!(brief(&violations(&plan)), [(code, at)], "{pointer} := {value:?}");
        assert_eq!(validator.is_valid(&plan), beyond_structure.contains(&code), "{pointer} := {value:?}");
    }
}
