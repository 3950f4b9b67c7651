//! Confirmation across processes: a job is killed, its effect is changed from outside, and the job is
//! resumed. The tests use real components, files and a real HTTP server.

use serde_json::{Value, json};

use crate::support::plugins::built_guests::guest;
use crate::support::program;
use crate::support::program::{latch_command, run_latch};
use crate::support::servers::http::TestServer;
use crate::support::test_env::{TestEnv, step, wait};

/// Secret of the plugin. The secret may reach only the test server.
const CANARY: &str = "tok-canary-81f3";
/// The same secret in base64.
const CANARY_BASE64: &str = "dG9rLWNhbmFyeS04MWYz";

/// Creates an environment with a tool that executes the script in its arguments. `lines` are added to the
/// table of the tool's plugin in `latch.toml`.
fn env_with_scripted_tool(server: &TestServer, lines: &str) -> TestEnv {
    let config = format!(
        "[[plugin]]\nname = \"world\"\nsource = {:?}\n{lines}\n\
         grants = {{ http = [{{ url = \"http://127.0.0.1:{}\", secrets = [\"TOKEN\"] }}], tcp = [\"127.0.0.1:9\"], \
         dirs = [{{ host = \"d\", guest = \"/d\", write = true }}] }}\n\
         limits = {{ memory = \"8MiB\", fuel = 50_000_000, timeout = \"3s\" }}\n",
        guest("hostile-tool"),
        server.port,
    );
    let place = TestEnv::configured(&config, vec!["a", "b"]);
    std::fs::create_dir(place.dir.join("d")).unwrap();
    place
}

/// Sets a plan of three steps: `a` writes `/d/f` and reports the state change `change`, `r` only sleeps, and `b` writes
/// `/d/g`.
fn with_three_step_plan(place: TestEnv, change: Value) -> TestEnv {
    let write = |path: &str| json!({ "write": { "path": path, "text": "one" } });
    place.with_plan(&[
        step("a", "World.Change", &[], json!({ "do": [write("/d/f"), { "change": change }] })),
        // Sleeps long enough for the effect of `a` to become durable.
        step("r", "World.Look", &["a"], json!({ "do": [{ "sleep": 1_000 }] })),
        step("b", "World.Change", &["r"], json!({ "do": [write("/d/g")] })),
    ])
}

/// Returns a state change that the tool's own `verify` function checks.
fn file_change() -> Value {
    json!({ "type": "file", "id": "/d/f", "operation": "create", "version": "one" })
}

/// Starts a job. Kills its process after the second call, `r`, was executed, but before the answer of `r` was recorded.
/// Returns the job's id.
fn run_until_killed(place: &TestEnv) -> String {
    use std::os::unix::process::ExitStatusExt;
    let output =
        latch_command(&place.dir, &place.run_args()).env("LATCH_CRASH_AT", "execute:after:2").output().unwrap();
    assert_eq!(output.status.signal(), Some(9), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_to_string(place.dir.join("d/f")).unwrap(), "one");
    place.only_job()["job_id"].as_str().unwrap().to_owned()
}

/// Returns a step `id` that waits for a short timer after the step `after`.
fn timer_after(id: &str, after: &str) -> Value {
    let mut short = wait(id, json!({ "wait_kind": "timer", "duration": "300ms" }));
    short["depends_on"] = json!([after]);
    short
}

fn resume_job(place: &TestEnv, id: &str) -> (i32, Value, String) {
    let output =
        latch_command(&place.dir, &["resume", id, "--json"]).env("LATCH_SECRET_TOKEN", CANARY).output().unwrap();
    let ran = program::command_output(output);
    let stderr = ran.stderr.clone();
    (ran.code, ran.json(), stderr)
}

fn change_file(place: &TestEnv) {
    std::fs::write(place.dir.join("d/f"), "two").unwrap();
}

fn events_of_type(place: &TestEnv, id: &str, name: &str) -> Vec<Value> {
    let events = place.latch(&["job", "events", id, "--json"]).json()["events"].clone();
    events.as_array().unwrap().iter().filter(|event| event["type"] == name).cloned().collect()
}

