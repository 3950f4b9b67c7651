//! Outcome of a call that did not answer, and the calls that follow it.

use serde_json::{Value, json};

use latchwork_core::model::bounds;
use latchwork_core::model::effect::{Answer, StateChange};
use latchwork_core::model::error::Code;
use latchwork_core::model::manifest::Limits;
use latchwork_engine::capability::grants::{DirGrant, Grants};
use latchwork_engine::{ReconcileVerdict, VerifyResult};

use crate::plugins::hostile::http_server::Server;
use crate::plugins::hostile::load;
use crate::plugins::hostile::tool::{
    answers_of, call_context, error_of, http_grant, invoke_script, minimal_grants, post_grants_for, tool_limits,
    unwrap_not_applied, unwrap_unknown,
};

/// I163: if a tool faults before its first outgoing operation begins, its call was certainly not applied. If the tool
/// faults after an outgoing operation began, the call is in doubt. An exception that the operator does not handle is a
/// fault. I249: a result without a canonical form is such a fault.
#[tokio::test]
async fn fault_after_an_outgoing_operation_leaves_the_call_in_doubt() {
    let server = Server::start().await;
    let plugin = load("hostile-tool", post_grants_for(&server), tool_limits()).unwrap();
    let post = json!({"http": {"method": "POST", "url": server.url("/echo"), "body": ["x"]}});
    let faults = [
        (json!("trap"), Code::PluginTrap, None),
        (json!("exception"), Code::PluginException, None),
        (json!("denied"), Code::CapabilityDenied, None),
        (json!("spin"), Code::OutOfFuel, None),
        (json!("allocate"), Code::MemoryLimit, None),
        (json!({"giant": 300_000}), Code::OutputLimit, Some(65_536)),
        (json!("malformed"), Code::SchemaValidationFailed, Some(3)),
        (json!("ambiguous"), Code::SchemaValidationFailed, Some(15)),
        (json!("schema"), Code::SchemaValidationFailed, Some(2)),
    ];
    for (fault, code, kept_bytes) in faults {
        let failure = unwrap_not_applied(invoke_script(&plugin, "World.Change", json!([fault])).await);
        assert_eq!(failure.code, code, "{failure}");
        let (failure, kept) = unwrap_unknown(invoke_script(&plugin, "World.Change", json!([post, fault])).await);
        assert_eq!(failure.code, code, "{failure}");
        assert_eq!(kept.map(|kept| kept.len()), kept_bytes, "{failure}");
    }
    for reading in ["World.Look", "World.Pure"] {
        let failure = unwrap_not_applied(invoke_script(&plugin, reading, json!(["ambiguous"])).await);
        assert_eq!(failure.code, Code::SchemaValidationFailed, "{failure}");
        assert!(failure.message.contains("at byte 8: the key \"v\" appears twice"), "{failure}");
    }
    // A refused request does not count as an outgoing operation.
    let refused = json!({"http": {"url": "http://127.0.0.1:9/"}});
    assert_eq!(
        unwrap_not_applied(invoke_script(&plugin, "World.Change", json!([refused, "trap"])).await).code,
        Code::CapabilityDenied
    );
    // The guest reports that it does not know whether its refused request was sent. The host knows that the request was
    // not sent, so the call was not applied.
    let end = invoke_script(&plugin, "World.Change", json!([refused, {"error": "unknown"}])).await;
    assert_eq!(unwrap_not_applied(end).code, Code::RateLimit);
    let end = invoke_script(&plugin, "World.Change", json!([post, refused, {"error": "unknown"}])).await;
    unwrap_unknown(end);
    // If an operation began before a refused request, the call is in doubt.
    let (failure, _) =
        unwrap_unknown(invoke_script(&plugin, "World.Change", json!([post, refused, "exception"])).await);
    assert_eq!(failure.code, Code::CapabilityDenied, "{failure}");
    for message in ["grants = { http = [", "127.0.0.1:9", "KeyError"] {
        assert!(failure.message.contains(message), "{message}: {failure}");
    }
    // If the tool itself states whether the call was applied, this statement overrides the operations that the host has
    // seen.
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

/// I225: bounds `kept_answer_bytes` and `output_bytes`. If the answer of a call in doubt is unusable, the host keeps
/// the beginning of the answer.
#[tokio::test]
async fn unusable_answer_is_kept_up_to_its_limit() {
    let server = Server::start().await;
    let plugin = load("hostile-tool", post_grants_for(&server), tool_limits()).unwrap();
    let post = json!({"http": {"method": "POST", "url": server.url("/echo"), "body": ["x"]}});
    let answer = async |bytes: usize, output_bytes: usize| {
        // The answer is a list with one text.
        let args = json!({ "do": [post, { "giant": bytes - 4 }] }).to_string();
        let limits = Limits { output_bytes: output_bytes as u32, ..plugin.limits("World.Change") };
        plugin.invoke("World.Change", &args, call_context(20_000), &limits).await
    };
    let most = bounds::KEPT_ANSWER_BYTES;
    for (bytes, kept_bytes) in [(most - 1, most - 1), (most, most), (most + 1, most)] {
        assert!(matches!(answer(bytes, bytes).await.answer, Answer::Ok(_)), "{bytes}");
        let (failure, kept) = unwrap_unknown(answer(bytes, bytes - 1).await);
        assert_eq!(failure.code, Code::OutputLimit, "{failure}");
        assert_eq!(kept.map(|kept| kept.len()), Some(kept_bytes), "{bytes}");
    }
}

/// I222: bound `state_changes`. Each change becomes an event.
#[tokio::test]
async fn answer_with_too_many_changes_is_refused() {
    let plugin = load("hostile-tool", minimal_grants(), tool_limits()).unwrap();
    let changes = |count: usize| Value::from(vec![json!({ "change": { "type": "t" } }); count]);
    answers_of(&plugin, "World.Change", changes(bounds::STATE_CHANGES)).await;
    let end = invoke_script(&plugin, "World.Change", changes(bounds::STATE_CHANGES + 1)).await;
    assert_eq!(unwrap_not_applied(end).code, Code::OutputLimit);
}

/// I222: bound `model_name_bytes`. The limit of an answer also holds for an error, and the host ignores the content of
/// a larger error. After a larger error, the operations that the host has seen decide whether the call is in doubt.
#[tokio::test]
async fn oversized_errors_and_model_names_are_refused() {
    let server = Server::start().await;
    let plugin = load("hostile-tool", post_grants_for(&server), tool_limits()).unwrap();
    let max = plugin.limits("World.Change").output_bytes as usize;
    let error = |bytes: usize| json!({ "giant-error": bytes });
    let within = unwrap_not_applied(invoke_script(&plugin, "World.Change", json!([error(max)])).await);
    assert_eq!((within.code, within.detail.map(|detail| detail.len())), (Code::InvalidInput, Some(max)));
    let beyond = unwrap_not_applied(invoke_script(&plugin, "World.Change", json!([error(max + 1)])).await);
    assert_eq!((beyond.code, &beyond.detail), (Code::OutputLimit, &None));
    let post = json!({"http": {"method": "POST", "url": server.url("/echo"), "body": ["x"]}});
    let (beyond, _) = unwrap_unknown(invoke_script(&plugin, "World.Change", json!([post, error(max + 1)])).await);
    assert_eq!((beyond.code, &beyond.detail), (Code::OutputLimit, &None));
    let args = json!({ "do": [error(max + 1)] }).to_string();
    let limits = plugin.limits("World.Change");
    let asked = plugin.reconcile("World.Change", &args, call_context(20_000), &limits).await;
    assert_eq!(asked.unwrap_err().code, Code::OutputLimit);
    let model = |bytes: usize| json!([{ "model": bytes }]);
    answers_of(&plugin, "World.Model", model(bounds::MODEL_NAME_BYTES)).await;
    let end = invoke_script(&plugin, "World.Model", model(bounds::MODEL_NAME_BYTES + 1)).await;
    assert_eq!(unwrap_not_applied(end).code, Code::OutputLimit);
}

/// I163: if the tool reports no error code of its own, the error names the unreachable granted host and is retryable.
#[tokio::test]
async fn unreachable_granted_host_is_named_in_the_error() {
    let nowhere = http_grant("nowhere.invalid", 80);
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

#[tokio::test]
async fn doubtful_call_is_reconciled_and_effects_are_verified_and_compensated() {
    let server = Server::start().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "as recorded").unwrap();
    let grants = Grants {
        dirs: vec![DirGrant { host: dir.path().to_owned(), guest: "/d".into(), write: true }],
        ..post_grants_for(&server)
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
    for unusable in ["schema", "ambiguous"] {
        let failure = reconcile(json!([unusable])).await.unwrap_err();
        assert_eq!(failure.code, Code::SchemaValidationFailed, "{failure}");
    }
    // If an access was denied, the failure names it, both after an exception of `reconcile` and after one of `invoke`.
    let refused = json!({"http": {"url": "http://127.0.0.1:9/"}});
    let failure = reconcile(json!([refused, "exception"])).await.unwrap_err();
    assert!(failure.message.contains("127.0.0.1:9"), "{failure}");
    // Reconcile may read but not change anything, whatever effects the operator declares.
    let Ok(ReconcileVerdict::Happened(output)) = reconcile(
        json!([{"write": {"path": "/d/new", "text": "x"}}, {"http": {"method": "POST", "url": server.url("/")}}]),
    )
    .await
    else {
        panic!("it answers")
    };
    let answers: Vec<Value> = serde_json::from_str(&output.result).unwrap();
    error_of(&answers[0]);
    error_of(&answers[1]);
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
