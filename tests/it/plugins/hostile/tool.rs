//! Misbehaving tools: their grants, and the outcome of a call that did not answer.

use std::time::Duration;

use serde_json::{Value, json};

use latchwork_core::model::effect::{Answer, StateChange};
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::manifest::{PluginKind, RecoveryClass};
use latchwork_engine::capability::grants::{DirGrant, Grants, HttpGrant, TcpGrant};
use latchwork_engine::capability::settings::LimitsConfig;
use latchwork_engine::guest::sources::StepContext;
use latchwork_engine::guest::tool_call::ToolCallContext;
use latchwork_engine::os::clock;
use latchwork_engine::{Plugin, ReconcileVerdict, ToolEnd, VerifyResult};

use crate::plugins::hostile::captured_log::CapturedLog;
use crate::plugins::hostile::http_server::Server;
use crate::plugins::hostile::load;
use crate::support::plugins::built_guests;
use crate::support::plugins::engine::{engine, settings};

fn tool_limits() -> LimitsConfig {
    LimitsConfig {
        memory_bytes: Some(16 << 20),
        fuel: Some(400_000_000),
        timeout_ms: None,
        output_bytes: Some(256 << 10),
        host_calls: Some(1_000),
    }
}

/// Minimal grants. The tool imports HTTP and sockets, so it loads only with a grant for each.
fn minimal_grants() -> Grants {
    Grants { http: vec![http_grant("127.0.0.1", 1)], tcp: vec![tcp_grant("127.0.0.1", 1)], ..Grants::default() }
}

fn http_grant(host: &str, port: u16) -> HttpGrant {
    HttpGrant { scheme: "http".into(), host: host.into(), port }
}

fn tcp_grant(host: &str, port: u16) -> TcpGrant {
    TcpGrant { host: host.into(), port }
}

fn grants_for(server: &Server) -> Grants {
    Grants { http: vec![http_grant("127.0.0.1", server.port)], ..minimal_grants() }
}

fn call_context(timeout_ms: u32) -> ToolCallContext {
    ToolCallContext {
        step: StepContext { job_id: "job_1".into(), ..StepContext::default() },
        trace_id: "t".into(),
        slot: "s6".into(),
        external_key: "latch:job_1:s6:1".into(),
        attempt: 2,
        tries_before: 1,
        timeout_ms,
        started_boot_us: clock::boot_us(),
    }
}

async fn invoke_script(plugin: &Plugin, operator: &str, script: Value) -> ToolEnd {
    invoke_script_in(plugin, operator, script, call_context(20_000)).await
}

async fn invoke_script_in(plugin: &Plugin, operator: &str, script: Value, call: ToolCallContext) -> ToolEnd {
    let args = json!({ "do": script }).to_string();
    plugin.invoke(operator, &args, call, &plugin.limits(operator)).await
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
    let said = answers_of(&plugin, "World.Change", script).await;
    assert_eq!(said[0], json!(["job_1", "s6", "latch:job_1:s6:1", 2, 1, 20_000]));
    assert_eq!(said[1..6], [json!("\"me@example.org\""), json!(null), json!(null), json!(true), json!("v")]);
    assert!(error_of(&said[6]).contains("TooLarge"));
    assert_eq!(log.text().matches(" plugin: a line").count(), 2, "stdout and log: {}", log.text());
}

/// I10.
#[test]
fn imports_need_grants() {
    let error = load("hostile-tool", Grants::default(), tool_limits()).unwrap_err().to_string();
    for line in ["wasi:http/outgoing-handler", "grants = { http = [", "wasi:sockets/tcp@", "grants = { tcp = ["] {
        assert!(error.contains(line), "{line} in {error}");
    }
    assert!(!error.contains("wasi:clocks") && !error.contains("wasi:filesystem"), "{error}");
}

