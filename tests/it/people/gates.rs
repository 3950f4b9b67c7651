//! Gates across processes: quorum, expiry, self-approval, and policy changes between approval and run.

use serde_json::{Value, json};

use crate::support::test_env::{TestEnv, sleep_past, step};

/// Returns two plans, each with its gated slot. In the first plan, a step is the gated call. In the second plan, a step
/// plugin makes the gated call.
fn gated_plans() -> [(&'static str, Value); 2] {
    let call = json!({ "operator": "Effect.Opaque", "args": { "note": 1 } });
    [
        ("o", step("o", "Effect.Opaque", &[], json!({ "note": 1 }))),
        ("d/0", step("d", "Driver.Run", &[], json!({ "calls": [call] }))),
    ]
}

fn submit_gated(place: &TestEnv) -> Value {
    let ran = place.latch(&["run", "plan.json", "--json", "--actor", "ada"]);
    assert_eq!(ran.code, 3, "{} {}", ran.stdout, ran.stderr);
    ran.json()
}

fn assert_replays(place: &TestEnv, id: &str) {
    let replay = place.latch(&["job", "replay", id, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &json!(null)), "{}", replay.stdout);
}

/// I20, I27: a quorum of two needs two different approvers. The person who made the request does not count.
#[test]
fn quorum_counts_distinct_approvers_other_than_the_requester() {
    for (slot, step) in gated_plans() {
        let policy = "[policy.default.gate]\nquorum = 2\nself_approve = false";
        let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[step]).configure(policy);
        let id = submit_gated(&place)["job_id"].as_str().unwrap().to_owned();
        let approve = |actor: &str| place.latch(&["job", "approve", &id, slot, "--actor", actor]);
        let own = approve("ada");
        assert_eq!(own.code, 2, "{}", own.stdout);
        assert!(own.stderr.contains("one's own job"), "{}", own.stderr);
        for _ in 0..2 {
            assert_eq!(approve("bob").code, 0);
        }
        let resumed = place.latch(&["resume", &id, "--json"]).json();
        let blocked = &resumed["blocked_on"];
        assert_eq!((&blocked["quorum"], &blocked["approved_by"]), (&json!(2), &json!(["bob"])), "{resumed:#}");
        assert!(blocked["until"].is_i64(), "the gate has an expiry: {blocked}");
        let displayed = place.latch(&["job", "show", &id]).stdout;
        assert!(displayed.contains("1 of 2 approvals (bob claimed)") && displayed.contains("expires "), "{displayed}");
        assert!(place.effect_counts().is_empty());
        assert_eq!(approve("eve").code, 0);
        assert!(place.effect_counts().is_empty(), "approving executes nothing");
        let done = place.latch(&["resume", &id, "--json"]);
        assert_eq!((done.code, &done.json()["state"]), (0, &json!("COMPLETED")), "{}", done.stdout);
        assert_eq!(place.effect_counts().get(slot), Some(&1));
        assert_eq!(approve("eve").code, 2, "the gate is already decided");
        assert_replays(&place, &id);
    }
}

/// I27: an expired gate fails its call. A step plugin receives `POLICY_DENIED` as the recorded answer.
#[test]
fn expired_gate_refuses_the_call() {
    for (slot, step) in gated_plans() {
        let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[step]);
        let place = place.configure("[policy.default.gate]\nexpires = \"3s\"");
        let parked = submit_gated(&place);
        let id = parked["job_id"].as_str().unwrap().to_owned();
        sleep_past(&parked["blocked_on"]["until"]);
        let late = place.latch(&["job", "approve", &id, slot, "--actor", "bob"]);
        assert_eq!(late.code, 2, "the gate has expired even before the expiry is recorded: {}", late.stdout);
        let response = place.latch(&["resume", &id, "--json"]).json();
        match slot {
            "o" => {
                assert_eq!(response["state"], "FAILED");
                assert_eq!(response["failed"][0]["reason_code"], "GATE_EXPIRED", "{response:#}");
            }
            _ => assert_eq!(response["state"], "COMPLETED", "{response:#}"),
        }
        assert!(place.effect_counts().is_empty());
        let events = place.latch(&["job", "events", &id, "--json"]).stdout;
        assert_eq!(events.matches("\"gate_expired\"").count(), 1, "{events}");
        if slot == "d/0" {
            let bound = database_text(&place, &id);
            assert!(bound.contains("PolicyDenied") && bound.contains("GATE_EXPIRED"), "{bound}");
        }
        assert_replays(&place, &id);
    }
}

/// Returns the readable text of the database's files, which contains the output of the only step.
fn database_text(place: &TestEnv, _: &str) -> String {
    let bytes = std::fs::read(place.dir.join("latch.db")).unwrap_or_default();
    let wal = std::fs::read(place.dir.join("latch.db-wal")).unwrap_or_default();
    String::from_utf8_lossy(&[bytes, wal].concat()).into_owned()
}

