//! Tests of plans whose steps omit keys. The filled values depend only on the plan.

use super::*;
use crate::plan::{CheckedRequest, check_request};

/// A plan with the same steps as `good`. Most keys of the steps are omitted.
fn short() -> Value {
    json!({
        "$schema": "plan.schema.json",
        "steps": [
            { "step_id": "send", "name": "Mail.Send", "effects": ["external_send", "read_only"],
              "payload": { "to": "a@example.org", "draft": { "$outcome": "draft" } } },
            { "step_id": "draft", "name": "Email.GenerateDraft",
              "payload": { "text": { "$ref": "sum#" }, "page": [{ "$ref": "fetch#/title" }] } },
            { "step_id": "fetch", "name": "Web.Fetch", "payload": { "url": "https://example.org/" } },
            { "step_id": "sum", "name": "Text.Summarize", "idempotency_template": "sum:{page}",
              "hashes": { "page": { "$ref": "fetch#/body" } } },
        ],
    })
}

fn request(plan: &Value) -> CheckedRequest {
    check_request(plan.to_string().as_bytes(), &TestCatalog).unwrap_or_else(|found| panic!("{found:?}"))
}

/// I145: a short plan has the expected normal form, and its filled keys are listed.
#[test]
fn short_steps_are_expanded_from_the_plan_alone() {
    let request = request(&short());
    let filled = |step: &str, name: &str, payload: Value, depends_on: Value| {
        json!({
            "step_id": step, "name": name, "payload": payload, "depends_on": depends_on, "kind": "operator",
            "effects": ["read_only"], "policy_tags": [], "gate": "none", "cache_policy": "never",
            "idempotency_template": null,
        })
    };
    let mut sum = filled("sum", "Text.Summarize", json!({}), json!(["fetch"]));
    sum["hashes"] = json!({ "page": { "$ref": "fetch#/body" } });
    sum["idempotency_template"] = json!("sum:{page}");
    let draft = json!({ "text": { "$ref": "sum#" }, "page": [{ "$ref": "fetch#/title" }] });
    let mut send = filled(
        "send",
        "Mail.Send",
        json!({ "to": "a@example.org", "draft": { "$outcome": "draft" } }),
        json!(["draft"]),
    );
    send["effects"] = json!(["read_only", "external_send"]);
    let steps = json!([
        filled("fetch", "Web.Fetch", json!({ "url": "https://example.org/" }), json!([])),
        sum,
        filled("draft", "Email.GenerateDraft", draft, json!(["fetch", "sum"])),
        send,
    ]);
    let normal = json!({ "plan_id": "plan", "schema_version": "1.0", "on_failure": "keep", "steps": steps });
    assert_eq!(serde_json::to_value(&request.plan).unwrap(), normal);
    // The list contains only omitted keys. Each listed pointer exists in the normal form.
    let has = |pointer: &str| request.filled.contains(&pointer.to_owned());
    assert!(request.filled.is_sorted() && has("/plan_id") && has("/on_failure") && has("/steps/1/payload"));
    assert!(!has("/steps/3/effects") && !has("/steps/1/idempotency_template") && has("/steps/1/depends_on"));
    for pointer in &request.filled {
        assert!(normal.pointer(pointer).is_some(), "{pointer}");
    }
}

/// I145: the normal form of a short plan is itself a plan with the same hash and without omitted values.
#[test]
fn short_plan_and_normal_form_have_the_same_hash() {
    let short = request(&short());
    let full = request(&serde_json::to_value(&short.plan).unwrap());
    assert_eq!((full.plan.hash(), full.filled), (short.plan.hash(), vec![]));
    let without = |key: &str| {
        let mut plan = serde_json::to_value(&short.plan).unwrap();
        plan.as_object_mut().unwrap().remove(key);
        plan["$schema"] = json!("https://example.org/plan.schema.json");
        request(&plan).plan.hash()
    };
    assert_eq!(without("schema_version"), short.plan.hash(), "an address of a schema is no part of a plan");
}

/// A stated `depends_on` is used unchanged.
#[test]
fn stated_dependencies_are_not_extended() {
    let mut plan = short();
    plan["steps"][1]["depends_on"] = json!(["sum"]);
    assert_eq!(request(&plan).plan.step(&"draft".into()).unwrap().depends_on, ["sum".into()]);
    plan["steps"][1]["depends_on"] = json!([]);
    let found = violations(&plan);
    assert_eq!(brief(&found), [("P018", "/steps/1/payload/page/0"), ("P018", "/steps/1/payload/text")]);
    assert!(found[0].message.contains("leave `depends_on` out"), "{found:?}");
}

#[test]
fn dependencies_from_bindings_are_checked_like_stated_ones() {
    let mut plan = short();
    plan["steps"][2]["payload"]["url"] = json!({ "$ref": "draft#/url" });
    let found = violations(&plan);
    assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), ["P015"], "{found:?}");
    plan["steps"][2]["payload"]["url"] = json!({ "$ref": "drafd#/url" });
    assert_eq!(brief(&violations(&plan)), [("P017", "/steps/2/payload/url")], "one mistake, one violation");
    plan["steps"][2]["payload"]["url"] = json!({ "$ref": "fetch#/url" });
    assert_eq!(brief(&violations(&plan)), [("P018", "/steps/2/payload/url")]);
}

/// I145: the properties of a plugin never widen the effects of a step.
#[test]
fn world_changing_effects_must_be_declared_in_the_plan() {
    let mut plan = short();
    plan["steps"][0].as_object_mut().unwrap().remove("effects");
    let found = violations(&plan);
    assert_eq!(brief(&found), [("P019", "/steps/0/effects")]);
    assert_eq!(
        found[0].message,
        "`Mail.Send` may cause `external_send`, which the step does not declare; \
         add \"effects\": [\"read_only\", \"external_send\"] to step send"
    );
    plan["steps"][0]["effects"] = json!(["produce_outcome", "external_write"]);
    let message = &violations(&plan)[0].message;
    let line = r#"write "effects": ["read_only", "produce_outcome", "external_write", "external_send"] in step send"#;
    assert!(message.contains("`read_only` and `external_send`") && message.ends_with(line), "{message}");
}

#[test]
fn waits_and_models_need_their_payload() {
    let plan = |kind: &str, name: &str| json!({ "steps": [{ "step_id": "s", "kind": kind, "name": name }] });
    assert_eq!(brief(&violations(&plan("wait", "Reply"))), [("P004", "/steps/0/payload")]);
    let codes: Vec<_> = violations(&plan("llm", "Llm.Chat")).iter().map(|found| found.code).collect();
    assert_eq!(codes, ["P004", "P028"]);
}
