//! Rights of tools. A server counts the requests that reach it, for every class of operator, method, mode and grant.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::checkout;
use crate::support::plugins::built_guests::guest;
use crate::support::servers::http::TestServer;
use crate::support::servers::witness::Witness;
use crate::support::test_env::{TestEnv, build_plugin, step};

const METHODS: [&str; 7] = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"];
/// Operators of the scripted tool, with the name of their class.
const OPERATORS: [(&str, &str); 5] = [
    ("World.Look", "read"),
    ("World.Model", "model"),
    ("World.Keep", "internal"),
    ("World.Write", "write"),
    ("World.Change", "send"),
];
const EXTERNAL: [&str; 2] = ["write", "send"];
const AUTO: &str = "[policy.default]\nmodes = [\"DRY_RUN\", \"DRAFT_ONLY\", \"HUMAN_GATED\", \"AUTO_EXEC\"]\n\
    auto_exec = true\nauto_exec_min_trust = 0\ngate = { effects = [] }\n";

/// A grant for the server, and the methods that it allows: to every operator, and to operators with external effects.
struct HttpGrantCase {
    text: &'static str,
    reads: &'static [&'static str],
    changes: &'static [&'static str],
}

const GRANTS: [HttpGrantCase; 4] = [
    HttpGrantCase { text: "\"URL\"", reads: &["GET", "HEAD"], changes: &["GET", "HEAD"] },
    HttpGrantCase {
        text: "{ url = \"URL\", methods = [\"GET\", \"POST\", \"DELETE\"] }",
        reads: &["GET"],
        changes: &["GET", "POST", "DELETE"],
    },
    HttpGrantCase {
        text: "{ url = \"URL\", methods = [\"HEAD\", \"PUT\"], read_methods = [\"POST\", \"OPTIONS\"] }",
        reads: &["HEAD", "POST", "OPTIONS"],
        changes: &["HEAD", "PUT", "POST", "OPTIONS"],
    },
    HttpGrantCase { text: "{ url = \"URL/elsewhere/\", methods = [\"GET\", \"POST\"] }", reads: &[], changes: &[] },
];

/// Creates an environment with the scripted tool and this HTTP grant, in which `URL` is the address of the server.
fn env_with_grant(server: &TestServer, grant: &str, more: &str) -> TestEnv {
    let config = format!(
        "[[plugin]]\nname = \"world\"\nsource = {:?}\ngrants = {{ http = [{}], tcp = [\"127.0.0.1:9\"] }}\n{more}\n",
        guest("hostile-tool"),
        grant.replace("URL", &format!("http://127.0.0.1:{}", server.port)),
    );
    TestEnv::configured(&config, vec![])
}

fn step_id(class: &str, method: &str) -> String {
    format!("{class}-{method}")
}

/// Returns one step for each operator and method. Each step sends one request, whose path is the step's id.
fn request_steps(server: &TestServer) -> Vec<Value> {
    let of_operator = |(operator, class): (&'static str, &'static str)| {
        METHODS.map(|method| {
            let id = step_id(class, method);
            let url = server.url(&format!("/{id}"));
            step(&id, operator, &[], json!({ "do": [{ "http": { "method": method, "url": url } }] }))
        })
    };
    OPERATORS.into_iter().flat_map(of_operator).collect()
}

/// Returns the ids of the steps whose requests reached the server.
fn received(server: &TestServer) -> BTreeSet<String> {
    let requests = server.requests();
    let id = |line: &str| line.split(' ').nth(1).unwrap_or_default().trim_start_matches('/').to_owned();
    let ids: BTreeSet<_> = requests.iter().map(|request| id(&request.line)).collect();
    assert_eq!(ids.len(), requests.len(), "each request is sent once");
    ids
}

