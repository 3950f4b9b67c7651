//! Compares the schema of `cases.jsonl` with the parsers for cases of steps and cases of tools.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::check::{ANSWER, parse, tools};
use crate::schemas::tests::{Document, agree};

fn accepts(case: &Value) -> Result<(), String> {
    let line = case.to_string();
    let step = parse("cases.jsonl", line.as_bytes()).map(drop);
    let tool = tools::parse(line.as_bytes()).map(drop);
    step.or(tool).map_err(|wrong| wrong.iter().map(|wrong| wrong.message.clone()).collect::<Vec<_>>().join("; "))
}

/// I151: schema and parser accept the same cases of steps.
#[test]
fn schema_and_parser_agree_on_steps() {
    let step = json!({
        "$schema": "cases.schema.json", "name": "n", "operator": "A.B", "input": { "a": 1 }, "error": "INVALID_INPUT",
        "answers": [
            { "operator": "T.U", "args": {}, "determinism": "stable", "effects": ["external_send"], "result": [1] },
            { "error": { "code": "RATE_LIMIT", "message": "m", "detail": {}, "retry_after_ms": 5 } },
        ],
    });
    agree(Document::Cases, &step, &[], accepts);
    let schema: Value = serde_json::from_str(&Document::Cases.text()).unwrap();
    let of_schema: BTreeSet<&str> =
        schema["$defs"]["answer"]["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(of_schema, BTreeSet::from(ANSWER));
}

/// I151: schema and parser accept the same cases of tools.
#[test]
fn schema_and_parser_agree_on_tools() {
    let tool = json!({
        "$schema": "cases.schema.json", "name": "n", "operator": "A.B", "input": { "a": 1 }, "error": "INVALID_INPUT",
        "http": [{
            "match": { "method": "GET", "url": "https://a.example/x", "happened": true },
            "response": { "status": 200, "headers": { "a": "b" }, "body": { "a": 1 } },
        }],
        "dirs": { "/data": { "a/b.txt": "text" } }, "config": { "k": 1 }, "secrets": { "TOKEN": "s" },
        "secrets_clear": true, "kv": { "k": "v" },
    });
    agree(Document::Cases, &tool, &[], accepts);
}
