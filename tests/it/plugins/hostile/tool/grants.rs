//! Grants and declared effects: everything else is denied.

use serde_json::json;

use latchwork_engine::capability::grants::{DirGrant, Grants, Method};

use crate::plugins::hostile::captured_log::CapturedLog;
use crate::plugins::hostile::http_server::Server;
use crate::plugins::hostile::load;
use crate::plugins::hostile::tool::{
    answers_of, error_of, grants_for, http_grant, minimal_grants, post_grants_for, tcp_grant, tool_limits,
};

/// I10.
#[test]
fn imports_need_grants() {
    let error = load("hostile-tool", Grants::default(), tool_limits()).unwrap_err().to_string();
    for line in ["wasi:http/outgoing-handler", "grants = { http = [", "wasi:sockets/tcp@", "grants = { tcp = ["] {
        assert!(error.contains(line), "{line} in {error}");
    }
    assert!(!error.contains("wasi:clocks") && !error.contains("wasi:filesystem"), "{error}");
}

/// I12.
#[tokio::test]
async fn private_address_is_reachable_only_by_a_grant_that_names_it() {
    let server = Server::start().await;
    let get = json!([{"http": {"url": format!("http://localhost:{}/echo", server.port)}}]);
    let by_name = Grants { http: vec![http_grant("localhost", server.port)], ..minimal_grants() };
    let plugin = load("hostile-tool", by_name.clone(), tool_limits()).unwrap();
    let log = CapturedLog::capture();
    let answers = answers_of(&plugin, "World.Look", get.clone()).await;
    assert!(error_of(&answers[0]).contains("DestinationIpProhibited"), "{answers:?}");
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
    let answers = answers_of(&plugin, "World.Change", script).await;
    assert!(error_of(&answers[0]).contains("HttpRequestDenied"));
    assert!(
        error_of(&answers[1]).contains("HttpRequestUriInvalid") || error_of(&answers[1]).contains("authority"),
        "{answers:?}"
    );
    assert!(error_of(&answers[2]).contains("NotGranted"));
    assert!(error_of(&answers[3]).contains("NotGranted"));
    assert!(error_of(&answers[4]).contains("access-denied"), "{answers:?}");
    assert!(error_of(&answers[5]).contains("access-denied"), "{answers:?}");
    let text = log.text();
    let here = format!("http = [\"http://127.0.0.1:{}\"", server.port);
    for line in [
        format!("grants = {{ {here}, \"https://api.example.com:443\"], tcp = [\"127.0.0.1:1\"] }}"),
        format!(
            "url = \"http://127.0.0.1:{}\", methods = [\"GET\", \"HEAD\"], secrets = [\"OTHER\"], in = [\"header:authorization\"]",
            server.port
        ),
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
    let answers =
        answers_of(&plugin, "World.Look", json!([{"http": {"url": server.url(&format!("/redirect?{location}"))}}]))
            .await;
    assert_eq!((&answers[0]["status"], &answers[0]["location"]), (&json!(302), &json!(location)));
    assert!(private.requests().is_empty());
    // A tool that follows a redirect sends another request. This request needs a grant, too.
    let answers = answers_of(&plugin, "World.Look", json!([{"http": {"url": location}}])).await;
    assert!(error_of(&answers[0]).contains("HttpRequestDenied"));
    assert!(private.requests().is_empty());
}

/// I197. Rights follow from the grant and the declared effects together.
#[tokio::test]
async fn operator_without_declared_effects_can_cause_none() {
    let server = Server::start().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("there"), "content").unwrap();
    let grants = Grants {
        kv: Some("m".into()),
        tcp: vec![tcp_grant("127.0.0.1", server.port)],
        dirs: vec![DirGrant { host: dir.path().to_owned(), guest: "/d".into(), write: true }],
        ..post_grants_for(&server)
    };
    let plugin = load("hostile-tool", grants.clone(), tool_limits()).unwrap();
    let post = json!({"http": {"method": "POST", "url": server.url("/echo"), "body": ["x"]}});
    let script = json!([
        {"http": {"url": server.url("/echo")}}, {"read": {"path": "/d/there"}}, {"kv-get": {"key": "k"}},
        post, {"write": {"path": "/d/new", "text": "x"}}, {"write": {"path": "/d/there", "text": "x"}},
        {"kv-set": {"key": "k", "value": "v"}}, {"tcp": {"host": "127.0.0.1", "port": server.port, "text": "x\n\n"}},
    ]);
    let answers = answers_of(&plugin, "World.Look", script.clone()).await;
    assert_eq!((&answers[0]["status"], &answers[1], &answers[2]), (&json!(200), &json!("content"), &json!(null)));
    for denied in &answers[3..] {
        error_of(denied);
    }
    assert_eq!(server.requests().len(), 1);
    assert!(!dir.path().join("new").exists());
    assert_eq!(std::fs::read_to_string(dir.path().join("there")).unwrap(), "content");
    // The test repeats the run until all denials are logged. Tests that log concurrently can briefly suppress a log
    // line.
    let mut logged = 0;
    for _ in 0..10 {
        let log = CapturedLog::capture();
        answers_of(&plugin, "World.Look", script.clone()).await;
        let text = log.text();
        let lines = ["declare internal-write", "neither external-write nor", "read_methods = [\"POST\"]"];
        logged = lines.iter().map(|line| text.matches(line).count()).sum();
        if logged >= 5 {
            break;
        }
    }
    assert!(logged >= 5, "each denial is logged with the line that would allow it");
    // The plugin declares that this operator is a model. The declaration gives the operator no right.
    let answers = answers_of(&plugin, "World.Model", script.clone()).await;
    for denied in &answers[3..] {
        error_of(denied);
    }
    // The administrator declares with `read_methods` that POST is a read on this server. Everything else that changes
    // something is denied.
    let mut reading = grants;
    reading.http[0].read_methods.push(Method::POST);
    let reading = load("hostile-tool", reading, tool_limits()).unwrap();
    for operator in ["World.Look", "World.Model"] {
        let answers = answers_of(&reading, operator, script.clone()).await;
        assert_eq!(answers[3]["status"], 200, "{operator}");
        for denied in &answers[4..] {
            error_of(denied);
        }
    }
    // An operator that declares the effects may perform all actions.
    let answers = answers_of(&plugin, "World.Change", script).await;
    assert!(answers.iter().all(|answer| answer["error"].is_null()), "{answers:?}");
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

/// I196: a call gets the directory that existed when the plugin was loaded. A link that later takes the place of the
/// directory is not followed.
#[tokio::test]
async fn link_in_place_of_a_granted_directory_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let (granted, moved, secret) = (dir.path().join("granted"), dir.path().join("moved"), dir.path().join("secret"));
    std::fs::create_dir(&granted).unwrap();
    std::fs::create_dir(&secret).unwrap();
    std::fs::write(secret.join("key"), "value").unwrap();
    let grant = DirGrant { host: granted.clone(), guest: "/d".into(), write: true };
    let grants = Grants { dirs: vec![grant], ..minimal_grants() };
    let plugin = load("hostile-tool", grants, tool_limits()).unwrap();
    std::fs::rename(&granted, &moved).unwrap();
    std::os::unix::fs::symlink(&secret, &granted).unwrap();
    let script = json!([{"read": {"path": "/d/key"}}, {"write": {"path": "/d/new", "text": "x"}}]);
    let answers = answers_of(&plugin, "World.Change", script).await;
    error_of(&answers[0]);
    assert!(answers[1]["error"].is_null(), "{answers:?}");
    assert!(moved.join("new").exists() && !secret.join("new").exists());
}