/// Runs all requests in a mode, and checks that exactly the allowed requests reach the server.
fn check_mode(mode: &str) {
    for grant in GRANTS {
        let server = TestServer::start();
        let place = env_with_grant(&server, grant.text, AUTO).with_plan(&request_steps(&server));
        let external = EXTERNAL.iter().flat_map(|class| METHODS.map(|method| step_id(class, method)));
        let approved: Vec<String> = external.flat_map(|id| ["--approve".to_owned(), id]).collect();
        let mut args = vec!["run", "plan.json", "--json", "--mode", mode];
        args.extend(approved.iter().map(String::as_str));
        let ran = place.latch(&args);
        let response = ran.json();
        let is_allowed = |class: &str, method: &&str| match (EXTERNAL.contains(&class), mode) {
            (true, "DRY_RUN" | "DRAFT_ONLY") => false,
            (true, _) => grant.changes.contains(method),
            (false, "DRY_RUN") => {
                class != "internal" && ["GET", "HEAD"].contains(method) && grant.reads.contains(method)
            }
            (false, _) => grant.reads.contains(method),
        };
        let allowed_of = |(_, class): &(&str, &str)| {
            let methods = METHODS.into_iter().filter(|method| is_allowed(class, method));
            methods.map(|method| step_id(class, method)).collect::<Vec<_>>()
        };
        let wanted: BTreeSet<String> = OPERATORS.iter().flat_map(allowed_of).collect();
        assert_eq!(received(&server), wanted, "{mode} {}: {response:#}", grant.text);
        if mode == "DRY_RUN" {
            assert_eq!((ran.code, &response["status"]), (0, &json!("completed")), "{response:#}");
            check_skipped(&response);
        }
    }
}

/// Checks that a dry run skips each call that is not a `GET` or a `HEAD`, and shows its arguments.
fn check_skipped(response: &Value) {
    for step in response["steps"].as_array().unwrap() {
        let id = step["step_id"].as_str().unwrap();
        let (class, method) = id.rsplit_once('-').unwrap();
        let is_sent = ["read", "model"].contains(&class) && ["GET", "HEAD"].contains(&method);
        let displayed = &step["would_call"]["args"]["do"][0]["http"]["method"];
        match is_sent {
            true => assert_eq!((&step["state"], displayed), (&json!("SUCCEEDED"), &Value::Null), "{step:#}"),
            false => {
                let seen = (&step["state"], &step["reason_code"], displayed);
                assert_eq!(seen, (&json!("SKIPPED"), &json!("MODE_FORBIDS"), &json!(method)), "{step:#}");
            }
        }
    }
}

/// I197, I42: a dry run sends `GET` and `HEAD` alone, whatever the grants and the operators say.
#[test]
fn dry_run_sends_reads_alone_and_shows_every_other_call() {
    check_mode("DRY_RUN");
}

/// I197. No request that may change another system leaves a job of this mode.
#[test]
fn draft_only_changes_nothing_outside() {
    check_mode("DRAFT_ONLY");
}

/// I197.
#[test]
fn gated_calls_send_what_their_grants_name() {
    check_mode("HUMAN_GATED");
}

/// I197.
#[test]
fn calls_without_gates_send_what_their_grants_name() {
    check_mode("AUTO_EXEC");
}

/// I197: in a dry run, a step plugin is skipped at the first call whose tool wants to send more than reads.
#[test]
fn dry_run_skips_a_step_at_its_first_sending_call() {
    let server = TestServer::start();
    let grant = "{ url = \"URL\", read_methods = [\"POST\"] }";
    let steps = build_plugin(&checkout::copy().join("tests/guests-effects/witness-step"));
    let more = format!("[[plugin]]\nname = \"steps\"\nsource = {steps:?}\n");
    let call = |method: &str| {
        let request = json!({ "method": method, "url": server.url(&format!("/{method}")) });
        json!({ "operator": "World.Model", "args": { "do": [{ "http": request }] } })
    };
    let payload = json!({ "calls": [call("GET"), call("POST"), call("HEAD")] });
    let place = env_with_grant(&server, grant, &more).with_plan(&[step("s", "Driver.Run", &[], payload)]);
    let response = place.latch(&["run", "plan.json", "--json", "--mode", "DRY_RUN"]).json();
    let step = &response["steps"][0];
    assert_eq!((&step["state"], &step["reason_code"]), (&json!("SKIPPED"), &json!("MODE_FORBIDS")), "{response:#}");
    assert_eq!(step["would_call"]["slot"], "s/1", "{response:#}");
    assert_eq!(step["would_call"]["args"]["do"][0]["http"]["method"], "POST", "{response:#}");
    assert_eq!(received(&server), BTreeSet::from(["GET".to_owned()]));
}

