//! Tests of the plan check. A table lists mistakes, each with the only violation that the mistake causes. Other tests
//! check properties that hold for every plan.

mod docs;
mod llm;
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

/// One mistake in a valid plan. The first two fields are the pointer and the new value of the changed place. The other
/// fields describe the violation: code, pointer, and a part of the message.
pub(in crate::plan) type Mistake = (&'static str, Option<Value>, &'static str, &'static str, &'static str);

pub(in crate::plan) fn mistakes() -> Vec<Mistake> {
    let some = |value: Value| Some(value);
    let long = "x".repeat(129);
    vec![
        ("/steps", None, "P004", "", "steps"),
        ("/steps/3/step_id", None, "P004", "/steps/3", "step_id"),
        ("/steps/3/name", None, "P004", "/steps/3", "name"),
        ("/steps/2/outcome/type", None, "P004", "/steps/2/outcome", "type"),
        ("/steps/1/reuse/plugin", None, "P004", "/steps/1/reuse", "plugin"),
        ("/steps/0/cache_policy", some(json!({})), "P004", "/steps/0/cache_policy", "ttl_seconds"),
        ("/stepz", some(json!([])), "P005", "/stepz", "`steps`"),
        ("/steps/0/depend_on", some(json!([])), "P005", "/steps/0/depend_on", "`depends_on`"),
        ("/steps/0/a~1b", some(json!([])), "P005", "/steps/0/a~01b", "a~1b"),
        ("/steps/0/retry/attempts", some(json!(1)), "P005", "/steps/0/retry/attempts", "attempts"),
        ("/steps/2/outcome/sensitivty", some(json!("x")), "P005", "/steps/2/outcome/sensitivty", "`sensitivity`"),
        ("/plan_id", some(json!(1)), "P003", "/plan_id", "found a number"),
        ("/plan_id", some(json!("")), "P003", "/plan_id", "1 to 128"),
        ("/plan_id", some(json!(long)), "P003", "/plan_id", "129"),
        ("/plan_id", some(json!("a\u{0}b")), "P003", "/plan_id", "zero bytes"),
        ("/intent_id", some(json!("a\nb")), "P003", "/intent_id", "control"),
        ("/on_failure", some(json!("kepe")), "P003", "/on_failure", "did you mean `keep`"),
        ("/schema_version", some(json!("2.0")), "P008", "/schema_version", "\"1.0\""),
        ("/schema_version", some(json!(1)), "P008", "/schema_version", "\"1.0\""),
        ("/steps", some(json!({})), "P003", "/steps", "an array"),
        ("/steps", some(json!([])), "P009", "/steps", "at least one"),
        ("/steps", some(json!(vec![Value::Null; 1001])), "P010", "/steps", "1001"),
        ("/steps/4", some(json!("x")), "P003", "/steps/4", "a step"),
        ("/steps/3/step_id", some(json!(7)), "P003", "/steps/3/step_id", "a string"),
        ("/steps/3/step_id", some(json!("se nd")), "P006", "/steps/3/step_id", "se nd"),
        ("/steps/3/step_id", some(json!("")), "P006", "/steps/3/step_id", "1 to 64"),
        ("/steps/3/step_id", some(json!("x".repeat(65))), "P006", "/steps/3/step_id", "1 to 64"),
        ("/steps/3/step_id", some(json!("s\u{0}")), "P006", "/steps/3/step_id", "\\0"),
        ("/steps/3/step_id", some(json!("é")), "P006", "/steps/3/step_id", "A-Z"),
        ("/steps/3/step_id", some(json!("fetch")), "P007", "/steps/3/step_id", "/steps/0"),
        ("/steps/3/kind", some(json!("opreator")), "P003", "/steps/3/kind", "`operator`"),
        ("/steps/3/name", some(json!("mail.send")), "P012", "/steps/3/name", "did you mean `Mail.Send`"),
        ("/steps/3/name", some(json!("Teleport")), "P012", "/steps/3/name", "no loaded plugin"),
        ("/steps/3/name", some(json!("Mail/Send")), "P003", "/steps/3/name", "without `/`"),
        ("/steps/3/depends_on", some(json!("draft")), "P003", "/steps/3/depends_on", "an array"),
        ("/steps/3/depends_on/2", some(json!(1)), "P003", "/steps/3/depends_on/2", "a string"),
        ("/steps/3/depends_on/2", some(json!("a b")), "P006", "/steps/3/depends_on/2", "a b"),
        ("/steps/3/depends_on/2", some(json!("fetsh")), "P013", "/steps/3/depends_on/2", "did you mean `fetch`"),
        ("/steps/3/depends_on/2", some(json!("send")), "P014", "/steps/3/depends_on/2", "itself"),
        ("/steps/3/depends_on/2", some(json!("sum")), "P025", "/steps/3/depends_on/2", "twice"),
        ("/steps/1/depends_on/1", some(json!("draft")), "P015", "/steps/2/depends_on", "draft → sum → draft"),
        (
            "/steps/0/depends_on",
            some(json!(["send"])),
            "P015",
            "/steps/2/depends_on",
            "draft → sum → fetch → send → draft",
        ),
        ("/steps/3/effects", some(json!("external_send")), "P003", "/steps/3/effects", "an array"),
        (
            "/steps/3/effects/2",
            some(json!("external-send")),
            "P003",
            "/steps/3/effects/2",
            "did you mean `external_send`",
        ),
        ("/steps/3/effects/2", some(json!("read_only")), "P025", "/steps/3/effects/2", "twice"),
        ("/steps/3/effects", some(json!(["read_only"])), "P019", "/steps/3/effects", "`external_send`"),
        ("/steps/3/effects", some(json!(["external_send"])), "P019", "/steps/3/effects", "`read_only`"),
        (
            "/steps/3/effects",
            some(json!(["external_write", "read_only"])),
            "P019",
            "/steps/3/effects",
            "`external_send`",
        ),
        ("/steps/3/policy_tags", some(json!({})), "P003", "/steps/3/policy_tags", "an array"),
        ("/steps/3/policy_tags/0", some(json!("")), "P003", "/steps/3/policy_tags/0", "1 to"),
        ("/steps/2/policy_tags/0", some(json!("a")), "P025", "/steps/2/policy_tags/1", "twice"),
        ("/steps/3/gate", some(json!("human-confirm")), "P003", "/steps/3/gate", "did you mean `human_confirm`"),
        ("/steps/3/cache_policy", some(json!("always")), "P003", "/steps/3/cache_policy", "`use_if_safe`"),
        ("/steps/3/cache_policy", some(json!(60)), "P003", "/steps/3/cache_policy", "ttl_seconds"),
        ("/steps/0/cache_policy/ttl_seconds", some(json!(0)), "P003", "/steps/0/cache_policy/ttl_seconds", "1 to"),
        (
            "/steps/0/cache_policy/ttl_seconds",
            some(json!(1.5)),
            "P003",
            "/steps/0/cache_policy/ttl_seconds",
            "found 1.5",
        ),
        ("/steps/0/cache_policy", some(json!("use_if_safe")), "P022", "/steps/0/cache_policy", "external"),
        ("/steps/3/idempotency_template", some(json!("")), "P003", "/steps/3/idempotency_template", "1 to"),
        ("/steps/3/idempotency_template", some(json!(7)), "P003", "/steps/3/idempotency_template", "found a number"),
        (
            "/steps/3/effects",
            None,
            "P019",
            "/steps/3/effects",
            "add \"effects\": [\"read_only\", \"external_send\"] to step send",
        ),
        ("/steps/0/idempotency_template", None, "P036", "/steps/0/cache_policy", "`idempotency_template`"),
        ("/steps/0/idempotency_template", some(json!(null)), "P036", "/steps/0/cache_policy", "`idempotency_template`"),
        ("/parameters", some(json!([])), "P003", "/parameters", "a JSON Schema"),
        ("/parameters", some(json!({ "type": "array" })), "P037", "/parameters/type", "an object"),
        ("/parameters", some(json!({ "properties": [] })), "P037", "/parameters/properties", "by name"),
        ("/parameters", some(json!({ "properties": { "": {} } })), "P037", "/parameters/properties/", "the name"),
        ("/steps/0/payload/x", some(json!({ "$ref": "intent#/x" })), "P017", "/steps/0/payload/x", "declares no"),
        ("/$schema", some(json!(1)), "P003", "/$schema", "found a number"),
        ("/steps/3/idempotency_template", some(json!("a{to")), "P020", "/steps/3/idempotency_template", "without `}`"),
        ("/steps/3/idempotency_template", some(json!("{}")), "P020", "/steps/3/idempotency_template", "empty"),
        (
            "/steps/3/idempotency_template",
            some(json!("{draaft}")),
            "P021",
            "/steps/3/idempotency_template",
            "did you mean `draft`",
        ),
        // The payload of `sum` is a binding, so its fields are unknown.
        ("/steps/1/idempotency_template", some(json!("{$ref}")), "P021", "/steps/1/idempotency_template", "{$ref}"),
        ("/steps/3/hashes", some(json!([])), "P003", "/steps/3/hashes", "an object"),
        ("/steps/1/hashes/a}", some(json!(1)), "P003", "/steps/1/hashes/a}", "braces"),
        ("/steps/1/hashes/v", some(json!({ "$ref": "fetch" })), "P016", "/steps/1/hashes/v", "no `#`"),
        ("/steps/1/hashes/v", some(json!([{ "$ref": "draft#" }])), "P018", "/steps/1/hashes/v/0", "depends_on"),
        ("/steps/3/payload/x", some(json!([{ "$ref": "sum/x" }])), "P016", "/steps/3/payload/x/0", "no `#`"),
        ("/steps/3/payload/x", some(json!({ "$outcome": 1 })), "P016", "/steps/3/payload/x", "a string"),
        ("/steps/3/payload/x", some(json!({ "$ref": "sum#", "or": 1 })), "P016", "/steps/3/payload/x", "any other key"),
        (
            "/steps/3/payload/x",
            some(json!({ "$outcome": "drft" })),
            "P017",
            "/steps/3/payload/x",
            "did you mean `draft`",
        ),
        ("/steps/3/payload/x", some(json!({ "$ref": "send#" })), "P018", "/steps/3/payload/x", "itself"),
        ("/steps/0/payload/x", some(json!({ "$ref": "send#" })), "P015", "/steps/2/depends_on", "fetch → send"),
        ("/steps/2/outcome", some(json!("x")), "P003", "/steps/2/outcome", "an object"),
        ("/steps/2/outcome/status", some(json!("done")), "P003", "/steps/2/outcome/status", "`final`"),
        ("/steps/1/time_sensitive", some(json!("yes")), "P003", "/steps/1/time_sensitive", "true or false"),
        ("/steps/1/reuse/plugin", some(json!("1.2")), "P026", "/steps/1/reuse/plugin", ">=1.2"),
        ("/steps/1/reuse/plugin", some(json!(">=1.2,")), "P026", "/steps/1/reuse/plugin", ">=1.2"),
        ("/steps/1/reuse/plugin", some(json!(">=1.2.3.4")), "P026", "/steps/1/reuse/plugin", ">=1.2"),
        ("/steps/1/reuse/plugin", some(json!(">=+1")), "P026", "/steps/1/reuse/plugin", ">=1.2"),
        ("/steps/1/hashes/v", some(json!({ "$context": "cv" })), "P027", "/steps/1/hashes/v", "has no contexts"),
        ("/steps/1/hashes/v", some(json!({ "$context": 7 })), "P027", "/steps/1/hashes/v", "nothing else"),
        ("/steps/0/retry/max", some(json!(101)), "P003", "/steps/0/retry/max", "0 to 100"),
        ("/steps/0/retry/max", some(json!(-1)), "P003", "/steps/0/retry/max", "found -1"),
        ("/steps/0/retry/cap_ms", some(json!("1s")), "P003", "/steps/0/retry/cap_ms", "a string"),
        ("/steps/0/timeout", some(json!(30)), "P003", "/steps/0/timeout", "a string"),
        ("/steps/0/timeout", some(json!("30")), "P024", "/steps/0/timeout", "\"30s\""),
        ("/steps/0/timeout", some(json!("0s")), "P024", "/steps/0/timeout", "\"30s\""),
        ("/steps/0/timeout", some(json!("25h")), "P024", "/steps/0/timeout", "24h"),
        ("/steps/3/compensate_with", some(json!("Mail.Recal")), "P023", "/steps/3/compensate_with", "`Mail.Recall`"),
        ("/steps/3/compensate_with", some(json!("Text.Summarize")), "P023", "/steps/3/compensate_with", "step plugin"),
        ("/steps/2/compensate_with", some(json!("self")), "P023", "/steps/2/compensate_with", "step plugin"),
        (
            "/steps/3/compensate_with",
            some(json!("self")),
            "P035",
            "/steps/3/compensate_with",
            "exports no `compensate`",
        ),
        ("/steps/3/compensate_with", some(json!("Web.Fetch")), "P035", "/steps/3/compensate_with", "undoes nothing"),
        (
            "/steps/3/compensate_with",
            some(json!("Record.Restore")),
            "P034",
            "/steps/3/compensate_with",
            "`internal_write`",
        ),
        ("/steps/3/compensate_with", some(json!(true)), "P003", "/steps/3/compensate_with", "a string"),
    ]
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
    let timeouts: Vec<_> = plan.steps.iter().map(Step::timeout_ms).collect();
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
