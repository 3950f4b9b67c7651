//! Data that a tool gets with its call.

use serde_json::json;

use latchwork_core::model::manifest::{PluginKind, RecoveryClass};
use latchwork_engine::capability::grants::Grants;

use crate::plugins::hostile::captured_log::CapturedLog;
use crate::plugins::hostile::load;
use crate::plugins::hostile::tool::{answers_of, error_of, minimal_grants, tool_limits};

#[tokio::test]
async fn tool_reads_its_call_context_config_and_key_value_map() {
    let grants = Grants { kv: Some("mine".into()), ..minimal_grants() };
    let plugin = load("hostile-tool", grants, tool_limits()).unwrap();
    assert_eq!(plugin.kind, PluginKind::Tool);
    assert!(plugin.reconcile && plugin.verify && plugin.compensate);
    assert_eq!(plugin.class("World.Change"), RecoveryClass::Queryable);
    assert_eq!(plugin.class("World.Look"), RecoveryClass::Read);
    let log = CapturedLog::capture();
    let script = json!([
        "context", {"config": "from"}, {"config": "none"},
        {"kv-get": {"key": "k"}}, {"kv-set": {"key": "k", "value": "v"}}, {"kv-get": {"key": "k"}},
        {"kv-set": {"key": "k".repeat(257), "value": ""}},
        {"print": {"text": "a line"}},
    ]);
    let answers = answers_of(&plugin, "World.Change", script).await;
    assert_eq!(answers[0], json!(["job_1", "s6", "latch:job_1:s6:1", 2, 1, 20_000]));
    assert_eq!(answers[1..6], [json!("\"me@example.org\""), json!(null), json!(null), json!(true), json!("v")]);
    assert!(error_of(&answers[6]).contains("TooLarge"));
    assert_eq!(log.text().matches(" plugin: a line").count(), 2, "stdout and log: {}", log.text());
}