/// I197, I199: concurrent calls of one step that are skipped or wait stop the step once, in both commit modes.
#[test]
fn concurrent_calls_stop_their_step_once() {
    for commit in ["atomic", "staged"] {
        let server = TestServer::start();
        let steps = build_plugin(&checkout::copy().join("tests/guests-effects/witness-step"));
        let more = format!("[[plugin]]\nname = \"steps\"\nsource = {steps:?}\n");
        let call = |operator: &str, method: &str| {
            let request = json!({ "http": { "method": method, "url": server.url("/x") } });
            json!({ "operator": operator, "args": { "do": [request, "exception"] } })
        };
        let posts: Vec<Value> = (0..6).map(|_| call("World.Model", "POST")).collect();
        let all = |calls: &[Value]| json!({ "calls": calls, "all": true });
        let reading = "{ url = \"URL\", read_methods = [\"POST\"] }";
        let place = env_with_grant(&server, reading, &more).configure_first(&format!("commit = {commit:?}"));
        let place = place.with_plan(&[step("s", "Driver.Run", &[], all(&posts))]);
        let dry = place.latch(&["run", "plan.json", "--json", "--mode", "DRY_RUN"]);
        assert_eq!((dry.code, &dry.json()["steps"][0]["state"]), (0, &json!("SKIPPED")), "{commit}: {}", dry.stdout);
        assert!(server.requests().is_empty());

        let place = env_with_grant(&server, "\"URL\"", &more).configure_first(&format!("commit = {commit:?}"));
        let place = place.with_plan(&[step("s", "Driver.Run", &[], all(&posts))]);
        let waits = place.latch(&["run", "plan.json", "--json"]);
        let response = waits.json();
        assert_eq!((waits.code, &response["state"]), (3, &json!("PARKED")), "{commit}: {response:#}");
        assert_eq!(response["blocked_on"]["reason_code"], "GRANT_REQUIRED", "{commit}: {response:#}");
        let id = response["job_id"].as_str().unwrap();
        assert_eq!(place.latch(&["job", "resolve", id, "--continue"]).code, 0);
        let again = place.latch(&["resume", id, "--json"]);
        assert_eq!(again.json()["blocked_on"]["reason_code"], "GRANT_REQUIRED", "{commit}: {}", again.stdout);
    }
}

