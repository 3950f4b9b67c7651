//! Table of mistakes, each with the only violation that it causes.

use serde_json::{Value, json};

/// One mistake in a valid plan. The first two fields are the pointer and the new value of the changed place. The
/// other three fields describe the violation: code, pointer, and a part of the message.
pub(in crate::plan) type Mistake = (&'static str, Option<Value>, &'static str, &'static str, &'static str);

/// Returns the mistakes in plans without waits.
pub(in crate::plan) fn mistakes() -> Vec<Mistake> {
    [
        mistakes_in_plan(),
        mistakes_in_order(),
        mistakes_in_declarations(),
        mistakes_in_execution(),
        mistakes_in_bindings(),
    ]
    .concat()
}

/// Mistakes in the fields of the plan itself.
fn mistakes_in_plan() -> Vec<Mistake> {
    let long = "x".repeat(129);
    vec![
        ("/steps", None, "P004", "", "steps"),
        ("/stepz", Some(json!([])), "P005", "/stepz", "`steps`"),
        ("/plan_id", Some(json!(1)), "P003", "/plan_id", "found a number"),
        ("/plan_id", Some(json!("")), "P003", "/plan_id", "1 to 128"),
        ("/plan_id", Some(json!(long)), "P003", "/plan_id", "129"),
        ("/plan_id", Some(json!("a\u{0}b")), "P003", "/plan_id", "zero bytes"),
        ("/intent_id", Some(json!("a\nb")), "P003", "/intent_id", "control"),
        ("/on_failure", Some(json!("kepe")), "P003", "/on_failure", "did you mean `keep`"),
        ("/schema_version", Some(json!("2.0")), "P008", "/schema_version", "\"1.0\""),
        ("/schema_version", Some(json!(1)), "P008", "/schema_version", "\"1.0\""),
        ("/steps", Some(json!({})), "P003", "/steps", "an array"),
        ("/steps", Some(json!([])), "P009", "/steps", "at least one"),
        ("/steps", Some(json!(vec![Value::Null; 1001])), "P010", "/steps", "1001"),
        ("/parameters", Some(json!([])), "P003", "/parameters", "a JSON Schema"),
        ("/parameters", Some(json!({ "type": "array" })), "P037", "/parameters/type", "an object"),
        ("/parameters", Some(json!({ "properties": [] })), "P037", "/parameters/properties", "by name"),
        ("/parameters", Some(json!({ "properties": { "": {} } })), "P037", "/parameters/properties/", "the name"),
        ("/$schema", Some(json!(1)), "P003", "/$schema", "found a number"),
    ]
}

/// Mistakes in the identity and the order of steps.
fn mistakes_in_order() -> Vec<Mistake> {
    vec![
        ("/steps/3/step_id", None, "P004", "/steps/3", "step_id"),
        ("/steps/3/name", None, "P004", "/steps/3", "name"),
        ("/steps/0/depend_on", Some(json!([])), "P005", "/steps/0/depend_on", "`depends_on`"),
        ("/steps/0/a~1b", Some(json!([])), "P005", "/steps/0/a~01b", "a~1b"),
        ("/steps/4", Some(json!("x")), "P003", "/steps/4", "a step"),
        ("/steps/3/step_id", Some(json!(7)), "P003", "/steps/3/step_id", "a string"),
        ("/steps/3/step_id", Some(json!("se nd")), "P006", "/steps/3/step_id", "se nd"),
        ("/steps/3/step_id", Some(json!("")), "P006", "/steps/3/step_id", "1 to 64"),
        ("/steps/3/step_id", Some(json!("x".repeat(65))), "P006", "/steps/3/step_id", "1 to 64"),
        ("/steps/3/step_id", Some(json!("s\u{0}")), "P006", "/steps/3/step_id", "\\0"),
        ("/steps/3/step_id", Some(json!("é")), "P006", "/steps/3/step_id", "A-Z"),
        ("/steps/3/step_id", Some(json!("fetch")), "P007", "/steps/3/step_id", "/steps/0"),
        ("/steps/3/kind", Some(json!("opreator")), "P003", "/steps/3/kind", "`operator`"),
        ("/steps/3/name", Some(json!("mail.send")), "P012", "/steps/3/name", "did you mean `Mail.Send`"),
        ("/steps/3/name", Some(json!("Teleport")), "P012", "/steps/3/name", "no loaded plugin"),
        ("/steps/3/name", Some(json!("Mail/Send")), "P003", "/steps/3/name", "without `/`"),
        ("/steps/3/depends_on", Some(json!("draft")), "P003", "/steps/3/depends_on", "an array"),
        ("/steps/3/depends_on/2", Some(json!(1)), "P003", "/steps/3/depends_on/2", "a string"),
        ("/steps/3/depends_on/2", Some(json!("a b")), "P006", "/steps/3/depends_on/2", "a b"),
        ("/steps/3/depends_on/2", Some(json!("fetsh")), "P013", "/steps/3/depends_on/2", "did you mean `fetch`"),
        ("/steps/3/depends_on/2", Some(json!("send")), "P014", "/steps/3/depends_on/2", "itself"),
        ("/steps/3/depends_on/2", Some(json!("sum")), "P025", "/steps/3/depends_on/2", "twice"),
        ("/steps/1/depends_on/1", Some(json!("draft")), "P015", "/steps/2/depends_on", "draft → sum → draft"),
        (
            "/steps/0/depends_on",
            Some(json!(["send"])),
            "P015",
            "/steps/2/depends_on",
            "draft → sum → fetch → send → draft",
        ),
    ]
}

