//! Compares the schema of requests with their parser.

use serde_json::{Value, json};

use latchwork_core::model::manifest::{Determinism, PluginKind};
use latchwork_core::plan::{Catalog, OperatorInfo, check_request};

use crate::schemas::tests::{Document, agree};

struct Any;

impl Catalog for Any {
    fn operator(&self, _name: &str) -> Option<OperatorInfo> {
        Some(OperatorInfo { effects: vec![], determinism: Determinism::Pure, kind: PluginKind::Tool, compensate: true })
    }

    fn names(&self) -> Vec<String> {
        vec![]
    }

    fn knows_operators(&self) -> bool {
        false
    }
}

fn accepts(request: &Value) -> Result<(), String> {
    match check_request(request.to_string().as_bytes(), &Any) {
        // A bare plan counts as refused, because the schema of requests does not describe bare plans. The parser
        // accepts a text without the keys `intent` and `plan` as a bare plan.
        Ok(read) if read.intent.is_none() => Err("a bare plan".to_owned()),
        Ok(_) => Ok(()),
        Err(violations) => Err(violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
    }
}

/// I151: schema and parser accept the same requests. The structure of the plan itself is compared in the test
/// of the plan's schema.
#[test]
fn schema_and_parser_agree() {
    let plan = json!({ "plan_id": "p", "schema_version": "1.0", "steps": [{
        "step_id": "a", "kind": "operator", "name": "A.B", "payload": {}, "effects": ["read_only"], "policy_tags": [],
        "cache_policy": "never", "idempotency_template": "a",
    }] });
    let request = json!({
        "$schema": "request.schema.json",
        "intent": { "type": "outreach", "payload": { "professor": 910 }, "contexts": [{ "name": "cv", "text": "…" }] },
        "plan": plan, "mode": "DRY_RUN", "request_id": "r", "priority": -5,
    });
    agree(Document::Request, &request, &[], accepts);
}