/// I199: if a call is denied only because the grant lacks the method of the request, the call waits for the grant.
/// After the grant is added, the job continues and the request is sent once.
#[test]
fn call_that_only_the_narrower_grant_denies_waits_for_the_grant() {
    let witness = Witness::start();
    let table = "{ url = \"URL\", methods = [\"GET\", \"POST\"] }";
    let url = format!("http://127.0.0.1:{}", witness.port);
    let (new, old) = (table.replace("URL", &url), format!("{url:?}"));
    let place = witness.env("atomic", "").edit_config(|config| {
        assert!(config.contains(&new), "{config}");
        config.replace(&new, &old)
    });
    let place = place.with_approved(vec!["o"]).with_plan(&[witness.step("o", "Post.Opaque", &[], 1, 10)]);
    let parked = place.latch(&place.run_args());
    let response = parked.json();
    assert_eq!((parked.code, &response["state"]), (3, &json!("PARKED")), "{response:#}");
    assert_eq!(response["blocked_on"]["reason_code"], "GRANT_REQUIRED", "{response:#}");
    let message = response["blocked_on"]["call"]["failure"]["message"].as_str().unwrap();
    assert!(message.contains("methods = [\"GET\", \"HEAD\", \"POST\"]"), "{message}");
    let id = response["job_id"].as_str().unwrap().to_owned();
    let displayed = place.latch(&["job", "show", &id]);
    assert!(displayed.stdout.contains("methods = [\"GET\", \"HEAD\", \"POST\"]"), "{}", displayed.stdout);
    assert!(witness.bodies_of_job(&id).is_empty(), "nothing was sent");
    let proceed = format!("latch job resolve {id} --continue");
    assert!(response["next_actions"].as_array().unwrap().contains(&json!(proceed)), "{response:#}");

    // Without another grant, the job parks again. With it, the job completes.
    assert_eq!(place.latch(&["job", "resolve", &id, "--continue"]).code, 0);
    let again = place.latch(&["resume", &id, "--json"]);
    assert_eq!(again.json()["blocked_on"]["reason_code"], "GRANT_REQUIRED", "{}", again.stdout);
    let doctor = place.latch(&["doctor", "--json"]).json();
    let checks = doctor["checks"].as_array().unwrap();
    let old_grants = checks.iter().find(|check| check["check"] == "grants").unwrap_or_else(|| panic!("{doctor:#}"));
    let fix = old_grants["fix"].as_str().unwrap();
    let line = &fix[fix.find("grants = ").unwrap()..];
    let place = place.edit_config(|config| {
        let written: String = config.lines().find(|text| text.starts_with("grants = ")).unwrap().to_owned();
        config.replace(&written, line)
    });
    assert_eq!(place.latch(&["job", "resolve", &id, "--continue"]).code, 0);
    let done = place.latch(&["resume", &id, "--json"]);
    assert_eq!((done.code, &done.json()["state"]), (0, &json!("COMPLETED")), "{}", done.stdout);
    assert_eq!(witness.bodies_of_job(&id).len(), 1, "the request is sent once");
}

/// I202: the administrator adds an effect to a described operator. The operator then needs a declaration in the plan
/// and an approval. Jobs that were accepted before keep the effects that they pinned.
#[test]
fn stated_effects_bind_later_jobs() {
    let server = TestServer::start();
    let grant = "{ url = \"URL\", methods = [\"POST\"], read_methods = [\"POST\"] }";
    let ask = json!({ "do": [{ "http": { "method": "POST", "url": server.url("/ask") } }] });
    let mut undeclared = step("a", "World.Model", &[], ask);
    undeclared["effects"] = json!([]);
    let place = env_with_grant(&server, grant, "").with_plan(&[undeclared.clone()]);
    let run = |place: &TestEnv, more: &[&str]| place.latch(&[&["run", "plan.json", "--json", "--new"], more].concat());
    assert_eq!(run(&place, &[]).code, 0);
    assert_eq!(server.requests().len(), 1);

    let stated = "operators = { \"World.Model\" = { effects = [\"produce_outcome\", \"external_send\"] } }";
    let place = place.configure(stated);
    let refused = run(&place, &[]);
    assert_ne!(refused.code, 0, "{}", refused.stdout);
    assert!(refused.stdout.contains("external_send"), "{} {}", refused.stdout, refused.stderr);
    let mut declared = undeclared;
    declared["effects"] = json!(["external_send"]);
    let place = place.with_plan(&[declared]);
    let gated = run(&place, &[]);
    assert_eq!(gated.json()["blocked_on"]["reason_code"], "REQUIRES_APPROVAL", "{}", gated.stdout);
    assert_eq!(server.requests().len(), 1, "nothing is sent before the approval");
    assert_eq!(run(&place, &["--approve", "a"]).code, 0);
    assert_eq!(server.requests().len(), 2);

    for (key, effects, message) in [
        ("World.Model", "[\"external_send\"]", "produce_outcome"),
        ("World.Modle", "[\"external_send\"]", "did you mean"),
    ] {
        let line = format!("operators = {{ {key:?} = {{ effects = {effects} }} }}");
        let place = env_with_grant(&server, grant, &line);
        let listed = place.latch(&["plugin", "list", "--json"]);
        assert_eq!(listed.code, 2, "{}", listed.stdout);
        assert!(listed.stdout.contains("L0082") && listed.stdout.contains(message), "{}", listed.stdout);
    }
}

