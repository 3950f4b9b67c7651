//! Misbehaving tools.

mod context;
mod grants;
mod handles;
mod lack;
mod log;
mod maps;
mod outcome;
mod pure;
mod secrets;
mod timeout;
mod write_quota;

use serde_json::{Value, json};

use latchwork_core::model::effect::Answer;
use latchwork_core::model::error::Failure;
use latchwork_core::model::manifest::Determinism;
use latchwork_engine::capability::grants::{Grants, HttpGrant, Method, Origin, TcpGrant};
use latchwork_engine::capability::settings::LimitsConfig;
use latchwork_engine::guest::permissions::{CallPermissions, EffectClass};
use latchwork_engine::guest::sources::StepContext;
use latchwork_engine::guest::tool_call::ToolCallContext;
use latchwork_engine::os::clock;
use latchwork_engine::{Plugin, ToolEnd};

use crate::plugins::hostile::http_server::Server;

/// Tenant of every call.
const TENANT: &str = "acme";

fn tool_limits() -> LimitsConfig {
    LimitsConfig {
        memory_bytes: Some(16 << 20),
        fuel: Some(400_000_000),
        timeout_ms: None,
        output_bytes: Some(256 << 10),
        host_calls: Some(1_000),
        component_bytes: None,
    }
}

/// Minimal grants. The tool imports HTTP and sockets, so it loads only with a grant for each.
fn minimal_grants() -> Grants {
    Grants { http: vec![http_grant("127.0.0.1", 1)], tcp: vec![tcp_grant("127.0.0.1", 1)], ..Grants::default() }
}

/// Returns the grant of an address alone: `GET` and `HEAD`.
fn http_grant(host: &str, port: u16) -> HttpGrant {
    HttpGrant::read_only(Origin { scheme: "http".into(), host: host.into(), port })
}

fn tcp_grant(host: &str, port: u16) -> TcpGrant {
    TcpGrant { host: host.into(), port }
}

fn grants_for(server: &Server) -> Grants {
    Grants { http: vec![http_grant("127.0.0.1", server.port)], ..minimal_grants() }
}

/// Returns grants for the server that include `POST`.
fn post_grants_for(server: &Server) -> Grants {
    let methods = vec![Method::GET, Method::HEAD, Method::POST];
    let grant = HttpGrant { methods, is_address_only: false, ..http_grant("127.0.0.1", server.port) };
    Grants { http: vec![grant], ..minimal_grants() }
}

/// Returns the context of a call of an operator with external effects.
fn call_context(timeout_ms: u32) -> ToolCallContext {
    ToolCallContext {
        step: StepContext { tenant: TENANT.into(), job_id: "job_1".into(), ..StepContext::default() },
        trace_id: "t".into(),
        slot: "s6".into(),
        external_key: "latch:job_1:s6:1".into(),
        attempt: 2,
        tries_before: 1,
        timeout_ms,
        started_boot_us: clock::boot_us(),
        permissions: CallPermissions { class: EffectClass::External, ..CallPermissions::READ_ONLY },
    }
}

async fn invoke_script(plugin: &Plugin, operator: &str, script: Value) -> ToolEnd {
    invoke_script_in(plugin, operator, script, call_context(20_000)).await
}

async fn invoke_script_in(plugin: &Plugin, operator: &str, script: Value, call: ToolCallContext) -> ToolEnd {
    let args = json!({ "do": script }).to_string();
    let spec = plugin.operator(operator).expect("an operator of the plugin");
    let permissions = CallPermissions {
        class: EffectClass::of(&spec.effects),
        is_stable: spec.determinism == Determinism::Stable,
        is_pure: spec.determinism == Determinism::Pure,
        ..call.permissions
    };
    plugin.invoke(operator, &args, ToolCallContext { permissions, ..call }, &plugin.limits(operator)).await
}

/// Returns the answers of the script's actions.
async fn answers_of(plugin: &Plugin, operator: &str, script: Value) -> Vec<Value> {
    match invoke_script(plugin, operator, script).await.answer {
        Answer::Ok(output) => serde_json::from_str(&output.result).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn error_of(answer: &Value) -> &str {
    answer["error"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn unwrap_unknown(end: ToolEnd) -> (Failure, Option<String>) {
    match end.answer {
        Answer::Unknown { failure, kept } => (failure, kept),
        other => panic!("{other:?}"),
    }
}

fn unwrap_not_applied(end: ToolEnd) -> Failure {
    match end.answer {
        Answer::NotApplied(failure) => failure,
        other => panic!("{other:?}"),
    }
}
