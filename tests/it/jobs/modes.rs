//! The four modes, tested with the golden flow (see `TestEnv::golden`), and the requirements that a policy
//! sets for answers.

use serde_json::{Value, json};

use crate::support::plugins::built_guests::guest;
use crate::support::test_env::{TestEnv, step};

fn message_count(place: &TestEnv) -> usize {
    std::fs::read_dir(place.dir.join("outbox/new")).map_or(0, Iterator::count)
}

fn run_args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "plan.json", "--json", "--actor", "ada"], more].concat()
}

fn add_policy(place: &TestEnv, text: &str) {
    let file = place.dir.join("latch.toml");
    let config = std::fs::read_to_string(&file).expect("readable");
    std::fs::write(&file, format!("{config}\n{text}\n")).expect("writable");
}

fn reason_codes(response: &Value) -> Vec<String> {
    let steps = response["steps"].as_array().expect("a list");
    steps.iter().map(|step| step["reason_code"].as_str().unwrap_or_default().to_owned()).collect()
}

fn assert_replays(place: &TestEnv, response: &Value) {
    let job = response["job_id"].as_str().expect("a response names its job");
    let replay = place.latch(&["job", "replay", job, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &Value::Null), "{} {}", replay.stdout, replay.stderr);
}

/// I42: a dry run computes every step, executes no world-changing call, and reports each such call with its
/// arguments.
#[test]
fn dry_run_of_the_golden_flow_reports_the_calls_it_would_make() {
    let place = TestEnv::golden("atomic").fresh_copy();
    let dry = place.latch(&run_args(&["--mode", "DRY_RUN"]));
    let response = dry.json();
    assert_eq!((dry.code, &response["status"]), (0, &json!("completed")), "{} {}", dry.stdout, dry.stderr);
    assert_eq!(message_count(&place), 0);
    let would = |step: usize| response["steps"][step]["would_call"].clone();
    assert_eq!(reason_codes(&response)[4], "MODE_FORBIDS", "{response:#}");
    assert_eq!(would(4)["slot"], "s5");
    assert!(would(4)["args"].is_object(), "{response:#}");
    let left_out = response["steps"][5].clone();
    assert_eq!(left_out["state"], "SKIPPED", "{response:#}");
    assert!(would(5)["args"].is_object(), "{response:#}");
    assert_replays(&place, &response);

    let job = response["job_id"].as_str().expect("an id");
    let displayed = place.latch(&["job", "show", job]);
    assert!(displayed.stdout.contains("s5 would call"), "{}", displayed.stdout);

    // The dry run reports the same arguments as the gate shows.
    let gated = place.latch(&run_args(&[])).json();
    let displayed = place.latch(&["job", "show", gated["job_id"].as_str().expect("an id")]);
    let named =
        would(4)["args"].as_object().expect("checked").keys().all(|key| displayed.stdout.contains(key.as_str()));
    assert!(named, "{}", displayed.stdout);
}

/// I42, I19: if one of a step's concurrent calls changes the world, a dry run reports this call and executes none of
/// the calls. The dry run replays and verifies.
#[test]
fn dry_run_stops_before_concurrent_calls_and_replays() {
    let read = json!({ "operator": "Effect.Read", "args": { "note": 1 } });
    let send = json!({ "operator": "Effect.Opaque", "args": { "note": 3 } });
    for calls in [json!([read, read, send]), json!([send, read]), json!([read, send, send])] {
        let at = calls.as_array().unwrap().iter().position(|call| *call == send).unwrap();
        let payload = json!({ "all": true, "calls": calls });
        let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[step("d", "Driver.Run", &[], payload)]);
        let response = place.latch(&run_args(&["--mode", "DRY_RUN"])).json();
        assert_eq!(response["steps"][0]["would_call"]["slot"], format!("d/{at}"), "{response:#}");
        assert!(place.effect_counts().is_empty());
        assert_replays(&place, &response);
        let job = response["job_id"].as_str().unwrap();
        assert_eq!(place.latch(&["job", "export", job, "--out", "e.jsonl"]).code, 0);
        let verified = place.latch(&["verify", "e.jsonl", "--plugins", ".latch/components"]);
        assert_eq!(verified.code, 0, "{}", verified.stdout);
    }
}