/// Mistakes in the declarations of a step: effects, tags, gate, reuse and outcome.
fn mistakes_in_declarations() -> Vec<Mistake> {
    vec![
        ("/steps/2/outcome/type", None, "P004", "/steps/2/outcome", "type"),
        ("/steps/1/reuse/plugin", None, "P004", "/steps/1/reuse", "plugin"),
        ("/steps/0/cache_policy", Some(json!({})), "P004", "/steps/0/cache_policy", "ttl_seconds"),
        ("/steps/2/outcome/sensitivty", Some(json!("x")), "P005", "/steps/2/outcome/sensitivty", "`sensitivity`"),
        ("/steps/3/effects", Some(json!("external_send")), "P003", "/steps/3/effects", "an array"),
        (
            "/steps/3/effects/2",
            Some(json!("external-send")),
            "P003",
            "/steps/3/effects/2",
            "did you mean `external_send`",
        ),
        ("/steps/3/effects/2", Some(json!("read_only")), "P025", "/steps/3/effects/2", "twice"),
        ("/steps/3/effects", Some(json!(["read_only"])), "P019", "/steps/3/effects", "`external_send`"),
        ("/steps/3/effects", Some(json!(["external_send"])), "P019", "/steps/3/effects", "`read_only`"),
        (
            "/steps/3/effects",
            Some(json!(["external_write", "read_only"])),
            "P019",
            "/steps/3/effects",
            "`external_send`",
        ),
        ("/steps/3/policy_tags", Some(json!({})), "P003", "/steps/3/policy_tags", "an array"),
        ("/steps/3/policy_tags/0", Some(json!("")), "P003", "/steps/3/policy_tags/0", "1 to"),
        ("/steps/2/policy_tags/0", Some(json!("a")), "P025", "/steps/2/policy_tags/1", "twice"),
        ("/steps/3/gate", Some(json!("human-confirm")), "P003", "/steps/3/gate", "did you mean `human_confirm`"),
        ("/steps/3/cache_policy", Some(json!("always")), "P003", "/steps/3/cache_policy", "`use_if_safe`"),
        ("/steps/3/cache_policy", Some(json!(60)), "P003", "/steps/3/cache_policy", "ttl_seconds"),
        ("/steps/0/cache_policy/ttl_seconds", Some(json!(0)), "P003", "/steps/0/cache_policy/ttl_seconds", "1 to"),
        (
            "/steps/0/cache_policy/ttl_seconds",
            Some(json!(1.5)),
            "P003",
            "/steps/0/cache_policy/ttl_seconds",
            "found 1.5",
        ),
        ("/steps/0/cache_policy", Some(json!("use_if_safe")), "P022", "/steps/0/cache_policy", "external"),
        (
            "/steps/3/effects",
            None,
            "P019",
            "/steps/3/effects",
            "add \"effects\": [\"read_only\", \"external_send\"] to step send",
        ),
        ("/steps/2/outcome", Some(json!("x")), "P003", "/steps/2/outcome", "an object"),
        ("/steps/2/outcome/status", Some(json!("done")), "P003", "/steps/2/outcome/status", "`final`"),
        ("/steps/1/time_sensitive", Some(json!("yes")), "P003", "/steps/1/time_sensitive", "true or false"),
        ("/steps/1/reuse/plugin", Some(json!("1.2")), "P026", "/steps/1/reuse/plugin", ">=1.2"),
        ("/steps/1/reuse/plugin", Some(json!(">=1.2,")), "P026", "/steps/1/reuse/plugin", ">=1.2"),
        ("/steps/1/reuse/plugin", Some(json!(">=1.2.3.4")), "P026", "/steps/1/reuse/plugin", ">=1.2"),
        ("/steps/1/reuse/plugin", Some(json!(">=+1")), "P026", "/steps/1/reuse/plugin", ">=1.2"),
    ]
}

