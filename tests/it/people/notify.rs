//! `[notify]`: an HTTP server receives notices of gates, parks and ends of jobs after their events are
//! durable.

use serde_json::{Value, json};

use latchwork_engine::os::clock::boot_us;

use crate::support::program::latch_command;
use crate::support::servers::http::{RecordedRequest, TestServer};
use crate::support::test_env::{TestEnv, step, wait};

fn env_with_webhook(server: &TestServer, lines: &str) -> TestEnv {
    let notify = format!("[notify]\nwebhook = {:?}\n{lines}", server.url("/hooks/42"));
    TestEnv::witness("atomic").fresh_copy().configure(&notify)
}

fn json_body(asked: &RecordedRequest) -> Value {
    serde_json::from_str(&asked.body).unwrap()
}

/// A gate and the parking that follows cause two notices. Neither notice contains the arguments of the call.
#[test]
fn gate_and_park_are_posted_as_two_notices() {
    let server = TestServer::start();
    let place = env_with_webhook(&server, "headers = { Authorization = \"Bearer ${HOOK}\" }");
    let place = place.with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": "between us" }))]);
    let output = latch_command(&place.dir, &["run", "plan.json", "--json", "--tenant", "lab"])
        .env("LATCH_SECRET_HOOK", "hook-canary")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let id = place.only_job()["job_id"].as_str().unwrap().to_owned();
    let asked = server.wait_for(2);
    for one in &asked {
        assert!(one.line.starts_with("POST /hooks/42 "), "{}", one.line);
        assert_eq!(one.header("authorization"), Some("Bearer hook-canary"));
        assert_eq!(one.header("content-type"), Some("application/json"));
        assert!(!one.body.contains("between us") && !one.body.contains("hook-canary"), "{}", one.body);
        let body = json_body(one);
        assert_eq!((&body["job_id"], &body["tenant_id"], &body["slot"]), (&json!(id), &json!("lab"), &json!("o")));
        assert_eq!((&body["reason"], &body["gate_id"]), (&json!("REQUIRES_APPROVAL"), &json!("gate-o")));
        assert_eq!(body["next_action"], format!("latch job approve {id} o"));
    }
    let (gate, park) = (json_body(&asked[0]), json_body(&asked[1]));
    assert_eq!((&gate["type"], &park["type"]), (&json!("gate_requested"), &json!("job_parked")));
    // The event that a notice reports is in the log under the number that the notice contains.
    let events = place.latch(&["job", "events", &id, "--json"]).json()["events"].clone();
    for posted in [&gate, &park] {
        let seq: usize = posted["event_id"].as_str().unwrap().rsplit_once(":n").unwrap().1.parse().unwrap();
        assert_eq!(events[seq]["type"], posted["type"]);
    }
    assert_ne!(gate["event_id"], park["event_id"]);
}

