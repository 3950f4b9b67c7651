//! Secrets, which a tool sees as placeholders.

use serde_json::{Value, json};

use latchwork_engine::capability::grants::{DirGrant, Grants, HeaderName, HttpGrant, SecretPlace};

use crate::plugins::hostile::captured_log::CapturedLog;
use crate::plugins::hostile::http_server::Server;
use crate::plugins::hostile::load;
use crate::plugins::hostile::tool::{answers_of, error_of, post_grants_for, tcp_grant, tool_limits};

/// I13.
#[tokio::test]
async fn secrets_are_substituted_in_headers_and_bodies_only() {
    let server = Server::start().await;
    let dir = tempfile::tempdir().unwrap();
    let [granted] = <[HttpGrant; 1]>::try_from(post_grants_for(&server).http).unwrap();
    let bound = HttpGrant {
        secrets: vec!["TOKEN".into(), "UNSET".into()],
        secret_places: vec![SecretPlace::Header(HeaderName::from_static("authorization")), SecretPlace::Body],
        ..granted
    };
    let grants = Grants {
        http: vec![bound],
        kv: Some("m".into()),
        tcp: vec![tcp_grant("127.0.0.1", server.port)],
        dirs: vec![DirGrant { host: dir.path().to_owned(), guest: "/out".into(), write: true }],
        ..post_grants_for(&server)
    };
    let plugin = load("hostile-tool", grants.clone(), tool_limits()).unwrap();
    let log = CapturedLog::capture();
    let post = |headers: Value, body: Value| json!({"http": {"method": "POST", "url": server.url("/echo"), "headers": headers, "body": body}});
    let script = json!([
        {"secret": "TOKEN"}, {"secret": "UNSET"},
        post(json!({"authorization": "Bearer $TOKEN"}), json!(["a=$TOKEN&b=", "$TOKEN"])),
        {"cut": {"url": server.url("/echo"), "text": "$TOKEN"}},
        {"print": {"text": "it is $TOKEN"}},
        {"kv-set": {"key": "k", "value": "$TOKEN"}}, {"kv-get": {"key": "k"}},
        {"write": {"path": "/out/file", "text": "$TOKEN"}},
        {"tcp": {"host": "127.0.0.1", "port": server.port, "text": "$TOKEN\n\n"}},
        {"http": {"method": "POST", "url": server.url("/echo?q=$TOKEN"), "headers": {}, "body": []}},
    ]);
    let answers = answers_of(&plugin, "World.Change", script).await;
    let placeholder = answers[0].as_str().unwrap();
    assert!(placeholder.starts_with("latch-secret-") && !placeholder.contains("real"), "{placeholder}");
    assert!(error_of(&answers[1]).contains("Missing"));
    let requests = server.requests();
    assert_eq!(requests[0].header("authorization"), Some("Bearer the-real-token"));
    assert_eq!(requests[0].body, "a=the-real-token&b=the-real-token");
    assert_eq!(requests[1].body, "the-real-token");
    // I201: the server sends the body back, and the guest sees the placeholder.
    assert_eq!(answers[2]["body"], format!("a={placeholder}&b={placeholder}"));
    assert_eq!(requests[2].line, placeholder, "not over TCP");
    assert!(
        error_of(&answers[9]).contains("HttpRequestDenied") && requests.len() == 3,
        "not in the address: {answers:?}"
    );
    assert_eq!(answers[6], placeholder);
    assert_eq!(std::fs::read_to_string(dir.path().join("file")).unwrap(), placeholder);
    let text = log.text();
    assert!(text.contains(placeholder) && !text.contains("the-real-token"), "{text}");
    // The next call gets another placeholder, and the old placeholder is no longer replaced.
    let old = placeholder.to_owned();
    let answers =
        answers_of(&plugin, "World.Change", json!([{"secret": "TOKEN"}, post(json!({}), json!([old]))])).await;
    assert_ne!(answers[0], old.as_str());
    assert_eq!(server.requests()[3].body, old);

    // The guest announces the content length of a body that contains the placeholder. The host changes this length to
    // the length of the body with the secret.
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