/// I42: in a dry run, a step plugin runs up to its first world-changing call.
#[test]
fn dry_run_stops_a_step_at_its_first_world_changing_call() {
    let place = TestEnv::witness("atomic").fresh_copy();
    let dry = place.latch(&run_args(&["--mode", "DRY_RUN"]));
    assert_eq!(dry.code, 0, "{} {}", dry.stdout, dry.stderr);
    let response = dry.json();
    let steps = response["steps"].as_array().expect("a list");
    // Only the read runs. The wait is skipped, and nothing is changed.
    let run: Vec<_> = steps.iter().filter(|step| step["reason_code"] != "MODE_FORBIDS").collect();
    assert_eq!(run.len(), 1, "{response:#}");
    assert_eq!(run[0]["state"], "SUCCEEDED", "{response:#}");
    let would = &steps.iter().find(|step| step["step_id"] == "d").expect("it is in the plan")["would_call"];
    assert_eq!(would, &json!({ "slot": "d/0", "operator": "Effect.Opaque", "args": { "note": 4 } }));
    assert!(place.effect_counts().is_empty());
    assert_replays(&place, &response);
}

#[test]
fn draft_only_mode_produces_drafts_and_sends_nothing() {
    let place = TestEnv::golden("atomic").fresh_copy();
    let drafts = place.latch(&run_args(&["--mode", "DRAFT_ONLY", "--approve", "s5"]));
    let response = drafts.json();
    assert_eq!((drafts.code, &response["state"]), (3, &json!("PARTIAL")), "{response:#}");
    assert!(reason_codes(&response).contains(&"MODE_FORBIDS".to_owned()), "{response:#}");
    assert_eq!(response["outcomes"].as_array().map(Vec::len), Some(4), "the drafts are there: {response:#}");
    assert_eq!(message_count(&place), 0);
    assert_replays(&place, &response);
}

/// I42: `AUTO_EXEC` requires the tenant's permission and trust in the actor. The plan's own gates still
/// apply.
#[test]
fn auto_exec_requires_permission_and_trust() {
    let template = TestEnv::witness("atomic");
    let auto = ["--mode", "AUTO_EXEC"];
    let place = template.fresh_copy();
    assert_eq!(place.latch(&run_args(&auto)).code, 2, "no policy allows the mode");
    add_policy(&place, "[policy.default]\nmodes = [\"AUTO_EXEC\"]");
    let refused = place.latch(&run_args(&auto));
    assert_eq!(refused.code, 2, "a mode is not trust: {}", refused.stdout);
    assert!(format!("{}{}", refused.stdout, refused.stderr).contains("auto_exec = true"), "{}", refused.stderr);

    let trust = |level: u32| {
        let of = |operator: &str| format!("\"ada/{operator}\" = {level}");
        let all = ["Effect.Opaque", "Effect.Keyed", "Effect.Queryable"].map(of).join(", ");
        format!("[policy.default]\nmodes = [\"AUTO_EXEC\"]\nauto_exec = true\ntrust = {{ {all} }}")
    };
    let place = template.fresh_copy();
    add_policy(&place, &trust(2));
    let waits = place.latch(&run_args(&auto));
    assert_eq!(
        (waits.code, &waits.json()["blocked_on"]["step_id"]),
        (3, &json!("o")),
        "the minimum trust is 3: {}",
        waits.stdout
    );
    assert!(place.effect_counts().is_empty());

    let place = template.fresh_copy();
    add_policy(&place, &trust(3));
    let done = place.latch(&run_args(&auto));
    assert_eq!(
        (done.code, place.effect_counts()["o"], place.effect_counts()["d/0"]),
        (0, 1, 1),
        "{} {}",
        done.stdout,
        done.stderr
    );
    assert_replays(&place, &done.json());
    let eve = place.latch(&["run", "plan.json", "--json", "--actor", "eve", "--mode", "AUTO_EXEC"]);
    assert_eq!(eve.json()["status"], "partial", "trust is of one actor: {}", eve.stdout);

    // The plan's own gate applies even to a trusted actor.
    let place = TestEnv::golden("atomic").fresh_copy();
    let mut plan: Value =
        serde_json::from_slice(&std::fs::read(place.dir.join("plan.json")).expect("readable")).expect("JSON");
    let all =
        plan["steps"].as_array().expect("steps").iter().map(|step| step["name"].as_str().expect("named").to_owned());
    let all: Vec<_> = all.map(|name| format!("\"ada/{name}\" = 3")).collect();
    add_policy(
        &place,
        &format!("[policy.default]\nmodes = [\"AUTO_EXEC\"]\nauto_exec = true\ntrust = {{ {} }}", all.join(", ")),
    );
    plan["steps"][5]["gate"] = json!("human_confirm");
    std::fs::write(place.dir.join("plan.json"), plan.to_string()).expect("writable");
    let asks = place.latch(&run_args(&[auto.as_slice(), &["--approve", "s5"]].concat())).json();
    assert_eq!(
        asks["blocked"].as_array().map(|blocked| blocked.iter().any(|b| b["step_id"] == "s6")),
        Some(true),
        "{asks:#}"
    );
    assert_eq!(message_count(&place), 0);
}