/// I163: if a tool faults before it began an outgoing operation, its call was certainly not applied. If the
/// tool faults after it began one, the call is in doubt. An exception that the operator does not handle is a
/// fault.
#[tokio::test]
async fn fault_after_an_outgoing_operation_leaves_the_call_in_doubt() {
    let server = Server::start().await;
    let plugin = load("hostile-tool", grants_for(&server), tool_limits()).unwrap();
    let post = json!({"http": {"method": "POST", "url": server.url("/echo"), "body": ["x"]}});
    let faults = [
        (json!("trap"), Code::PluginTrap, None),
        (json!("exception"), Code::PluginException, None),
        (json!("denied"), Code::CapabilityDenied, None),
        (json!("spin"), Code::OutOfFuel, None),
        (json!("allocate"), Code::MemoryLimit, None),
        (json!({"giant": 300_000}), Code::OutputLimit, Some(65_536)),
        (json!("malformed"), Code::SchemaValidationFailed, Some(3)),
        (json!("schema"), Code::SchemaValidationFailed, Some(2)),
    ];
    for (fault, code, kept_bytes) in faults {
        let failure = unwrap_not_applied(invoke_script(&plugin, "World.Change", json!([fault])).await);
        assert_eq!(failure.code, code, "{failure}");
        let (failure, kept) = unwrap_unknown(invoke_script(&plugin, "World.Change", json!([post, fault])).await);
        assert_eq!(failure.code, code, "{failure}");
        assert_eq!(kept.map(|kept| kept.len()), kept_bytes, "{failure}");
    }
    // A refused request does not count as an outgoing operation.
    let refused = json!({"http": {"url": "http://127.0.0.1:9/"}});
    assert_eq!(
        unwrap_not_applied(invoke_script(&plugin, "World.Change", json!([refused, "trap"])).await).code,
        Code::CapabilityDenied
    );
    // If an operation began before a refused request, the call is in doubt.
    let (failure, _) =
        unwrap_unknown(invoke_script(&plugin, "World.Change", json!([post, refused, "exception"])).await);
    assert_eq!(failure.code, Code::CapabilityDenied, "{failure}");
    for said in ["grants = { http = [", "127.0.0.1:9", "KeyError"] {
        assert!(failure.message.contains(said), "{said}: {failure}");
    }
    // If the tool itself states whether the call was applied, its statement counts, and not the operations
    // that the host has seen.
    let end = invoke_script(&plugin, "World.Change", json!([post, {"error": "no"}])).await;
    assert_eq!(
        (unwrap_not_applied(end.clone()).code, unwrap_not_applied(end).retry_after_ms),
        (Code::RateLimit, Some(7))
    );
    assert_eq!(
        unwrap_unknown(invoke_script(&plugin, "World.Change", json!([{"error": "unknown"}])).await).0.code,
        Code::RateLimit
    );
    assert_eq!(answers_of(&plugin, "World.Change", json!([post])).await[0]["body"], "x");
}

/// I163: if the tool reports no error code of its own, the error names the granted host that is unreachable,
/// and is retryable.
#[tokio::test]
async fn unreachable_granted_host_is_named_in_the_error() {
    let nowhere = HttpGrant { scheme: "http".into(), host: "nowhere.invalid".into(), port: 80 };
    let grants = Grants { http: vec![nowhere, http_grant("127.0.0.1", 1)], ..minimal_grants() };
    let plugin = load("hostile-tool", grants, tool_limits()).unwrap();
    // The name does not resolve, so no operation began.
    let asks = json!({"http": {"url": "http://nowhere.invalid/"}});
    let failure = unwrap_not_applied(invoke_script(&plugin, "World.Change", json!([asks, "exception"])).await);
    assert_eq!(failure.code, Code::NetworkUnavailable, "{failure}");
    assert!(failure.message.contains("nowhere.invalid:80") && failure.code.is_retryable(), "{failure}");
    // The server may have noticed the connection attempt, so the call is in doubt.
    let asks = json!({"http": {"url": "http://127.0.0.1:1/"}});
    let (failure, _) = unwrap_unknown(invoke_script(&plugin, "World.Change", json!([asks, "exception"])).await);
    assert_eq!(failure.code, Code::NetworkUnavailable, "{failure}");
    // A tool may handle the error and answer without the server. Its call then succeeds.
    assert_eq!(answers_of(&plugin, "World.Change", json!([asks])).await.len(), 1);
}

/// I12.
#[tokio::test]
async fn private_address_is_reachable_only_by_a_grant_that_names_it() {
    let server = Server::start().await;
    let get = json!([{"http": {"url": format!("http://localhost:{}/echo", server.port)}}]);
    let by_name = Grants { http: vec![http_grant("localhost", server.port)], ..minimal_grants() };
    let plugin = load("hostile-tool", by_name.clone(), tool_limits()).unwrap();
    let log = CapturedLog::capture();
    let said = answers_of(&plugin, "World.Look", get.clone()).await;
    assert!(error_of(&said[0]).contains("DestinationIpProhibited"), "{said:?}");
    // The log line may name either of these two addresses of `localhost`.
    let line =
        |address: &str| format!("grants = {{ http = [\"http://localhost:{0}\", \"http://{address}:{0}\"]", server.port);
    let text = log.text();
    assert!(text.contains(&line("127.0.0.1")) || text.contains(&line("[::1]")), "{text}");
    assert!(server.requests().is_empty());

    let by_address =
        Grants { http: vec![http_grant("localhost", server.port), http_grant("127.0.0.1", server.port)], ..by_name };
    let plugin = load("hostile-tool", by_address, tool_limits()).unwrap();
    assert_eq!(answers_of(&plugin, "World.Look", get).await[0]["status"], 200);
}

