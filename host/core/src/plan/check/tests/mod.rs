//! Tests of the plan check. A table lists mistakes, each with the only violation that it causes. Other tests check
//! properties that hold for every plan.

mod docs;
mod llm;
mod mistakes;
mod normal;
mod order;
mod parameters;
mod pinned;
mod short;
mod waits;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::model::manifest::{Determinism, EffectKind, PluginKind};

pub(in crate::plan) use mistakes::{Mistake, mistakes};
pub(in crate::plan) use waits::{good_waits, wait_mistakes};

/// Catalog with the operators of the tests.
pub(in crate::plan) struct TestCatalog;

impl Catalog for TestCatalog {
    fn operator(&self, name: &str) -> Option<OperatorInfo> {
        use EffectKind::{ExternalSend, ProduceOutcome, ReadOnly};
        let (effects, determinism, kind) = match name {
            "Text.Summarize" => (vec![], Determinism::Pure, PluginKind::Step),
            "Email.GenerateDraft" => (vec![ProduceOutcome], Determinism::Stable, PluginKind::Step),
            "Web.Fetch" => (vec![ReadOnly], Determinism::External, PluginKind::Tool),
            "Mail.Send" => (vec![ExternalSend, ReadOnly, ProduceOutcome], Determinism::External, PluginKind::Tool),
            "Llm.Chat" => (vec![ReadOnly], Determinism::Stable, PluginKind::Tool),
            "Record.Restore" => (vec![EffectKind::InternalWrite], Determinism::External, PluginKind::Tool),
            "Mail.Recall" => (vec![ExternalSend], Determinism::External, PluginKind::Tool),
            _ => return None,
        };
        Some(OperatorInfo { effects, determinism, kind, compensate: name == "Mail.Recall" })
    }

    fn names(&self) -> Vec<String> {
        ["Text.Summarize", "Email.GenerateDraft", "Web.Fetch", "Llm.Chat", "Mail.Send", "Mail.Recall"]
            .map(str::to_owned)
            .into()
    }
}

/// A valid plan with the steps `fetch`, `sum`, `draft` and `send`. Each step depends on the step before it.
pub(in crate::plan) fn good() -> Value {
    json!({
        "plan_id": "p1", "schema_version": "1.0", "intent_id": "i1", "on_failure": "compensate",
        "steps": [
            {
                "step_id": "fetch", "kind": "operator", "name": "Web.Fetch", "payload": { "url": "https://example.org/" },
                "effects": ["read_only"], "policy_tags": [], "cache_policy": { "ttl_seconds": 60 },
                "idempotency_template": "fetch:{url}",
                "retry": { "max": 5, "base_ms": 100, "cap_ms": 1000 }, "timeout": "30s",
            },
            {
                "step_id": "sum", "kind": "operator", "name": "Text.Summarize", "depends_on": ["fetch"],
                "payload": { "$ref": "fetch#/body" }, "hashes": { "page": { "$ref": "fetch#/body" }, "v": 2 },
                "effects": [], "policy_tags": ["a"], "cache_policy": "use_if_safe",
                "idempotency_template": "sum:{page}:{v}", "reuse": { "plugin": ">=1.2, <2" }, "time_sensitive": true,
            },
            {
                "step_id": "draft", "kind": "operator", "name": "Email.GenerateDraft", "depends_on": ["sum"],
                "payload": { "text": { "$ref": "sum#" }, "page": [{ "$ref": "fetch#/title" }] },
                "effects": [], "policy_tags": ["b", "a"], "cache_policy": "use_if_safe", "gate": "none",
                "idempotency_template": "draft:{text}",
                "outcome": { "type": "Draft.Email", "status": "draft", "sensitivity": "private" },
            },
            {
                "step_id": "send", "kind": "operator", "name": "Mail.Send", "depends_on": ["sum", "draft"],
                "payload": { "to": "a@example.org", "draft": { "$outcome": "draft" } },
                "effects": ["external_send", "read_only"], "policy_tags": [], "cache_policy": "never",
                "gate": "human_confirm", "idempotency_template": "send:{to}:{draft}", "compensate_with": "Mail.Recall",
            },
        ],
    })
}

/// Returns the plan of `good` with the value at `pointer` replaced, or removed if `value` is `None`.
pub(in crate::plan) fn with(pointer: &str, value: Option<Value>) -> Value {
    changed(good(), pointer, value)
}

