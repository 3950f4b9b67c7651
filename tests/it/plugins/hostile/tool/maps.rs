//! Key-value map of a tool: its tenant and its quota.

use serde_json::{Value, json};

use latchwork_core::model::bounds;
use latchwork_core::model::effect::Answer;
use latchwork_core::model::error::Code;
use latchwork_engine::Plugin;
use latchwork_engine::capability::grants::{Grants, KvGrant};
use latchwork_engine::guest::sources::StepContext;
use latchwork_engine::guest::tool_call::ToolCallContext;

use crate::plugins::hostile::captured_log::CapturedLog;
use crate::plugins::hostile::load;
use crate::plugins::hostile::tool::{
    answers_of, call_context, error_of, invoke_script, invoke_script_in, minimal_grants, tool_limits,
    unwrap_not_applied, unwrap_unknown,
};

fn load_with_map(grant: KvGrant) -> std::sync::Arc<Plugin> {
    load("hostile-tool", Grants { kv: Some(grant), ..minimal_grants() }, tool_limits()).unwrap()
}

fn set(key: &str, bytes: usize) -> Value {
    json!({ "kv-set": { "key": key, "value": "v".repeat(bytes) } })
}

fn get(key: &str) -> Value {
    json!({ "kv-get": { "key": key } })
}

/// Returns the answers of a script in a call of this tenant.
async fn answers_for(plugin: &Plugin, tenant: &str, script: Value) -> Vec<Value> {
    let call = call_context(20_000);
    let step = StepContext { tenant: tenant.to_owned(), ..call.step.clone() };
    match invoke_script_in(plugin, "World.Keep", script, ToolCallContext { step, ..call }).await.answer {
        Answer::Ok(output) => serde_json::from_str(&output.result).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// I232: only the tenant of the call selects the map. The guest cannot select it.
#[tokio::test]
async fn each_tenant_has_a_map_of_its_own() {
    let own = load_with_map(KvGrant::named("m"));
    assert_eq!(answers_for(&own, "acme", json!([set("k", 1)])).await, [json!(true)]);
    assert_eq!(answers_for(&own, "umbrella", json!([get("k"), { "kv-delete": { "key": "k" } }])).await[0], json!(null));
    assert_eq!(answers_for(&own, "acme", json!([get("k")])).await, [json!("v")]);
    // A call without a tenant reaches no map, not even the map that all tenants share.
    for answer in answers_for(&own, "", json!([get("k"), set("k", 1), { "kv-delete": { "key": "k" } }])).await {
        assert!(answer.to_string().contains("belongs to no tenant"), "{answer}");
    }
    let shared = load_with_map(KvGrant { is_shared: true, ..KvGrant::named("m") });
    assert_eq!(answers_for(&shared, "acme", json!([set("k", 1)])).await, [json!(true)]);
    assert_eq!(answers_for(&shared, "umbrella", json!([get("k")])).await, [json!("v")]);
}

/// I225, I233: bound `kv_map_bytes`. The map has room up to its last byte.
#[tokio::test]
async fn map_is_full_at_its_last_byte() {
    let plugin = load_with_map(KvGrant::named("m"));
    let entry = "k0000".len() + bounds::KV_VALUE_BYTES + bounds::KV_ENTRY_BYTES;
    let (entries, left) = (bounds::KV_MAP_BYTES / entry, bounds::KV_MAP_BYTES % entry);
    let fill = json!({ "kv-fill": { "bytes": bounds::KV_VALUE_BYTES, "count": entries + 5 } });
    let value = left - "last".len() - bounds::KV_ENTRY_BYTES;
    let script = json!([fill, set("last", value + 1), get("last"), set("last", value), set("x", 0)]);
    let answers = answers_of(&plugin, "World.Keep", script).await;
    assert_eq!(answers[0]["made"], json!(entries), "{answers:?}");
    assert!(error_of(&answers[1]).contains("beyond its limit of 16777216 bytes"), "{}", answers[1]);
    assert_eq!(answers[2..4], [json!(null), json!(true)]);
    assert!(error_of(&answers[4]).contains("from 16777216 to 16777281 bytes"), "{}", answers[4]);
}

/// I234: the error and the log record of a refused write name the limit and a grant that allows the write. The refused
/// write does not count as an outgoing operation.
#[tokio::test]
async fn write_beyond_the_quota_begins_nothing_and_names_the_grant() {
    let plugin = load_with_map(KvGrant { bytes: 1_000, ..KvGrant::named("m") });
    let log = CapturedLog::capture();
    let answers = answers_of(&plugin, "World.Keep", json!([set("k", 936), get("k")])).await;
    let message = error_of(&answers[0]);
    for part in [
        "Unavailable",
        "wanted to grow its map \\\"m\\\" from 0 to 1001 bytes, beyond its limit of 1000 bytes",
        "latch.toml would allow it with: grants = {",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(answers[1], json!(null));
    let line = r#"kv = { name = "m", bytes = "1MiB" } }"#;
    assert!(log.text().contains(line), "{}", log.text());
    let end = invoke_script(&plugin, "World.Keep", json!([set("k", 936), "trap"])).await;
    let failure = unwrap_not_applied(end);
    assert_eq!(failure.code, Code::CapabilityDenied);
    assert!(failure.message.contains(line), "{failure}");
    let end = invoke_script(&plugin, "World.Keep", json!([set("k", 935), set("l", 936), "trap"])).await;
    assert_eq!(unwrap_unknown(end).0.code, Code::CapabilityDenied, "the first write was done");
}