/// I270: the line covers the calls that some policy of the configuration leaves ungated, for some actor and mode.
#[test]
fn line_without_an_approval_follows_the_policies() {
    let server = TestServer::start();
    let address = format!("http://127.0.0.1:{}", server.port);
    let grants = "{ url = \"URL\", methods = [\"GET\", \"PUT\"] }";
    let gates_of = |effects: &str| format!("[policy.default]\ngate = {{ effects = [{effects}] }}\n");
    let internal = "\"internal_write\", \"external_write\"";
    let auto = "modes = [\"AUTO_EXEC\"]\nauto_exec = true\n";
    // The names of tenants before and after `default`.
    let of_tenant = |tenant: &str, who: &str| format!("[policy.{tenant}]\n{auto}trust = {{ {who:?} = 3 }}\n");
    let trusting = |who: &str| of_tenant("acme", who);
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().canonicalize().unwrap();
    let (read, write) = (format!("GET {address}; read DIR"), format!("GET {address}; read and write DIR"));
    let all = format!("GET, PUT {address}; tcp 127.0.0.1:9; read and write DIR");
    for (policy, wanted) in [
        ("", &write),
        (&*gates_of(internal), &read),
        (&*gates_of(""), &write),
        (&*trusting("ada/World.Change"), &all),
        (&*of_tenant("zenith", "ada/World.Change"), &all),
        (&*trusting("ada/World.Look"), &write),
        (&*format!("{}{}", trusting("ada/World.Change"), gates_of("\"external_send\", \"internal_write\"")), &read),
        (&*format!("[policy.default]\nauto_exec_min_trust = 0\n{auto}"), &all),
        ("[policy.default]\nmodes = [\"DRY_RUN\"]\n", &read),
    ] {
        let place = env_with_grant(&server, grants, policy).edit_config(|config| {
            let dirs = format!("dirs = [{{ host = {dir:?}, guest = \"/d\", write = true }}], tcp = ");
            config.replace("tcp = ", &dirs)
        });
        let listed = place.latch(&["plugin", "list", "--json"]);
        let wanted = wanted.replace("DIR", &dir.display().to_string());
        assert_eq!(listed.json()["plugins"][0]["without_approval"], wanted.as_str(), "{policy}: {}", listed.stdout);
        let doctor = place.latch(&["doctor"]);
        assert!(doctor.stdout.contains(&format!("without an approval: {wanted}")), "{policy}: {}", doctor.stdout);
        let inspected = place.latch(&["plugin", "inspect", &guest("hostile-tool").to_string_lossy(), "--json"]);
        assert_eq!(inspected.json()["without_approval"], wanted.as_str(), "{policy}: {}", inspected.stdout);
    }
}

/// I270: `plugin list`, `plugin inspect` and `doctor` state in one line what a tool could do without an approval.
#[test]
fn access_without_an_approval_is_one_line() {
    let server = TestServer::start();
    let place =
        env_with_grant(&server, "{ url = \"URL/v1/\", methods = [\"GET\", \"PUT\"], read_methods = [\"POST\"] }", "");
    let line = format!("GET, POST http://127.0.0.1:{}/v1/", server.port);
    let listed = place.latch(&["plugin", "list", "--json"]);
    assert_eq!(listed.json()["plugins"][0]["without_approval"], line.as_str(), "{}", listed.stdout);
    let listed = place.latch(&["plugin", "list"]);
    assert!(listed.stdout.contains(&format!("world  {line}")), "{}", listed.stdout);
    let doctor = place.latch(&["doctor"]);
    assert!(doctor.stdout.contains(&format!("world without an approval: {line}")), "{}", doctor.stdout);
    let file = guest("hostile-tool");
    let inspected = place.latch(&["plugin", "inspect", &file.to_string_lossy()]);
    assert!(inspected.stdout.contains(&format!("may do without an approval: {line}")), "{}", inspected.stdout);
}