/// Returns `plan` with the value at `pointer` replaced, or removed if `value` is `None`.
pub(in crate::plan) fn changed(mut plan: Value, pointer: &str, value: Option<Value>) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer to a part");
    let parent = plan.pointer_mut(parent).expect("the parent is there");
    match (parent, value) {
        (Value::Object(fields), Some(value)) => fields.insert(key.to_owned(), value),
        (Value::Object(fields), None) => fields.remove(key),
        (Value::Array(items), Some(value)) => {
            let index: usize = key.parse().unwrap();
            items.resize(items.len().max(index + 1), Value::Null);
            Some(std::mem::replace(&mut items[index], value))
        }
        _ => panic!("{pointer}"),
    };
    plan
}

fn violations(plan: &Value) -> Vec<Violation> {
    check(plan.to_string().as_bytes(), &TestCatalog).err().unwrap_or_default()
}

/// Returns the code and the pointer of each violation, for comparison.
fn brief(violations: &[Violation]) -> Vec<(&str, &str)> {
    violations.iter().map(|violation| (violation.code, violation.pointer.as_str())).collect()
}

#[test]
fn a_good_plan_is_accepted() {
    assert_eq!(violations(&good()), []);
}

/// I18, I190: each mistake causes exactly one violation with the correct pointer.
#[test]
fn each_mistake_causes_one_violation_with_its_pointer() {
    let mut wrong = Vec::new();
    for (pointer, value, code, at, word) in mistakes() {
        let found = violations(&with(pointer, value.clone()));
        if brief(&found) != [(code, at)] || !found[0].message.contains(word) {
            wrong.push(format!("{pointer} := {value:?}: {found:#?}, not {code} at {at:?} with {word:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_is_violated_by_some_mistake() {
    let broken: BTreeSet<&str> = mistakes()
        .iter()
        .chain(&wait_mistakes())
        .map(|mistake| mistake.2)
        .chain(["P001", "P002"])
        // Rules about parameters have separate tests.
        .chain(["P038", "P039", "P040"])
        .chain(llm::mistakes().iter().map(|mistake| mistake.2))
        .collect();
    let all: BTreeSet<&str> = RULES.iter().map(|(code, _)| *code).collect();
    assert_eq!(broken, all);
    assert_eq!(RULES.len(), all.len());
}

#[test]
fn ambiguous_json_is_refused_with_its_line() {
    for (text, line, column, word) in [
        ("{\n  \"plan_id\": \"p\",\n}", 3, 1, "a key"),
        ("", 1, 1, "ends"),
        ("{\"plan_id\": \"p\",\n \"plan_id\": \"p\"}", 2, 2, "twice"),
        ("{\"x\": 9007199254740993}", 1, 7, "exactly"),
        ("{\"x\": 1e400}", 1, 7, "range"),
        ("{\"x\": NaN}", 1, 7, "expected"),
    ] {
        let found = check(text.as_bytes(), &TestCatalog).unwrap_err();
        let [refused] = found.iter().filter(|found| found.code == "P001").collect::<Vec<_>>()[..] else {
            panic!("{text}: {found:?}")
        };
        assert_eq!((refused.line, refused.column), (line, column), "{text}");
        assert!(refused.message.contains(word) && refused.message.contains(&format!("line {line}, ")), "{found:?}");
    }
    let large = format!("{}{}", good(), " ".repeat(PLAN_BYTES_MAX));
    assert_eq!(brief(&check(large.as_bytes(), &TestCatalog).unwrap_err()), [("P002", "")]);
    assert_eq!(brief(&check(b"[]", &TestCatalog).unwrap_err()), [("P003", "")]);
}

#[test]
fn ambiguous_json_does_not_hide_other_mistakes() {
    let text = good().to_string().replacen(
        "\"on_failure\":",
        "\"plan_id\":\"p2\",\"x\":12345678901234567890,\"on_failure\":",
        1,
    );
    let found = check(text.as_bytes(), &TestCatalog).unwrap_err();
    let mut codes: Vec<_> = found.iter().map(|found| found.code).collect();
    codes.sort_unstable();
    assert_eq!(
        codes,
        ["P001", "P001", "P005"],
        "the key that is there twice, the number, and the unknown key: {found:?}"
    );
    assert!(found.is_sorted_by_key(|found| (found.line, found.column)), "{found:?}");
    // A plan is refused even if ambiguous JSON is its only mistake.
    let text = good().to_string().replacen("\"url\":", "\"url\":1e999,\"url\":", 1);
    let found = check(text.as_bytes(), &TestCatalog).unwrap_err();
    assert_eq!(brief(&found), [("P001", ""), ("P001", "")]);
}

#[test]
fn transitive_dependencies_allow_bindings() {
    // `draft` is bound to `fetch` and depends on `fetch` only through `sum`.
    assert_eq!(violations(&good()), []);
    let found = violations(&with("/steps/2/depends_on", Some(json!([]))));
    assert_eq!(brief(&found), [("P018", "/steps/2/payload/page/0"), ("P018", "/steps/2/payload/text")]);
}

#[test]
fn timeouts_need_a_unit() {
    for (text, ms) in
        [("1ms", 1), ("500ms", 500), ("30s", 30_000), ("2m", 120_000), ("1h", 3_600_000), ("24h", 86_400_000)]
    {
        assert_eq!(parse_timeout(text), Some(ms), "{text}");
    }
    for text in [
        "",
        "s",
        "1",
        "0ms",
        "01s",
        "1.5s",
        "-1s",
        "+1s",
        " 1s",
        "1 s",
        "1S",
        "1d",
        "1sm",
        "86401s",
        "4294967296ms",
        "99999999999h",
    ] {
        assert_eq!(parse_timeout(text), None, "{text}");
    }
    let plan = check(good().to_string().as_bytes(), &TestCatalog).unwrap();
    let timeouts: Vec<_> = plan.steps.iter().map(PlanStep::timeout_ms).collect();
    assert_eq!(timeouts, [Some(30_000), None, None, None]);
}

#[test]
fn effects_are_covered_only_by_the_same_effect() {
    use EffectKind::*;
    assert_eq!(uncovered(&[], &[ProduceOutcome]), []);
    assert_eq!(uncovered(&[ExternalSend], &[ExternalSend, ExternalWrite]), [ExternalWrite]);
    assert_eq!(uncovered(&[ExternalSend, ExternalWrite, ReadOnly], &[InternalWrite]), [InternalWrite]);
    assert_eq!(uncovered(&EffectKind::ALL, &EffectKind::ALL), []);
}

/// I18: an invalid request is refused as a whole, with pointers into the request's own text.
#[test]
fn request_violations_point_into_the_request_text() {
    let named = with("/steps/1/hashes/v", Some(json!({ "$context": "cv" })));
    let request = |contexts: Value| {
        json!({
            "intent": { "type": "letter", "payload": { "to": "ada" }, "contexts": contexts }, "plan": named,
            "mode": "DRY_RUN", "request_id": "r1",
        })
    };
    let check = |value: &Value| super::super::check_request(value.to_string().as_bytes(), &TestCatalog);
    let whole = check(&request(json!([{ "name": "cv", "text": "…" }, 7]))).unwrap();
    let intent = whole.intent.unwrap();
    assert_eq!((intent.intent_type.as_str(), intent.contexts.len()), ("letter", 2));
    assert_eq!((whole.mode, whole.request_id.as_deref()), (Some(crate::model::mode::Mode::DryRun), Some("r1")));
    let refused = |value: Value, code: &str, at: &str| {
        let found = check(&value).unwrap_err();
        assert_eq!(brief(&found), [(code, at)], "{value}");
    };
    refused(request(json!([])), "P027", "/plan/steps/1/hashes/v");
    refused(request(json!([{ "name": "cvs" }])), "P027", "/plan/steps/1/hashes/v");
    refused(request(json!([{ "name": "cv" }, { "name": "cv" }])), "P025", "/intent/contexts/1/name");
    let mut wrong = request(json!([{ "name": "cv" }]));
    wrong["mode"] = json!("dry");
    refused(wrong, "P003", "/mode");
    let mut wrong = request(json!([{ "name": "cv" }]));
    wrong["intents"] = json!({});
    refused(wrong, "P005", "/intents");
    let mut wrong = request(json!([{ "name": "cv" }]));
    wrong["plan"]["steps"][1]["gate"] = json!("maybe");
    refused(wrong, "P003", "/plan/steps/1/gate");
    let bare = check(&good()).unwrap();
    assert!(bare.intent.is_none() && bare.mode.is_none());
}
