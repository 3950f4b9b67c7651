//! Evidence without its payloads does not reveal them to a reader who tries every value.

use serde_json::{Value, json};

use latchwork_core::encoding::canon;
use latchwork_core::model::ids::Hash;
use latchwork_core::model::keys::{RequestIdentity, request_key};
use latchwork_core::model::mode::Mode;

use crate::support::evidence::verify_in_empty_folder;
use crate::support::test_env::{TestEnv, wait};

/// Payload of an intent with few possible values.
fn payload(digits: u32) -> Value {
    json!({ "ssn_last4": format!("{digits:04}") })
}

/// I31, I209: nothing in evidence lets a reader find the intent and the contexts of a request by trying all values.
/// Evidence has no plain request key. Only the table of jobs contains the plain key.
#[test]
fn withheld_intent_cannot_be_searched_in_evidence() {
    let place = TestEnv::configured("", vec![]);
    let steps = [wait("w", json!({ "wait_kind": "signal", "correlation_key": "go" }))];
    let plan = json!({ "schema_version": "1.0", "plan_id": "p", "steps": steps });
    let intent =
        json!({ "type": "enroll", "payload": payload(1234), "contexts": [{ "name": "answer", "text": "yes" }] });
    let contexts = canon::value_to_canonical(&intent["contexts"]);
    let whole = json!({ "intent": intent, "plan": plan, "mode": "HUMAN_GATED" });
    std::fs::write(place.dir.join("request.json"), whole.to_string()).unwrap();
    let ran = place.latch(&["run", "request.json", "--json", "--actor", "ada"]);
    let id = ran.json()["job_id"].as_str().unwrap_or_else(|| panic!("{} {}", ran.stdout, ran.stderr)).to_owned();
    let exported = place.latch(&["job", "export", &id, "--withhold-all", "--out", "e.jsonl"]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    assert_eq!(verify_in_empty_folder(&place.dir.join("e.jsonl"), &[]).code, 0);

    let file = std::fs::read_to_string(place.dir.join("e.jsonl")).unwrap();
    assert!(!file.contains("ssn_last4") && !file.contains("yes"), "withheld");
    let lines: Vec<Value> = file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let header = &lines[1]["event"];
    let policy = Hash::from_hex(header["policy"]["hash"].as_str().unwrap()).unwrap();
    let keys = (0..10_000).map(|digits| {
        request_key(&RequestIdentity {
            tenant: header["tenant_id"].as_str().unwrap(),
            actor: header["actor_id"].as_str().unwrap(),
            intent_type: header["intent_type"].as_str().unwrap(),
            intent_payload: &canon::value_to_canonical(&payload(digits)),
            contexts_hash: Hash::of(&[&contexts]),
            policy_hash: policy,
            mode: Mode::HumanGated,
            request_id: None,
        })
    });
    let found_in = |text: &str, keys: &[Hash]| keys.iter().filter(|key| text.contains(&key.to_hex())).count();
    let keys: Vec<Hash> = keys.collect();
    let listed = place.latch(&["job", "list", "--json"]).stdout;
    assert_eq!(found_in(&listed, &keys), 1, "the search is right: it finds the key in the table of jobs");
    assert_eq!(found_in(&file, &keys), 0, "{file}");
    let events = place.latch(&["job", "events", &id, "--json"]).stdout;
    assert_eq!(found_in(&events, &keys), 0, "{events}");
}
