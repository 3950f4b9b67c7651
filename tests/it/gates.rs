//! Gates across processes: quorum, expiry, self-approval, and policies that change in between.

use serde_json::{Value, json};

use crate::place::{Place, step};

/// One gated call of the plan, and one inside a step.
fn plans() -> [(&'static str, Value); 2] {
    let call = json!({ "operator": "Effect.Opaque", "args": { "note": 1 } });
    [
        ("o", step("o", "Effect.Opaque", &[], json!({ "note": 1 }))),
        ("d/0", step("d", "Driver.Run", &[], json!({ "calls": [call] }))),
    ]
}

fn submit(place: &Place) -> Value {
    let ran = place.latch(&["run", "plan.json", "--json", "--actor", "ada"]);
    assert_eq!(ran.code, 3, "{} {}", ran.stdout, ran.stderr);
    ran.json()
}

fn replays(place: &Place, id: &str) {
    let replay = place.latch(&["job", "replay", id, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &json!(null)), "{}", replay.stdout);
}

/// I20, I27: two people, none of them the one who asked.
#[test]
fn a_quorum_of_others_approves() {
    for (slot, step) in plans() {
        let policy = "[policy.default.gate]\nquorum = 2\nself_approve = false";
        let place = Place::witness("atomic").again().plan(&[step]).configure(policy);
        let id = submit(&place)["job_id"].as_str().unwrap().to_owned();
        let approve = |actor: &str| place.latch(&["job", "approve", &id, slot, "--actor", actor]);
        let own = approve("ada");
        assert_eq!(own.code, 2, "{}", own.stdout);
        assert!(own.stderr.contains("their own job"), "{}", own.stderr);
        for _ in 0..2 {
            assert_eq!(approve("bob").code, 0);
        }
        let resumed = place.latch(&["resume", &id, "--json"]).json();
        let blocked = &resumed["blocked_on"];
        assert_eq!((&blocked["quorum"], &blocked["approved_by"]), (&json!(2), &json!(["bob"])), "{resumed:#}");
        assert!(blocked["until"].is_i64(), "it expires some day: {blocked}");
        let shown = place.latch(&["job", "show", &id]).stdout;
        assert!(shown.contains("1 of 2 approvals (bob)") && shown.contains("expires "), "{shown}");
        assert!(place.world().is_empty());
        assert_eq!(approve("eve").code, 0);
        assert!(place.world().is_empty(), "approving executes nothing");
        let done = place.latch(&["resume", &id, "--json"]);
        assert_eq!((done.code, &done.json()["state"]), (0, &json!("COMPLETED")), "{}", done.stdout);
        assert_eq!(place.world().get(slot), Some(&1));
        assert_eq!(approve("eve").code, 2, "it is decided");
        replays(&place, &id);
    }
}

/// I27: nobody decides in time; a step plugin gets `POLICY_DENIED` as the recorded answer.
#[test]
fn a_gate_expires() {
    for (slot, step) in plans() {
        let place = Place::witness("atomic").again().plan(&[step]);
        let place = place.configure("[policy.default.gate]\nexpires = \"300ms\"");
        let id = submit(&place)["job_id"].as_str().unwrap().to_owned();
        std::thread::sleep(std::time::Duration::from_millis(400));
        let late = place.latch(&["job", "approve", &id, slot, "--actor", "bob"]);
        assert_eq!(late.code, 2, "its time is over before anybody has written so: {}", late.stdout);
        let response = place.latch(&["resume", &id, "--json"]).json();
        match slot {
            "o" => {
                assert_eq!(response["state"], "FAILED");
                assert_eq!(response["failed"][0]["reason_code"], "GATE_EXPIRED", "{response:#}");
            }
            _ => assert_eq!(response["state"], "COMPLETED", "{response:#}"),
        }
        assert!(place.world().is_empty());
        let events = place.latch(&["job", "events", &id, "--json"]).stdout;
        assert_eq!(events.matches("\"gate_expired\"").count(), 1, "{events}");
        if slot == "d/0" {
            let bound = step_output(&place, &id);
            assert!(bound.contains("PolicyDenied") && bound.contains("GATE_EXPIRED"), "{bound}");
        }
        replays(&place, &id);
    }
}

/// What the one step of a job gave, as far as the database keeps it in the open.
fn step_output(place: &Place, _: &str) -> String {
    let bytes = std::fs::read(place.dir.join("latch.db")).unwrap_or_default();
    let wal = std::fs::read(place.dir.join("latch.db-wal")).unwrap_or_default();
    String::from_utf8_lossy(&[bytes, wal].concat()).into_owned()
}

/// I27: a policy that became narrower between approval and run holds.
#[test]
fn a_narrower_policy_asks_again() {
    for (slot, step) in plans() {
        let place = Place::witness("atomic").again().plan(&[step]);
        let id = submit(&place)["job_id"].as_str().unwrap().to_owned();
        assert_eq!(place.latch(&["job", "approve", &id, slot, "--actor", "ada"]).code, 0);
        let place = place.configure("[policy.default.gate]\nself_approve = false");
        let resumed = place.latch(&["resume", &id, "--json"]);
        assert_eq!((resumed.code, &resumed.json()["state"]), (3, &json!("PARKED")), "{}", resumed.stdout);
        assert!(place.world().is_empty(), "{slot}: she may not approve her own call any more");
        assert_eq!(place.latch(&["job", "approve", &id, slot, "--actor", "bob"]).code, 0);
        let done = place.latch(&["resume", &id, "--json"]);
        assert_eq!((done.code, &done.json()["state"]), (0, &json!("COMPLETED")), "{}", done.stdout);
        assert_eq!(place.world().get(slot), Some(&1));
        replays(&place, &id);
    }
}

/// A wider policy does not widen a job that was accepted under a narrower one.
#[test]
fn a_wider_policy_is_for_new_jobs() {
    let [(slot, step), _] = plans();
    let narrow = Place::witness("atomic").again().plan(&[step]);
    let plain = std::fs::read_to_string(narrow.dir.join("latch.toml")).unwrap();
    let place = narrow.configure("[policy.default.gate]\nquorum = 2");
    let id = submit(&place)["job_id"].as_str().unwrap().to_owned();
    std::fs::write(place.dir.join("latch.toml"), plain).unwrap();
    assert_eq!(place.latch(&["job", "approve", &id, slot, "--actor", "bob"]).code, 0);
    assert_eq!(place.latch(&["resume", &id, "--json"]).json()["state"], "PARKED");
    assert_eq!(place.latch(&["job", "approve", &id, slot, "--actor", "eve"]).code, 0);
    assert_eq!(place.latch(&["resume", &id, "--json"]).json()["state"], "COMPLETED");
}