/// I27: if the policy becomes narrower between the approval and the run, the call needs a new approval.
#[test]
fn narrower_policy_requires_a_new_approval() {
    for (slot, step) in gated_plans() {
        let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[step]);
        let id = submit_gated(&place)["job_id"].as_str().unwrap().to_owned();
        assert_eq!(place.latch(&["job", "approve", &id, slot, "--actor", "ada"]).code, 0);
        let place = place.configure("[policy.default.gate]\nself_approve = false");
        let resumed = place.latch(&["resume", &id, "--json"]);
        assert_eq!((resumed.code, &resumed.json()["state"]), (3, &json!("PARKED")), "{}", resumed.stdout);
        assert!(place.effect_counts().is_empty(), "{slot}: self-approval no longer counts");
        assert_eq!(place.latch(&["job", "approve", &id, slot, "--actor", "bob"]).code, 0);
        let done = place.latch(&["resume", &id, "--json"]);
        assert_eq!((done.code, &done.json()["state"]), (0, &json!("COMPLETED")), "{}", done.stdout);
        assert_eq!(place.effect_counts().get(slot), Some(&1));
        assert_replays(&place, &id);
    }
}

/// I27: if the policy requires reasons, an approval without a reason is refused and nothing is written.
#[test]
fn approval_without_a_required_reason_is_refused() {
    for (slot, step) in gated_plans() {
        let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[step]);
        let place = place.configure("[policy.default.gate]\nreason = true");
        let ran = place.latch(&[
            "run",
            "plan.json",
            "--json",
            "--actor",
            "ada",
            "--approve",
            slot.split('/').next().unwrap(),
        ]);
        assert_eq!(
            (ran.code, &ran.json()["state"]),
            (3, &json!("PARKED")),
            "the standing approval has no reason: {}",
            ran.stdout
        );
        let id = ran.json()["job_id"].as_str().unwrap().to_owned();
        for more in [&[][..], &["--reason", " "]] {
            let refused = place.latch(&[&["job", "approve", &id, slot, "--actor", "bob"], more].concat());
            assert_eq!(refused.code, 2, "{}", refused.stdout);
            assert!(refused.stderr.contains("--reason"), "{}", refused.stderr);
        }
        let approved = place.latch(&["job", "approve", &id, slot, "--actor", "bob", "--reason", "the sum is right"]);
        assert_eq!(approved.code, 0, "{}", approved.stderr);
        let done = place.latch(&["resume", &id, "--json"]);
        assert_eq!((done.code, place.effect_counts().get(slot)), (0, Some(&1)), "{}", done.stdout);
        assert!(place.latch(&["job", "events", &id, "--json"]).stdout.contains("the sum is right"));
        assert_replays(&place, &id);
    }
}

/// A wider policy does not widen the permissions of a job that was accepted under a narrower policy.
#[test]
fn wider_policy_applies_only_to_new_jobs() {
    let [(slot, step), _] = gated_plans();
    let narrow = TestEnv::witness("atomic").fresh_copy().with_plan(&[step]);
    let plain = std::fs::read_to_string(narrow.dir.join("latch.toml")).unwrap();
    let place = narrow.configure("[policy.default.gate]\nquorum = 2");
    let id = submit_gated(&place)["job_id"].as_str().unwrap().to_owned();
    std::fs::write(place.dir.join("latch.toml"), plain).unwrap();
    assert_eq!(place.latch(&["job", "approve", &id, slot, "--actor", "bob"]).code, 0);
    assert_eq!(place.latch(&["resume", &id, "--json"]).json()["state"], "PARKED");
    assert_eq!(place.latch(&["job", "approve", &id, slot, "--actor", "eve"]).code, 0);
    assert_eq!(place.latch(&["resume", &id, "--json"]).json()["state"], "COMPLETED");
}

/// I27: if the policy gates a tag, a call with this tag is gated even if it changes nothing. If the policy
/// gates an effect, a call with this effect is gated even if the actor is trusted.
#[test]
fn policy_gates_by_tag_and_by_effect() {
    let mut read = step("r", "Effect.Read", &[], json!({ "note": 1 }));
    read["policy_tags"] = json!(["money"]);
    let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[read]);
    let gated = place.fresh_copy().configure("[policy.default.gate]\ntags = [\"law\", \"money\"]");
    let response = submit_gated(&gated);
    assert_eq!(response["blocked_on"]["reason_code"], "REQUIRES_APPROVAL", "{response:#}");
    let free = place.latch(&["run", "plan.json", "--json", "--actor", "ada"]);
    assert_eq!(free.code, 0, "{} {}", free.stdout, free.stderr);

    let [(_, step), _] = gated_plans();
    let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[step]);
    let trusted = "[policy.default]\nmodes = [\"AUTO_EXEC\"]\nauto_exec = true\ntrust = { \"ada/Effect.Opaque\" = 3 }";
    let gate = "[policy.default.gate]\neffects = [\"external_send\"]";
    let gated = place.fresh_copy().configure(&format!("{trusted}\n{gate}"));
    let run = ["run", "plan.json", "--json", "--actor", "ada", "--mode", "AUTO_EXEC"];
    let waits = gated.latch(&run);
    assert_eq!(waits.code, 3, "{} {}", waits.stdout, waits.stderr);
    assert_eq!(waits.json()["blocked_on"]["reason_code"], "REQUIRES_APPROVAL", "{}", waits.stdout);
    assert!(gated.effect_counts().is_empty());
    let place = place.configure(trusted);
    let free = place.latch(&run);
    assert_eq!((free.code, place.effect_counts().get("o")), (0, Some(&1)), "{} {}", free.stdout, free.stderr);
}