/// Checks that replay and `latch verify` accept the log. Returns the report of `latch verify`.
fn assert_verified(place: &TestEnv, id: &str) -> Value {
    let replay = place.latch(&["job", "replay", id, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &json!(null)), "{}", replay.stdout);
    let file = format!("{id}.jsonl");
    let exported = place.latch(&["job", "export", id, "--out", &file, "--force"]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    let verified = run_latch(&place.dir, &["verify", &file, "--json"]);
    assert_eq!(verified.code, 0, "{}", verified.stdout);
    verified.json()
}

/// I39: if every effect still equals its record, the job continues, and the confirmation writes no event.
#[test]
fn confirmed_effect_lets_the_job_continue_without_an_event() {
    let server = TestServer::start();
    let place = with_three_step_plan(env_with_scripted_tool(&server, ""), file_change());
    let id = run_until_killed(&place);
    let (code, response, _) = resume_job(&place, &id);
    assert_eq!((code, &response["state"]), (0, &json!("COMPLETED")), "{response:#}");
    assert!(place.dir.join("d/g").exists());
    assert!(events_of_type(&place, &id, "confirmation_failed").is_empty());
    let notes = assert_verified(&place, &id)["not_checked"].to_string();
    assert!(notes.contains("effects_not_asked_about") && !notes.contains("unverified_effects"), "{notes}");
}

/// I39: with `strict`, the default, an effect that differs from its record ends the job. No later step runs,
/// and a retry is refused.
#[test]
fn strict_mismatch_ends_the_job_for_good() {
    let server = TestServer::start();
    let place = with_three_step_plan(env_with_scripted_tool(&server, ""), file_change());
    let id = run_until_killed(&place);
    change_file(&place);
    let (code, response, stderr) = resume_job(&place, &id);
    assert_eq!((code, &response["state"]), (3, &json!("PARTIAL")), "{response:#}");
    let states: Vec<_> = response["steps"].as_array().unwrap().iter().map(|step| step["state"].clone()).collect();
    assert_eq!(states, ["SUCCEEDED", "CANCELLED", "CANCELLED"]);
    let unconfirmed = &response["unconfirmed"][0];
    assert_eq!((&unconfirmed["slot"], &unconfirmed["consequence"]), (&json!("a"), &json!("ended")));
    assert!(unconfirmed["found"].as_str().unwrap().contains("two"), "{unconfirmed}");
    assert!(stderr.contains("not confirmed"), "{stderr}");
    assert!(!place.dir.join("d/g").exists());
    let retried = place.latch(&["job", "retry", &id]);
    assert_eq!(retried.code, 2, "{}", retried.stdout);
    assert!(retried.stderr.contains("L0015") && retried.stderr.contains("is not as recorded"), "{}", retried.stderr);
    let displayed = place.latch(&["job", "show", &id]).stdout;
    assert!(displayed.contains("mismatch") && displayed.contains("CONFIRMATION_MISMATCH"), "{displayed}");
    assert_eq!(events_of_type(&place, &id, "confirmation_failed").len(), 1);
    assert_verified(&place, &id);
}

/// I39, I44, I45: if an effect is missing, its receipt is withheld from other jobs. After the job has ended, a person
/// decides about the receipt. A second job that waits for the receipt then continues.
#[test]
fn receipt_of_a_missing_effect_is_withheld_until_a_person_decides() {
    let server = TestServer::start();
    for gone in [true, false] {
        let place = with_three_step_plan(env_with_scripted_tool(&server, ""), file_change());
        let id = run_until_killed(&place);
        std::fs::remove_file(place.dir.join("d/f")).unwrap();
        resume_job(&place, &id);
        let again = place.latch(&[&place.run_args()[..], &["--new"]].concat());
        let response = again.json();
        assert_eq!(
            (again.code, &response["blocked"][0]["reason_code"]),
            (3, &json!("ACTION_IN_PROGRESS")),
            "{response:#}"
        );
        assert_eq!(response["blocked"][0]["holder"]["job_id"], json!(id));
        let displayed = place.latch(&["job", "show", &id, "--json"]).json();
        let say = format!("latch job confirm {id} a --gone --reason TEXT");
        assert!(displayed["next_actions"].as_array().unwrap().contains(&json!(say)), "{displayed:#}");

        let word: &[&str] = if gone { &["--gone"] } else { &[] };
        let printed =
            place.latch(&[&["job", "confirm", &id, "a", "--actor", "bob", "--reason", "looked"], word].concat());
        assert_eq!(printed.code, 0, "{}", printed.stderr);
        assert_eq!(place.latch(&["job", "confirm", &id, "a"]).code, 2, "a second confirmation is refused");
        let last = events_of_type(&place, &id, "confirmation_accepted").pop().unwrap();
        assert_eq!((&last["actor"], last["gone"] == json!(true)), (&json!("bob"), gone), "{last}");
        assert_eq!(
            place.latch(&["job", "show", &id, "--json"]).json()["state"],
            "PARTIAL",
            "the job's state is unchanged"
        );
        let other = response["job_id"].as_str().unwrap();
        let (code, response, _) = resume_job(&place, other);
        assert_eq!((code, &response["state"]), (0, &json!("COMPLETED")), "{response:#}");
        assert_eq!(place.dir.join("d/f").exists(), gone, "the action is performed again only if its effect is missing");
        assert_verified(&place, &id);
        assert_verified(&place, other);
    }
}

/// I39: if `warn` is set for all plugins and an effect differs from its record, the difference is counted and
/// shown, and the job continues.
#[test]
fn warned_mismatch_is_counted_and_displayed() {
    let server = TestServer::start();
    let place = with_three_step_plan(env_with_scripted_tool(&server, "confirmation = \"warn\""), file_change());
    let id = run_until_killed(&place);
    change_file(&place);
    let (code, response, stderr) = resume_job(&place, &id);
    assert_eq!((code, &response["state"]), (0, &json!("COMPLETED")), "{response:#}");
    assert_eq!(response["confirmation_replay_warnings_total"], 1);
    assert!(stderr.contains("not confirmed"), "{stderr}");
    let displayed = place.latch(&["job", "show", &id]).stdout;
    assert!(displayed.contains("confirmation_replay_warnings_total: 1"), "{displayed}");
    assert_verified(&place, &id);
}

/// I39: with `human_in_loop`, a person is asked only about the effect that differs from its record. The
/// person's confirmation is accepted once and recorded with actor and reason.
#[test]
fn person_confirms_a_mismatch_once_with_a_reason() {
    let server = TestServer::start();
    let place =
        with_three_step_plan(env_with_scripted_tool(&server, "confirmation = \"human_in_loop\""), file_change());
    let id = run_until_killed(&place);
    change_file(&place);
    for _ in 0..2 {
        let (code, response, _) = resume_job(&place, &id);
        assert_eq!((code, &response["state"]), (3, &json!("PARKED")), "{response:#}");
        let blocked = &response["blocked_on"];
        assert_eq!((&blocked["reason_code"], &blocked["slot"]), (&json!("CONFIRMATION_REQUIRED"), &json!("a")));
        let next = format!("latch job confirm {id} a --reason TEXT");
        assert_eq!(response["next_actions"][0], json!(next));
        let go_on = place.latch(&["job", "resolve", &id, "--continue"]);
        assert_eq!(go_on.code, 0, "the effect is verified again: {}", go_on.stderr);
    }
    resume_job(&place, &id);
    assert!(!place.dir.join("d/g").exists());
    let wrong = place.latch(&["job", "confirm", &id, "b"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("no effect of b needs confirmation"), "{}", wrong.stderr);
    let confirmed = place.latch(&["job", "confirm", &id, "a", "--reason", "I wrote it", "--actor", "bob"]);
    assert_eq!(confirmed.code, 0, "{}", confirmed.stderr);
    let (code, response, _) = resume_job(&place, &id);
    assert_eq!((code, &response["state"]), (0, &json!("COMPLETED")), "{response:#}");
    let accepted = events_of_type(&place, &id, "confirmation_accepted");
    assert_eq!(accepted.len(), 1);
    assert_eq!((&accepted[0]["actor"], &accepted[0]["reason"]), (&json!("bob"), &json!("I wrote it")));
    let report = assert_verified(&place, &id);
    assert_eq!(report["intact"], true);
}

/// I39, I11: if a verifier fails, its outcome is `unavailable`. The effect does not count as changed, and the
/// host continues. A verifier can change nothing.
#[test]
fn failed_verifier_is_reported_as_unavailable() {
    let server = TestServer::start();
    let place = env_with_scripted_tool(&server, "");
    for (script, says) in [
        (json!([{ "error": "no" }]), "RATE_LIMIT"),
        (json!(["trap"]), "PLUGIN_TRAP"),
        (json!(["spin"]), "OUT_OF_FUEL"),
        (json!(["allocate"]), "MEMORY_LIMIT"),
        (json!([{ "sleep": 60_000 }]), "WALL_CLOCK_LIMIT"),
    ] {
        let script = json!({ "do": script }).to_string();
        let place = with_three_step_plan(place.fresh_copy(), json!({ "type": "script", "id": "s", "ref": script }));
        let id = run_until_killed(&place);
        let (code, response, _) = resume_job(&place, &id);
        assert_eq!((code, &response["state"]), (3, &json!("PARKED")), "{script}: {response:#}");
        let unconfirmed = &response["unconfirmed"][0];
        assert_eq!((&unconfirmed["outcome"], &unconfirmed["consequence"]), (&json!("unavailable"), &json!("asked")));
        assert!(unconfirmed["found"].as_str().unwrap().contains(says), "{script}: {unconfirmed}");
        assert_verified(&place, &id);
    }
    let url = server.url("/");
    let script = json!({ "do": [
        { "write": { "path": "/d/planted", "text": "x" } }, { "http": { "method": "POST", "url": url, "body": ["x"] } },
        { "kv-set": { "key": "k", "value": "v" } },
    ] });
    let place =
        with_three_step_plan(place.fresh_copy(), json!({ "type": "script", "id": "s", "ref": script.to_string() }));
    let id = run_until_killed(&place);
    let (_, response, _) = resume_job(&place, &id);
    let answers: Vec<Value> = serde_json::from_str(response["unconfirmed"][0]["found"].as_str().unwrap()).unwrap();
    assert!(answers.iter().all(|answer| answer.get("error").is_some()), "{answers:?}");
    assert!(!place.dir.join("d/planted").exists() && server.requests().is_empty());
}

/// I39: the host's `etag` verifier sends the plugin's secret to the server. The verifier checks the resource once in
/// each attempt and never in replay.
#[test]
fn host_verifier_checks_the_entity_tag_once_per_attempt() {
    let lines = "verifier = { name = \"etag\", headers = { Authorization = \"Bearer ${TOKEN}\" } }";
    let change = |server: &TestServer| json!({ "type": "page", "id": "1", "operation": "update", "etag": "\"v1\"", "ref": server.url("/pages/1") });
    let cases = [
        (200, Some("\"v1\""), "COMPLETED", None, 1),
        (200, Some("W/\"v1\""), "COMPLETED", None, 1),
        (200, Some("\"v2\""), "PARTIAL", Some("recorded was"), 1),
        (404, None, "PARTIAL", Some("not there any more"), 1),
        (503, None, "PARKED", Some("answered 503"), 1),
        (302, None, "PARKED", Some("answered 302"), 1),
        // If the answer has no entity tag, the host sends a second request for the whole resource.
        (200, None, "PARKED", Some("no entity tag"), 2),
    ];
    for (status, etag, state, says, requests) in cases {
        let server = TestServer::start();
        let place = with_three_step_plan(env_with_scripted_tool(&server, lines), change(&server));
        let id = run_until_killed(&place);
        server.set_resource("/pages/1", status, etag);
        let (_, response, _) = resume_job(&place, &id);
        assert_eq!(response["state"], state, "{status} {etag:?}: {response:#}");
        let found = response["unconfirmed"][0]["found"].as_str();
        assert!(says.is_none_or(|says| found.unwrap().contains(says)), "{status} {etag:?}: {found:?}");
        assert_verified(&place, &id);
        let asked = server.requests();
        assert_eq!(asked.len(), requests, "not in replay: {asked:#?}");
        assert!(asked[0].line.starts_with("HEAD /pages/1 "), "{}", asked[0].line);
        assert_eq!(asked[0].header("authorization"), Some(&*format!("Bearer {CANARY}")));
        let kept = place.latch(&["job", "events", &id, "--json"]).stdout + &response.to_string();
        assert!(!kept.contains(CANARY), "I13: {kept}");
    }
}

/// I254: a secret that the server repeats in its entity tag is in no message and in no event.
#[test]
fn secret_in_an_entity_tag_is_hidden() {
    let lines = "verifier = { name = \"etag\", headers = { Authorization = \"Bearer ${TOKEN}\" } }";
    let server = TestServer::start();
    let change =
        json!({ "type": "page", "id": "1", "operation": "update", "etag": "\"v1\"", "ref": server.url("/pages/1") });
    let place = with_three_step_plan(env_with_scripted_tool(&server, lines), change);
    let id = run_until_killed(&place);
    server.set_resource("/pages/1", 200, Some(&format!("\"{CANARY} {CANARY_BASE64}\"")));
    let (_, response, stderr) = resume_job(&place, &id);
    let found = response["unconfirmed"][0]["found"].as_str().unwrap_or_else(|| panic!("{response:#}"));
    assert!(found.contains("<secret TOKEN>"), "{found}");
    let kept = place.latch(&["job", "events", &id, "--json"]).stdout + &response.to_string() + &stderr;
    assert!(!kept.contains(CANARY) && !kept.contains(CANARY_BASE64), "{kept}");
}

/// I200, I254: the verifier sends a secret only to addresses that a grant binds it to.
#[test]
fn header_with_a_secret_goes_only_to_its_bound_path() {
    let lines = "verifier = { name = \"etag\", headers = { Authorization = \"Bearer ${TOKEN}\" } }";
    for (path, header) in [("/bound/1", Some(format!("Bearer {CANARY}"))), ("/other/1", None)] {
        let server = TestServer::start();
        let here = format!("http://127.0.0.1:{}", server.port);
        let place = env_with_scripted_tool(&server, lines).edit_config(|config| {
            let bound = format!("{{ url = \"{here}/bound/\", secrets = [\"TOKEN\"] }}, {here:?}");
            config.replace(&format!("{{ url = {here:?}, secrets = [\"TOKEN\"] }}"), &bound)
        });
        let change =
            json!({ "type": "page", "id": "1", "operation": "update", "etag": "\"v1\"", "ref": server.url(path) });
        let place = with_three_step_plan(place, change);
        let id = run_until_killed(&place);
        server.set_resource(path, 200, Some("\"v1\""));
        assert_eq!(resume_job(&place, &id).1["state"], "COMPLETED");
        assert_eq!(server.requests()[0].header("authorization"), header.as_deref(), "{path}");
    }
}

/// I39: the host's verifier for files compares the digest of the file with the recorded digest.
#[test]
fn host_verifier_checks_the_file_digest() {
    use sha2::Digest;
    let server = TestServer::start();
    let sha256 = hex::encode(sha2::Sha256::digest("one"));
    let change = json!({ "type": "file", "id": "f", "version": format!("sha256:{sha256}"), "ref": "/d/f" });
    let place = with_three_step_plan(env_with_scripted_tool(&server, "verifier = \"file-digest\""), change);
    let id = run_until_killed(&place.fresh_copy());
    assert!(!id.is_empty());
    for (changes, state) in [(false, "COMPLETED"), (true, "PARTIAL")] {
        let place = place.fresh_copy();
        let id = run_until_killed(&place);
        if changes {
            change_file(&place);
        }
        let (_, response, _) = resume_job(&place, &id);
        assert_eq!(response["state"], state, "{response:#}");
    }
    let place = place.fresh_copy();
    let id = run_until_killed(&place);
    std::fs::remove_file(place.dir.join("d/f")).unwrap();
    let (_, response, _) = resume_job(&place, &id);
    let found = response["unconfirmed"][0]["found"].as_str().unwrap();
    assert!(found.contains("/d/f is not there any more"), "{found}");
}

/// I39: the shipped mail tool verifies the message that it delivered. A deleted message is a mismatch.
#[test]
fn mail_tool_reports_its_deleted_message_as_a_mismatch() {
    let template = TestEnv::golden("atomic").with_plan(&[
        step("a", "Mail.Send", &[], json!({ "to": "grace@example.org", "subject": "Hello", "body": "Dear Grace" })),
        timer_after("w", "a"),
        step("r", "File.Read", &["w"], json!({ "path": "/data/cv.md" })),
    ]);
    for (taken, state) in [(false, "COMPLETED"), (true, "PARTIAL")] {
        let place = template.fresh_copy();
        let mut run = latch_command(&place.dir, &["run", "plan.json", "--json", "--approve", "a"]);
        run.env("LATCH_CRASH_AT", "execute:before:2").output().unwrap();
        let message = std::fs::read_dir(place.dir.join("outbox/new")).unwrap().next().unwrap().unwrap().path();
        // A mail reader may move a message that it has shown. The verifier accepts a moved message.
        let seen = place.dir.join("outbox/cur").join(format!("{}:2,S", message.file_name().unwrap().to_str().unwrap()));
        std::fs::create_dir_all(seen.parent().unwrap()).unwrap();
        std::fs::rename(&message, &seen).unwrap();
        if taken {
            std::fs::remove_file(&seen).unwrap();
        }
        let id = place.only_job()["job_id"].as_str().unwrap().to_owned();
        let (_, response, _) = resume_job(&place, &id);
        assert_eq!(response["state"], state, "{response:#}");
        let found = response["unconfirmed"][0]["found"].as_str();
        assert_eq!(found.is_some_and(|found| found.contains("no message")), taken, "{found:?}");
        assert_verified(&place, &id);
    }
}

/// I39: without a verifier nothing is checked, and every report states `unverified`.
#[test]
fn plugin_without_verifier_is_reported_as_unverified() {
    let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[
        step("o", "Effect.Opaque", &[], json!({ "note": 1 })),
        step("r", "Effect.Read", &["o"], json!({})),
    ]);
    let mut run = latch_command(&place.dir, &["run", "plan.json", "--json", "--approve", "o"]);
    run.env("LATCH_CRASH_AT", "execute:before:2").output().unwrap();
    for file in std::fs::read_dir(place.dir.join("effects")).unwrap() {
        std::fs::remove_file(file.unwrap().path()).unwrap();
    }
    let id = place.only_job()["job_id"].as_str().unwrap().to_owned();
    let (code, response, _) = resume_job(&place, &id);
    assert_eq!((code, &response["state"]), (0, &json!("COMPLETED")), "{response:#}");
    assert!(assert_verified(&place, &id)["not_checked"].to_string().contains("unverified_effects"));

    let listed = place.latch(&["plugin", "list"]).stdout;
    assert!(listed.contains("unverified"), "{listed}");
    let documents = place.latch(&["plugin", "list", "--json"]).json();
    assert_eq!(documents["plugins"][0]["confirmation"]["unverified"], true, "{documents:#}");
    let doctor = place.latch(&["doctor", "--json"]).json();
    let check = doctor["checks"].as_array().unwrap().iter().find(|check| check["check"] == "confirmation").unwrap();
    assert!(check["found"].as_str().unwrap().contains("witness: unverified"), "{check}");
    let source = std::fs::read_to_string(place.dir.join("latch.toml")).unwrap();
    let source: toml::Table = source.parse().unwrap();
    let component = source["plugin"][0]["source"].as_str().unwrap();
    let inspected = place.latch(&["plugin", "inspect", component]).stdout;
    assert!(inspected.contains("confirmed by: unverified"), "{inspected}");
}