/// I144: a call that was approved in advance causes no notice. The end of each job is posted without its
/// results.
#[test]
fn end_of_a_job_is_posted_without_results() {
    let server = TestServer::start();
    let place =
        env_with_webhook(&server, "").with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": "between us" }))]);
    let ran = place.latch(&["run", "plan.json", "--json", "--approve", "o"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let failed = place.latch(&["run", "plan.json", "--json", "--new", "--mode", "DRAFT_ONLY"]);
    assert_eq!(failed.code, 1, "{}", failed.stderr);
    let asked = server.wait_for(2);
    let (completed, over) = (json_body(&asked[0]), json_body(&asked[1]));
    let id = ran.json()["job_id"].as_str().unwrap().to_owned();
    let posted = ["type", "job_id", "next_action"].map(|key| completed[key].clone());
    assert_eq!(posted, [json!("job_completed"), json!(id), json!(format!("latch job output {id}"))]);
    assert!(completed.get("reason").is_none() && !asked[0].body.contains("between us"), "{}", asked[0].body);
    let id = failed.json()["job_id"].as_str().unwrap().to_owned();
    let posted = ["type", "reason", "slot", "next_action"].map(|key| over[key].clone());
    let expected = [json!("job_failed"), json!("MODE_FORBIDS"), json!("o"), json!(format!("latch job show {id}"))];
    assert_eq!(posted, expected, "{over:#}");

    let place = place.with_plan(&[wait("s", json!({ "wait_kind": "signal", "correlation_key": "k" }))]);
    let waits = place.latch(&["run", "plan.json", "--json"]).json()["job_id"].as_str().unwrap().to_owned();
    assert_eq!(place.latch(&["job", "cancel", &waits]).code, 0);
    let kinds: Vec<Value> = server.wait_for(4)[2..].iter().map(|one| json_body(one)["type"].clone()).collect();
    assert_eq!(kinds, ["job_parked", "job_cancelled"]);
}

/// The command in a notice names the configuration with which the job ran, because a person may type the command in
/// another folder.
#[test]
fn command_in_a_notice_names_the_configuration() {
    let server = TestServer::start();
    let place = env_with_webhook(&server, "").with_plan(&[step("o", "Effect.Opaque", &[], json!({}))]);
    let elsewhere = place.dir.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let (file, plan) = (place.dir.join("latch.toml"), place.dir.join("plan.json"));
    let moved = place.dir.join("named.toml");
    std::fs::rename(file, &moved).unwrap();
    let args = ["run", plan.to_str().unwrap(), "--json", "--config", moved.to_str().unwrap()];
    assert_eq!(latch_command(&elsewhere, &args).output().unwrap().status.code(), Some(3));
    let flag = format!(" --config {}", moved.display());
    for one in &server.wait_for(2) {
        assert!(json_body(one)["next_action"].as_str().unwrap().ends_with(&flag), "{}", one.body);
    }
    std::fs::rename(moved, place.dir.join("latch.toml")).unwrap();
}

/// Only the configured events are posted.
#[test]
fn unconfigured_events_are_not_posted() {
    let server = TestServer::start();
    let place = env_with_webhook(&server, "events = [\"job_failed\"]");
    let place = place.with_plan(&[step("o", "Effect.Opaque", &[], json!({}))]);
    assert_eq!(place.latch(&["run", "plan.json", "--json"]).code, 3);
    assert_eq!(place.latch(&["run", "plan.json", "--json", "--new", "--approve", "o"]).code, 0);
    assert_eq!(place.latch(&["run", "plan.json", "--json", "--new", "--mode", "DRAFT_ONLY"]).code, 1);
    let kinds: Vec<Value> = server.requests().iter().map(|one| json_body(one)["type"].clone()).collect();
    assert_eq!(kinds, ["job_failed"], "the command ends once the notice was accepted");
    for (events, message) in [("[\"job_fails\"]", "did you mean `job_failed`"), ("[]", "`events` is empty")] {
        let wrong = format!("[notify]\nwebhook = {:?}\nevents = {events}", server.url("/hooks/42"));
        let place = TestEnv::configured(&wrong, vec![]);
        let refused = place.latch(&["job", "list"]);
        assert!(refused.code == 2 && refused.stderr.contains(message), "{}", refused.stderr);
    }
}

/// A notice is posted again under the same id until the server accepts it.
#[test]
fn notice_is_posted_again_until_accepted() {
    let server = TestServer::start();
    server.refuse_next_posts(&[503, 429]);
    let signal = json!({ "wait_kind": "signal", "correlation_key": "a private key" });
    let place = env_with_webhook(&server, "").with_plan(&[wait("s", signal)]);
    let ran = place.latch(&["run", "plan.json", "--json"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let asked = server.requests();
    let ids: Vec<Value> = asked.iter().map(|one| json_body(one)["event_id"].clone()).collect();
    assert_eq!(ids, vec![ids[0].clone(); 3], "the process ends once the notice was accepted");
    let first = json_body(&asked[0]);
    assert_eq!((&first["type"], &first["reason"]), (&json!("job_parked"), &json!("REQUIRES_SIGNAL")));
    assert!(!asked[0].body.contains("private"), "{}", asked[0].body);
}

/// An unreachable webhook neither fails nor delays a job. A webhook that answers 400 gets no second post.
#[test]
fn unreachable_webhook_neither_fails_nor_delays_a_job() {
    let server = TestServer::start();
    server.refuse_next_posts(&[400]);
    let signal = json!({ "wait_kind": "signal", "correlation_key": "k" });
    let refusing = env_with_webhook(&server, "").with_plan(&[wait("s", signal.clone())]);
    assert_eq!(refusing.latch(&["run", "plan.json", "--json"]).code, 3);
    assert_eq!(server.requests().len(), 1, "400 is final");

    let gone = TestServer::start();
    let port = gone.port;
    let closed_port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    assert_ne!(port, closed_port);
    let config = format!("[notify]\nwebhook = \"http://127.0.0.1:{closed_port}/hook\"");
    let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[wait("s", signal)]).configure(&config);
    let since = boot_us();
    let ran = place.latch(&["run", "plan.json", "--json"]);
    assert_eq!((ran.code, &ran.json()["state"]), (3, &json!("PARKED")), "{}", ran.stderr);
    assert!(boot_us() - since < 600_000_000, "the command waits only a limited time");
    assert!(ran.stderr.contains("notices were not accepted"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("/hook"), "the path may be a secret: {}", ran.stderr);
}
