//! Operators of tools that declare `pure`: waits are clocks.

use std::time::Duration;

use serde_json::json;

use latchwork_core::model::error::Code;
use latchwork_engine::capability::grants::Grants;

use crate::plugins::hostile::load;
use crate::plugins::hostile::tool::{
    answers_of, http_grant, invoke_script, minimal_grants, tool_limits, unwrap_not_applied,
};
use crate::support::servers::http::TestServer;

/// I240: a timer is refused to a pure operator, and to no other.
#[tokio::test]
async fn timer_of_a_pure_operator_is_refused() {
    let plugin = load("hostile-tool", minimal_grants(), tool_limits()).unwrap();
    let script = || json!([{ "sleep": 1 }]);
    assert_eq!(answers_of(&plugin, "World.Look", script()).await, [json!(true)]);
    let failure = unwrap_not_applied(invoke_script(&plugin, "World.Pure", script()).await);
    assert_eq!(failure.code, Code::CapabilityDenied, "{failure}");
    assert!(failure.message.contains("wasi:clocks/monotonic-clock#subscribe-duration"), "{failure}");
}

/// I240: a pure operator cannot see which of two things ends first. A question whether something is ready waits for it.
#[tokio::test]
async fn readiness_tells_a_pure_operator_no_time() {
    let server = TestServer::start().with_delay(Duration::from_millis(300));
    let grants = Grants { http: vec![http_grant("127.0.0.1", server.port)], ..minimal_grants() };
    let plugin = load("hostile-tool", grants, tool_limits()).unwrap();
    let script = || json!([{ "ready": { "url": server.url("/slow") } }]);
    assert_eq!(answers_of(&plugin, "World.Look", script()).await, [json!(false)]);
    assert_eq!(answers_of(&plugin, "World.Pure", script()).await, [json!(true)]);
}