/// I42: an open job follows two policies: the policy at its acceptance and the current policy. Whatever one of them
/// forbids is forbidden, so an actor is trusted only if both policies trust the actor.
#[test]
fn open_job_uses_the_narrower_of_two_policies() {
    let place = TestEnv::witness("atomic").fresh_copy();
    let config = std::fs::read_to_string(place.dir.join("latch.toml")).expect("readable");
    let auto = "[policy.default]\nmodes = [\"AUTO_EXEC\"]\nauto_exec = true\n";
    add_policy(&place, &format!("{auto}trust = {{ \"ada/Effect.Keyed\" = 3, \"ada/Effect.Queryable\" = 3 }}"));
    let waits = place.latch(&run_args(&["--mode", "AUTO_EXEC"])).json();
    assert_eq!(waits["blocked_on"]["step_id"], "o", "{waits:#}");
    let job = waits["job_id"].as_str().expect("an id");
    let all = "trust = { \"ada/Effect.Opaque\" = 3, \"ada/Effect.Queryable\" = 3 }";
    std::fs::write(place.dir.join("latch.toml"), format!("{config}\n{auto}{all}\n")).expect("writable");
    assert_eq!(place.latch(&["job", "approve", job, "o"]).code, 0);
    let waits = place.latch(&["resume", job, "--json"]).json();
    assert_eq!(waits["blocked_on"]["step_id"], "k", "trust in this operator was withdrawn: {waits:#}");
    assert_eq!(place.latch(&["job", "approve", job, "k"]).code, 0);
    let waits = place.latch(&["resume", job, "--json"]).json();
    assert_eq!(waits["blocked_on"]["slot"], "d/0", "trust that is newer than the job does not count: {waits:#}");
}

/// I42: if the policy no longer lists the mode of an open job, the job ends and changes nothing more.
#[test]
fn withdrawn_mode_ends_the_open_job_without_changes() {
    let place = TestEnv::witness("atomic").fresh_copy();
    let config = std::fs::read_to_string(place.dir.join("latch.toml")).expect("readable");
    let auto = "auto_exec = true\ntrust = { \"ada/Effect.Keyed\" = 3, \"ada/Effect.Queryable\" = 3 }";
    add_policy(&place, &format!("[policy.default]\nmodes = [\"AUTO_EXEC\"]\n{auto}"));
    let waits = place.latch(&run_args(&["--mode", "AUTO_EXEC"])).json();
    assert_eq!(waits["blocked_on"]["step_id"], "o", "{waits:#}");
    let job = waits["job_id"].as_str().expect("an id");
    assert_eq!(place.latch(&["job", "approve", job, "o"]).code, 0);
    let now = format!("{config}\n[policy.default]\nmodes = [\"HUMAN_GATED\"]\n{auto}\n");
    std::fs::write(place.dir.join("latch.toml"), now).expect("writable");
    let failed = place.latch(&["resume", job, "--json"]);
    assert_eq!(failed.code, 3, "{} {}", failed.stdout, failed.stderr);
    let response = failed.json();
    let failed = &response["failed"][0];
    assert_eq!((&failed["step_id"], &failed["reason_code"]), (&json!("o"), &json!("MODE_FORBIDS")), "{response:#}");
    assert!(failed["message"].as_str().expect("text").contains("AUTO_EXEC"), "{failed}");
    assert!(
        place.effect_counts().is_empty(),
        "an approval does not replace the withdrawn mode: {:?}",
        place.effect_counts()
    );
    assert_replays(&place, &response);
}

/// I42: if the policy requires sources, an answer that states facts without sources is denied.
#[test]
fn answer_without_required_sources_is_denied() {
    let place = TestEnv::witness("atomic").fresh_copy();
    let step = json!({
        "step_id": "r", "kind": "operator", "name": "Effect.Read", "payload": { "note": 1 }, "effects": ["read_only"],
        "policy_tags": [], "cache_policy": "never", "idempotency_template": "r",
    });
    let plan = json!({ "plan_id": "r", "schema_version": "1.0", "steps": [step] });
    std::fs::write(place.dir.join("plan.json"), plan.to_string()).expect("writable");
    assert_eq!(place.latch(&run_args(&[])).code, 0);
    add_policy(&place, "[policy.strict]\nrequire = { \"Effect.Read\" = [\"citations\"] }");
    assert_eq!(place.latch(&run_args(&["--new"])).code, 0, "another tenant's rules do not apply");
    let denied = place.latch(&run_args(&["--tenant", "strict"]));
    assert_eq!(denied.code, 1, "{} {}", denied.stdout, denied.stderr);
    assert_eq!(denied.json()["failed"][0]["reason_code"], "POLICY_DENIED", "{}", denied.stdout);
    assert_replays(&place, &denied.json());
}