#[tokio::test]
async fn denied_request_is_logged_with_the_grant_that_would_allow_it() {
    let server = Server::start().await;
    let plugin = load("hostile-tool", grants_for(&server), tool_limits()).unwrap();
    let log = CapturedLog::capture();
    let script = json!([
        {"http": {"url": "https://api.example.com/"}},
        {"http": {"url": format!("http://127.0.0.1:{}@127.0.0.1:1/", server.port)}},
        {"secret": "OTHER"},
        {"kv-get": {"key": "k"}},
        {"tcp": {"host": "127.0.0.1", "port": server.port, "text": "x"}},
        {"tcp": {"host": "smtp.example.com", "port": 587, "text": "x"}},
    ]);
    let said = answers_of(&plugin, "World.Change", script).await;
    assert!(error_of(&said[0]).contains("HttpRequestDenied"));
    assert!(
        error_of(&said[1]).contains("HttpRequestUriInvalid") || error_of(&said[1]).contains("authority"),
        "{said:?}"
    );
    assert!(error_of(&said[2]).contains("NotGranted"));
    assert!(error_of(&said[3]).contains("NotGranted"));
    assert!(error_of(&said[4]).contains("access-denied"), "{said:?}");
    assert!(error_of(&said[5]).contains("access-denied"), "{said:?}");
    let text = log.text();
    let here = format!("http = [\"http://127.0.0.1:{}\"", server.port);
    for line in [
        format!("grants = {{ {here}, \"https://api.example.com:443\"], tcp = [\"127.0.0.1:1\"] }}"),
        format!("grants = {{ {here}], tcp = [\"127.0.0.1:1\"], secrets = [\"OTHER\"] }}"),
        format!("grants = {{ {here}], tcp = [\"127.0.0.1:1\"], kv = \"hostile-tool\" }}"),
        format!("grants = {{ {here}], tcp = [\"127.0.0.1:1\", \"127.0.0.1:{}\"] }}", server.port),
        "smtp.example.com".to_owned(),
    ] {
        assert!(text.contains(&line), "{line} in {text}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn redirects_are_not_followed_by_the_host() {
    let (server, private) = (Server::start().await, Server::start().await);
    let plugin = load("hostile-tool", grants_for(&server), tool_limits()).unwrap();
    let location = private.url("/secret");
    let said =
        answers_of(&plugin, "World.Look", json!([{"http": {"url": server.url(&format!("/redirect?{location}"))}}]))
            .await;
    assert_eq!((&said[0]["status"], &said[0]["location"]), (&json!(302), &json!(location)));
    assert!(private.requests().is_empty());
    // A tool that follows a redirect sends another request. This request needs a grant, too.
    let said = answers_of(&plugin, "World.Look", json!([{"http": {"url": location}}])).await;
    assert!(error_of(&said[0]).contains("HttpRequestDenied"));
    assert!(private.requests().is_empty());
}

/// I13.
#[tokio::test]
async fn secrets_are_substituted_in_headers_and_bodies_only() {
    let server = Server::start().await;
    let dir = tempfile::tempdir().unwrap();
    let grants = Grants {
        secrets: vec!["TOKEN".into(), "UNSET".into()],
        kv: Some("m".into()),
        tcp: vec![tcp_grant("127.0.0.1", server.port)],
        dirs: vec![DirGrant { host: dir.path().to_owned(), guest: "/out".into(), write: true }],
        ..grants_for(&server)
    };
    let plugin = load("hostile-tool", grants.clone(), tool_limits()).unwrap();
    let log = CapturedLog::capture();
    let post = |headers: Value, body: Value| json!({"http": {"method": "POST", "url": server.url("/echo?q=$TOKEN"), "headers": headers, "body": body}});
    let script = json!([
        {"secret": "TOKEN"}, {"secret": "UNSET"},
        post(json!({"authorization": "Bearer $TOKEN"}), json!(["a=$TOKEN&b=", "$TOKEN"])),
        {"cut": {"url": server.url("/echo"), "text": "$TOKEN"}},
        {"print": {"text": "it is $TOKEN"}},
        {"kv-set": {"key": "k", "value": "$TOKEN"}}, {"kv-get": {"key": "k"}},
        {"write": {"path": "/out/file", "text": "$TOKEN"}},
        {"tcp": {"host": "127.0.0.1", "port": server.port, "text": "$TOKEN\n\n"}},
    ]);
    let said = answers_of(&plugin, "World.Change", script).await;
    let placeholder = said[0].as_str().unwrap();
    assert!(placeholder.starts_with("latch-secret-") && !placeholder.contains("real"), "{placeholder}");
    assert!(error_of(&said[1]).contains("Missing"));
    let requests = server.requests();
    assert_eq!(requests[0].header("authorization"), Some("Bearer the-real-token"));
    assert_eq!(requests[0].body, "a=the-real-token&b=the-real-token");
    assert_eq!(requests[1].body, "the-real-token");
    assert!(requests[0].line.contains(placeholder), "not in the address: {}", requests[0].line);
    assert_eq!(requests[2].line, placeholder, "not over TCP");
    assert_eq!(said[6], placeholder);
    assert_eq!(std::fs::read_to_string(dir.path().join("file")).unwrap(), placeholder);
    let text = log.text();
    assert!(text.contains(placeholder) && !text.contains("the-real-token"), "{text}");
    // The next call gets another placeholder, and the old placeholder is no longer replaced.
    let old = placeholder.to_owned();
    let said = answers_of(&plugin, "World.Change", json!([{"secret": "TOKEN"}, post(json!({}), json!([old]))])).await;
    assert_ne!(said[0], old.as_str());
    assert_eq!(server.requests()[3].body, old);

    // The guest announces the content length of a body that contains the placeholder. The host changes this
    // length to that of the body with the secret.
    let counted = json!([
        {"secret": "TOKEN"},
        post(json!({"content-length": "45"}), json!(["$TOKEN"])),
    ]);
    answers_of(&plugin, "World.Change", counted).await;
    let requests = server.requests();
    let last = requests.last().unwrap();
    assert_eq!((last.header("content-length"), last.body.as_str()), (Some("14"), "the-real-token"));

    let clear = load("hostile-tool", Grants { secrets_clear: true, ..grants }, tool_limits()).unwrap();
    assert_eq!(answers_of(&clear, "World.Change", json!([{"secret": "TOKEN"}])).await[0], "the-real-token");
}

#[tokio::test]
async fn operator_without_declared_effects_can_cause_none() {
    let server = Server::start().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("there"), "content").unwrap();
    let grants = Grants {
        kv: Some("m".into()),
        tcp: vec![tcp_grant("127.0.0.1", server.port)],
        dirs: vec![DirGrant { host: dir.path().to_owned(), guest: "/d".into(), write: true }],
        ..grants_for(&server)
    };
    let plugin = load("hostile-tool", grants, tool_limits()).unwrap();
    let post = json!({"http": {"method": "POST", "url": server.url("/echo"), "body": ["x"]}});
    let script = json!([
        {"http": {"url": server.url("/echo")}}, {"read": {"path": "/d/there"}}, {"kv-get": {"key": "k"}},
        post, {"write": {"path": "/d/new", "text": "x"}}, {"write": {"path": "/d/there", "text": "x"}},
        {"kv-set": {"key": "k", "value": "v"}}, {"tcp": {"host": "127.0.0.1", "port": server.port, "text": "x\n\n"}},
    ]);
    let said = answers_of(&plugin, "World.Look", script.clone()).await;
    assert_eq!((&said[0]["status"], &said[1], &said[2]), (&json!(200), &json!("content"), &json!(null)));
    for denied in &said[3..] {
        error_of(denied);
    }
    assert_eq!(server.requests().len(), 1);
    assert!(!dir.path().join("new").exists());
    assert_eq!(std::fs::read_to_string(dir.path().join("there")).unwrap(), "content");
    // The run is repeated, because tests that log concurrently can briefly disable a callsite of the log.
    let mut logged = 0;
    for _ in 0..10 {
        let log = CapturedLog::capture();
        answers_of(&plugin, "World.Look", script.clone()).await;
        logged = log.text().matches("declare internal-write").count();
        if logged >= 4 {
            break;
        }
    }
    assert!(logged >= 4, "each denial is logged with the line that would allow it");
    // An operator that only calls a model may send POST requests. Its other actions that change something are
    // denied.
    let said = answers_of(&plugin, "World.Model", script.clone()).await;
    assert_eq!(said[3]["status"], 200);
    for denied in &said[4..] {
        error_of(denied);
    }
    // With the effects declared, all actions work.
    let said = answers_of(&plugin, "World.Change", script).await;
    assert!(said.iter().all(|answer| answer["error"].is_null()), "{said:?}");
    assert_eq!(std::fs::read_to_string(dir.path().join("new")).unwrap(), "x");
}

#[tokio::test]
async fn files_outside_of_granted_directories_do_not_exist() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("in")).unwrap();
    std::fs::write(dir.path().join("outside"), "secret").unwrap();
    std::os::unix::fs::symlink(dir.path().join("outside"), dir.path().join("in/link")).unwrap();
    let grant = DirGrant { host: dir.path().join("in"), guest: "/in".into(), write: false };
    let plugin = load("hostile-tool", Grants { dirs: vec![grant], ..minimal_grants() }, tool_limits()).unwrap();
    let log = CapturedLog::capture();
    let script = json!([
        {"read": {"path": "/in/../outside"}}, {"read": {"path": "/in/link"}}, {"read": {"path": "/etc/hostname"}},
        {"write": {"path": "/in/new", "text": "x"}},
    ]);
    for denied in answers_of(&plugin, "World.Change", script).await {
        error_of(&denied);
    }
    assert!(log.text().contains("write = true"), "{}", log.text());
}