/// I27: if the policy accepts no approvals in advance, the call waits at its gate and can be approved there.
#[test]
fn standing_approval_counts_only_if_the_policy_allows_it() {
    for (slot, step) in gated_plans() {
        let named = slot.split('/').next().unwrap();
        let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[step]).with_approved(vec![named]);
        let strict = place.fresh_copy().configure("[policy.default]\nstanding_approvals = false");
        let ran = strict.latch(&strict.run_args());
        assert_eq!((ran.code, &ran.json()["state"]), (3, &json!("PARKED")), "{} {}", ran.stdout, ran.stderr);
        assert!(strict.effect_counts().is_empty(), "{slot}");
        let id = ran.json()["job_id"].as_str().unwrap().to_owned();
        assert_eq!(strict.latch(&["job", "approve", &id, slot, "--actor", "ada"]).code, 0);
        assert_eq!(strict.latch(&["resume", &id, "--json"]).code, 0);
        assert_eq!(strict.effect_counts().get(slot), Some(&1));
        let ran = place.latch(&place.run_args());
        assert_eq!((ran.code, place.effect_counts().get(slot)), (0, Some(&1)), "{} {}", ran.stdout, ran.stderr);
    }
}

/// I27, I188: if the policy of the job's tenant becomes narrower after the approval, the call needs a new approval.
#[test]
fn narrower_tenant_policy_requires_a_new_approval() {
    let [(slot, step), _] = gated_plans();
    let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[step]);
    let ran = place.latch(&["run", "plan.json", "--json", "--actor", "ada", "--tenant", "acme"]);
    assert_eq!(ran.code, 3, "{} {}", ran.stdout, ran.stderr);
    let id = ran.json()["job_id"].as_str().unwrap().to_owned();
    assert_eq!(place.latch(&["job", "approve", &id, slot, "--actor", "ada"]).code, 0);
    let place = place.configure("[policy.acme.gate]\nself_approve = false");
    let resumed = place.latch(&["resume", &id, "--json"]);
    assert_eq!((resumed.code, &resumed.json()["state"]), (3, &json!("PARKED")), "{}", resumed.stdout);
    assert!(place.effect_counts().is_empty());
}

/// I27: an approval in advance that has no effect is reported. In printed commands, file names with blanks are quoted,
/// so that the commands can be copied to a shell.
#[test]
fn ineffective_standing_approval_is_reported() {
    let (_, gated) = gated_plans().into_iter().next().unwrap();
    let first = TestEnv::witness("atomic").with_plan(&[gated]);
    let file = first.dir.join("my latch.toml");
    for (policy, why) in [
        ("standing_approvals = false", "it does not allow approval before the call exists"),
        ("gate = { reason = true }", "it requires a reason for each approval"),
        ("gate = { self_approve = false }", "it does not allow approving calls of one's own job"),
    ] {
        let place = first.fresh_copy().configure(&format!("[policy.default]\n{policy}"));
        for more in [&[][..], &["--detach"]] {
            let args = ["run", "plan.json", "--actor", "ada", "--new", "--approve", "o"];
            let ran = place.latch(&[&args[..], more].concat());
            let message = format!("--approve has no effect under the policy of default: {why}");
            assert!(ran.stderr.contains(&message), "{policy} {more:?}: {}", ran.stderr);
        }
        assert!(place.effect_counts().is_empty(), "{policy}");
    }
    std::fs::copy(first.dir.join("latch.toml"), &file).unwrap();
    let ran = first.latch(&["run", "plan.json", "--actor", "ada", "--json", "--config", "my latch.toml"]);
    let response = ran.json();
    let id = response["job_id"].as_str().unwrap();
    let wanted = format!("latch job approve {id} o --config 'my latch.toml'");
    assert_eq!(response["next_actions"][0], json!(wanted), "{response:#}");
    let hash = response["blocked_on"]["gate_hash"].as_str().unwrap();
    let other = first.latch(&["job", "approve", id, "o", "--hash", &"0".repeat(64)]);
    assert!(other.code == 2 && other.stderr.contains(hash), "{}", other.stderr);
    assert_eq!(first.latch(&["job", "approve", id, "o", "--hash", hash]).code, 0);
}