/// I253: a requirement holds for tools that declare `stable` or `pure`, for a tool that changes the world, and for the
/// output of a step plugin. A denied step replays and its evidence verifies.
#[test]
fn requirement_holds_whatever_a_plugin_declares() {
    let place = TestEnv::witness("atomic").fresh_copy();
    let tool = format!(
        "[[plugin]]\nname = \"world\"\nsource = {:?}\ngrants = {{ http = [\"http://127.0.0.1:9\"], \
         tcp = [\"127.0.0.1:9\"] }}\n",
        guest("hostile-tool"),
    );
    add_policy(&place, &tool);
    let names = ["World.Model", "World.Pure", "World.Outcome", "World.Keep", "Driver.Run"];
    let demands: Vec<String> = names.map(|name| format!("{name:?} = [\"verified\"]")).to_vec();
    add_policy(&place, &format!("[policy.strict]\nrequire = {{ {} }}", demands.join(", ")));
    for name in names {
        let payload = if name == "Driver.Run" { json!({ "calls": [] }) } else { json!({ "do": [] }) };
        let plan = json!({ "plan_id": name, "schema_version": "1.0", "steps": [step("r", name, &[], payload)] });
        std::fs::write(place.dir.join("plan.json"), plan.to_string()).expect("writable");
        let free = place.latch(&run_args(&[]));
        assert_eq!(free.code, 0, "{name}: {} {}", free.stdout, free.stderr);
        let denied = place.latch(&run_args(&["--tenant", "strict"]));
        assert_eq!(denied.code, 1, "{name}: {} {}", denied.stdout, denied.stderr);
        let response = denied.json();
        assert_eq!(response["failed"][0]["reason_code"], "POLICY_DENIED", "{name}: {}", denied.stdout);
        assert_replays(&place, &response);
        let job = response["job_id"].as_str().expect("an id");
        let exported = place.latch(&["job", "export", job, "--out", "evidence.jsonl"]);
        assert_eq!(exported.code, 0, "{name}: {}", exported.stderr);
        let verified = place.latch(&["verify", "evidence.jsonl", "--plugins", ".latch/components"]);
        assert_eq!(verified.code, 0, "{name}: {} {}", verified.stdout, verified.stderr);
        std::fs::remove_file(place.dir.join("evidence.jsonl")).expect("removable");
    }
}

/// I42: a mode that the tenant's policy does not list is refused, and nothing is written.
#[test]
fn mode_missing_from_the_policy_is_refused() {
    let place = TestEnv::witness("atomic").fresh_copy();
    add_policy(&place, "[policy.default]\nmodes = [\"DRY_RUN\"]\n[policy.acme]\nmodes = [\"HUMAN_GATED\"]");
    for (mode, tenant) in [("HUMAN_GATED", "other"), ("DRAFT_ONLY", "acme"), ("DRY_RUN", "acme")] {
        let refused = place.latch(&run_args(&["--mode", mode, "--tenant", tenant]));
        assert_eq!(refused.code, 2, "{mode}, {tenant}: {} {}", refused.stdout, refused.stderr);
    }
    assert_eq!(place.only_job(), Value::Null);
    let allowed = place.latch(&run_args(&["--mode", "HUMAN_GATED", "--tenant", "acme"]));
    assert_eq!(allowed.code, 3, "the job waits at its gate: {} {}", allowed.stdout, allowed.stderr);
}

/// A job's log names the policy under which the job was accepted.
#[test]
fn job_records_the_policy_it_was_accepted_under() {
    let place = TestEnv::witness("atomic").fresh_copy();
    add_policy(&place, "[policy.default]\nversion = 7");
    let response = place.latch(&run_args(&["--mode", "DRY_RUN"])).json();
    let job = response["job_id"].as_str().expect("an id");
    let events = place.latch(&["job", "events", job, "--json"]).json();
    let policy = events["events"].as_array().expect("a list").iter().find_map(|event| event.get("policy").cloned());
    let policy = policy.unwrap_or_else(|| panic!("no event contains the policy: {events:#}"));
    assert_eq!(policy["version"], 7, "{policy}");
    assert!(policy["hash"].is_string(), "{policy}");
}
