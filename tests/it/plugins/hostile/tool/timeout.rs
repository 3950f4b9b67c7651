//! Timeouts of calls.

use std::time::Duration;

use serde_json::json;

use latchwork_core::model::error::Code;
use latchwork_engine::capability::grants::{DirGrant, Grants};
use latchwork_engine::guest::tool_call::ToolCallContext;
use latchwork_engine::os::clock;

use crate::plugins::hostile::http_server::Server;
use crate::plugins::hostile::load;
use crate::plugins::hostile::tool::{
    call_context, invoke_script_in, post_grants_for, tool_limits, unwrap_not_applied, unwrap_unknown,
};

/// I175.
#[tokio::test]
async fn call_ends_at_its_timeout() {
    let server = Server::start().await;
    let plugin = load("hostile-tool", post_grants_for(&server), tool_limits()).unwrap();
    let began_us = clock::boot_us();
    let failure = unwrap_not_applied(
        invoke_script_in(&plugin, "World.Change", json!([{"sleep": 3_600_000}]), call_context(200)).await,
    );
    assert_eq!(failure.code, Code::WallClockLimit, "{failure}");
    assert!(clock::boot_us() - began_us < 600_000_000, "long before the sleep ends");

    // The server never answers. The request has begun, and its connection is closed immediately at the
    // timeout.
    let script = json!([{"http": {"method": "POST", "url": server.url("/never"), "body": ["x"]}}]);
    let (failure, _) = unwrap_unknown(invoke_script_in(&plugin, "World.Change", script, call_context(5_000)).await);
    assert_eq!(failure.code, Code::WallClockLimit, "{failure}");
    tokio::time::timeout(Duration::from_secs(60), server.client_hung_up()).await.expect("the connection was closed");
}

/// After the timeout of a call, each host call refuses to begin an operation. A guest can still run after its timeout,
/// for example if the machine was suspended.
#[tokio::test]
async fn no_operation_begins_after_the_timeout() {
    let server = Server::start().await;
    let dir = tempfile::tempdir().unwrap();
    let grants = Grants {
        kv: Some("m".into()),
        dirs: vec![DirGrant { host: dir.path().to_owned(), guest: "/d".into(), write: true }],
        ..post_grants_for(&server)
    };
    let plugin = load("hostile-tool", grants, tool_limits()).unwrap();
    for action in [
        json!({"write": {"path": "/d/new", "text": "x"}}),
        json!({"http": {"method": "POST", "url": server.url("/echo"), "body": ["x"]}}),
        json!({"kv-set": {"key": "k", "value": "v"}}),
    ] {
        let late = ToolCallContext { started_boot_us: clock::boot_us() - 1_000_000, ..call_context(1_000) };
        let failure = unwrap_not_applied(invoke_script_in(&plugin, "World.Change", json!([action]), late).await);
        assert_eq!(failure.code, Code::WallClockLimit, "{failure}");
    }
    assert!(!dir.path().join("new").exists());
    assert!(server.requests().is_empty());
}