/// I175.
#[tokio::test]
async fn call_ends_at_its_timeout() {
    let server = Server::start().await;
    let plugin = load("hostile-tool", grants_for(&server), tool_limits()).unwrap();
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

/// The timeout has passed while the guest is still running, as after a suspension of the machine. The check
/// at the host call refuses each operation.
#[tokio::test]
async fn no_operation_begins_after_the_timeout() {
    let server = Server::start().await;
    let dir = tempfile::tempdir().unwrap();
    let grants = Grants {
        kv: Some("m".into()),
        dirs: vec![DirGrant { host: dir.path().to_owned(), guest: "/d".into(), write: true }],
        ..grants_for(&server)
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

#[tokio::test]
async fn doubtful_call_is_reconciled_and_effects_are_verified_and_compensated() {
    let server = Server::start().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "as recorded").unwrap();
    let grants = Grants {
        dirs: vec![DirGrant { host: dir.path().to_owned(), guest: "/d".into(), write: true }],
        ..grants_for(&server)
    };
    let plugin = load("hostile-tool", grants, tool_limits()).unwrap();
    let limits = plugin.limits("World.Change");
    let reconcile = async |script: Value| {
        let args = json!({ "do": script }).to_string();
        plugin.reconcile("World.Change", &args, call_context(20_000), &limits).await
    };
    assert_eq!(reconcile(json!([])).await, Ok(ReconcileVerdict::DidNotHappen));
    let Ok(ReconcileVerdict::Happened(output)) = reconcile(json!([{"read": {"path": "/d/file"}}])).await else {
        panic!("it happened")
    };
    assert_eq!(output.result, r#"["as recorded"]"#);
    assert_eq!(reconcile(json!(["trap"])).await.unwrap_err().code, Code::PluginTrap);
    assert_eq!(reconcile(json!(["schema"])).await.unwrap_err().code, Code::SchemaValidationFailed);
    // Reconcile may read but not change anything, whatever effects the operator declares.
    let Ok(ReconcileVerdict::Happened(output)) = reconcile(
        json!([{"write": {"path": "/d/new", "text": "x"}}, {"http": {"method": "POST", "url": server.url("/")}}]),
    )
    .await
    else {
        panic!("it answers")
    };
    let said: Vec<Value> = serde_json::from_str(&output.result).unwrap();
    error_of(&said[0]);
    error_of(&said[1]);
    assert!(server.requests().is_empty() && !dir.path().join("new").exists());

    let verify = async |version: &str| {
        let change = StateChange {
            resource_type: "file".into(),
            resource_id: "/d/file".into(),
            operation: "create".into(),
            version: Some(version.into()),
            etag: None,
            external_ref: None,
        };
        plugin.verify("World.Change", &change, call_context(20_000), &limits).await
    };
    assert_eq!(verify("as recorded").await, Ok(VerifyResult::Confirmed));
    assert!(matches!(verify("otherwise").await, Ok(VerifyResult::Mismatch(found)) if found.contains("as recorded")));

    let undo = json!({"do": [{"write": {"path": "/d/undone", "text": "x"}}]}).to_string();
    let end = plugin.compensate("World.Change", ("latch:job_1:s1:1", "{}", &undo), call_context(20_000), &limits).await;
    assert!(matches!(end.answer, Answer::Ok(_)), "{end:?}");
    assert!(dir.path().join("undone").exists());
}

#[test]
fn step_with_grants_is_refused() {
    let bytes = std::fs::read(built_guests::guest("hostile-step")).unwrap();
    let grants = Grants { kv: Some("x".into()), ..Grants::default() };
    let error = engine().load(&bytes, settings("x", grants, tool_limits())).unwrap_err();
    assert!(error.to_string().contains("remove `grants`"), "{error}");
}