/// Mistakes in the retries, the timeout and the compensation of a step.
fn mistakes_in_execution() -> Vec<Mistake> {
    vec![
        ("/steps/0/retry/attempts", Some(json!(1)), "P005", "/steps/0/retry/attempts", "attempts"),
        ("/steps/0/retry/max", Some(json!(101)), "P003", "/steps/0/retry/max", "0 to 100"),
        ("/steps/0/retry/max", Some(json!(-1)), "P003", "/steps/0/retry/max", "found -1"),
        ("/steps/0/retry/cap_ms", Some(json!("1s")), "P003", "/steps/0/retry/cap_ms", "a string"),
        ("/steps/0/timeout", Some(json!(30)), "P003", "/steps/0/timeout", "a string"),
        ("/steps/0/timeout", Some(json!("30")), "P024", "/steps/0/timeout", "\"30s\""),
        ("/steps/0/timeout", Some(json!("0s")), "P024", "/steps/0/timeout", "\"30s\""),
        ("/steps/0/timeout", Some(json!("25h")), "P024", "/steps/0/timeout", "24h"),
        ("/steps/3/compensate_with", Some(json!("Mail.Recal")), "P023", "/steps/3/compensate_with", "`Mail.Recall`"),
        ("/steps/3/compensate_with", Some(json!("Text.Summarize")), "P023", "/steps/3/compensate_with", "step plugin"),
        ("/steps/2/compensate_with", Some(json!("self")), "P023", "/steps/2/compensate_with", "step plugin"),
        (
            "/steps/3/compensate_with",
            Some(json!("self")),
            "P035",
            "/steps/3/compensate_with",
            "exports no `compensate`",
        ),
        ("/steps/3/compensate_with", Some(json!("Web.Fetch")), "P035", "/steps/3/compensate_with", "undoes nothing"),
        (
            "/steps/3/compensate_with",
            Some(json!("Record.Restore")),
            "P034",
            "/steps/3/compensate_with",
            "`internal_write`",
        ),
        ("/steps/3/compensate_with", Some(json!(true)), "P003", "/steps/3/compensate_with", "a string"),
    ]
}

/// Mistakes in payloads, hashes and templates of keys.
fn mistakes_in_bindings() -> Vec<Mistake> {
    vec![
        ("/steps/3/idempotency_template", Some(json!("")), "P003", "/steps/3/idempotency_template", "1 to"),
        ("/steps/3/idempotency_template", Some(json!(7)), "P003", "/steps/3/idempotency_template", "found a number"),
        ("/steps/0/idempotency_template", None, "P036", "/steps/0/cache_policy", "`idempotency_template`"),
        ("/steps/0/idempotency_template", Some(json!(null)), "P036", "/steps/0/cache_policy", "`idempotency_template`"),
        ("/steps/0/payload/x", Some(json!({ "$ref": "intent#/x" })), "P017", "/steps/0/payload/x", "declares no"),
        ("/steps/3/idempotency_template", Some(json!("a{to")), "P020", "/steps/3/idempotency_template", "without `}`"),
        ("/steps/3/idempotency_template", Some(json!("{}")), "P020", "/steps/3/idempotency_template", "empty"),
        (
            "/steps/3/idempotency_template",
            Some(json!("{draaft}")),
            "P021",
            "/steps/3/idempotency_template",
            "did you mean `draft`",
        ),
        // The payload of `sum` is a binding, so its fields are unknown.
        ("/steps/1/idempotency_template", Some(json!("{$ref}")), "P021", "/steps/1/idempotency_template", "{$ref}"),
        ("/steps/3/hashes", Some(json!([])), "P003", "/steps/3/hashes", "an object"),
        ("/steps/1/hashes/a}", Some(json!(1)), "P003", "/steps/1/hashes/a}", "braces"),
        ("/steps/1/hashes/v", Some(json!({ "$ref": "fetch" })), "P016", "/steps/1/hashes/v", "no `#`"),
        ("/steps/1/hashes/v", Some(json!([{ "$ref": "draft#" }])), "P018", "/steps/1/hashes/v/0", "depends_on"),
        ("/steps/3/payload/x", Some(json!([{ "$ref": "sum/x" }])), "P016", "/steps/3/payload/x/0", "no `#`"),
        ("/steps/3/payload/x", Some(json!({ "$outcome": 1 })), "P016", "/steps/3/payload/x", "a string"),
        ("/steps/3/payload/x", Some(json!({ "$ref": "sum#", "or": 1 })), "P016", "/steps/3/payload/x", "any other key"),
        (
            "/steps/3/payload/x",
            Some(json!({ "$outcome": "drft" })),
            "P017",
            "/steps/3/payload/x",
            "did you mean `draft`",
        ),
        ("/steps/3/payload/x", Some(json!({ "$ref": "send#" })), "P018", "/steps/3/payload/x", "itself"),
        ("/steps/0/payload/x", Some(json!({ "$ref": "send#" })), "P015", "/steps/2/depends_on", "fetch → send"),
        ("/steps/1/hashes/v", Some(json!({ "$context": "cv" })), "P027", "/steps/1/hashes/v", "has no contexts"),
        ("/steps/1/hashes/v", Some(json!({ "$context": 7 })), "P027", "/steps/1/hashes/v", "nothing else"),
    ]
}
