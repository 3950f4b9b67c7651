//! Decisions that people sign with keys of `latch key`: acceptance, forgeries in the database, and evidence.

use serde_json::{Value, json};

use latchwork_core::event::DecidedBy;
use latchwork_core::model::ids::{Hash, JobId, Slot};
use latchwork_core::model::person::Verification;
use latchwork_core::storage::{InboxRequest, Journal as _};
use latchwork_store::{Database, OpenOptions};

use crate::support::evidence::{forge_evidence, verify_in_empty_folder};
use crate::support::test_env::{TestEnv, step};

/// Returns an environment in which `ada` and `eve` have keys, and `mallory` has a key that the configuration does not
/// name. The plan has two calls. The policy requires `quorum` signed approvals for each of them.
fn signed_place(quorum: u32) -> TestEnv {
    let calls = ["o", "k"].map(|id| step(id, "Effect.Opaque", &[], json!({ "note": id })));
    let place = TestEnv::witness("atomic").fresh_copy().with_plan(&calls);
    let key = |name: &str| {
        let created = place.latch(&["key", "new", &format!("{name}.pem"), "--json"]);
        assert_eq!(created.code, 0, "{}", created.stderr);
        created.json()["public_key"].as_str().unwrap_or_else(|| panic!("{}", created.stdout)).to_owned()
    };
    let [ada, eve, _] = ["ada", "eve", "mallory"].map(key);
    std::fs::write(place.dir.join("people.txt"), format!("{ada} ada\n{eve} eve\n")).unwrap();
    place.configure(&format!(
        "[policy.default.gate]\napprovals = \"signature\"\nquorum = {quorum}\n\n\
         [people.ada]\nkeys = [{ada:?}]\n\n[people.eve]\nkeys = [{eve:?}]"
    ))
}

fn submit(place: &TestEnv) -> String {
    let ran = place.latch(&["run", "plan.json", "--json", "--actor", "bob", "--approve", "o"]);
    assert_eq!(ran.code, 3, "{} {}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("requires a signature"), "the approval in advance does not count: {}", ran.stderr);
    ran.json()["job_id"].as_str().unwrap().to_owned()
}

fn decide(place: &TestEnv, what: &str, id: &str, slot: &str, more: &[&str]) {
    let decided = place.latch(&[&["job", what, id, slot], more].concat());
    assert_eq!(decided.code, 0, "{} {}", decided.stdout, decided.stderr);
}

fn events(place: &TestEnv, id: &str, kind: &str) -> Vec<Value> {
    let events = place.latch(&["job", "events", id, "--json"]).json()["events"].take();
    let Value::Array(events) = events else { panic!("no events: {events}") };
    events.into_iter().filter(|event| event["type"] == kind).collect()
}

/// I210: a decision is refused and not recorded if its key belongs to another person or to no known person. A policy
/// that requires signatures refuses claimed approvals.
#[test]
fn only_a_key_of_the_actor_signs_a_decision() {
    let place = signed_place(1);
    let id = submit(&place);
    let displayed = place.latch(&["job", "show", &id]).stdout;
    assert!(displayed.contains("have to be signed") && displayed.contains("--key FILE"), "{displayed}");
    let claimed = place.latch(&["job", "approve", &id, "o", "--actor", "ada"]);
    assert_eq!(claimed.code, 2, "{}", claimed.stdout);
    assert!(claimed.stderr.contains("--key"), "{}", claimed.stderr);
    for (what, key, actor) in [
        ("approve", "mallory.pem", Some("ada")),
        ("approve", "eve.pem", Some("ada")),
        ("reject", "eve.pem", Some("ada")),
        ("approve", "mallory.pem", None),
    ] {
        let actor = actor.map(|actor| vec!["--actor", actor]).unwrap_or_default();
        let refused = place.latch(&[&["job", what, &id, "o", "--json", "--key", key], &actor[..]].concat());
        assert_eq!((refused.code, &refused.json()["error"]["code"]), (2, &json!("L0029")), "{}", refused.stdout);
    }
    let response = place.latch(&["job", "show", &id, "--json"]).json();
    assert_eq!(response.get("pending").and_then(Value::as_array).map_or(0, Vec::len), 0, "{response:#}");
    decide(&place, "approve", &id, "o", &["--key", "ada.pem", "--reason", "seen"]);
    decide(&place, "reject", &id, "k", &["--key", "eve.pem", "--actor", "eve"]);
    let resumed = place.latch(&["resume", &id, "--json"]).json();
    assert_eq!(resumed["state"], "PARTIAL", "{resumed:#}");
    assert_eq!((place.effect_counts().get("o"), place.effect_counts().get("k")), (Some(&1), None));
    let text = place.latch(&["job", "events", &id]).stdout;
    assert!(text.contains("approved by ada (verified): seen") && text.contains("rejected by eve (verified)"), "{text}");
    let approved = &events(&place, &id, "gate_approved")[0];
    assert_eq!((&approved["verified"]["by"], &approved["actor"]), (&json!("signature"), &json!("ada")), "{approved}");
}

/// I210: a quorum counts different people with different keys.
#[test]
fn quorum_of_signatures_needs_two_people() {
    let place = signed_place(2);
    let id = submit(&place);
    for slot in ["o", "k"] {
        decide(&place, "approve", &id, slot, &["--key", "ada.pem"]);
        decide(&place, "approve", &id, slot, &["--key", "ada.pem"]);
    }
    let resumed = place.latch(&["resume", &id, "--json"]).json();
    let blocked = &resumed["blocked_on"];
    assert_eq!((&resumed["state"], &blocked["signed_by"]), (&json!("PARKED"), &json!(["ada"])), "{resumed:#}");
    let displayed = place.latch(&["job", "show", &id]).stdout;
    assert!(displayed.contains("1 of 2 signed approvals (ada verified)"), "{displayed}");
    for slot in ["o", "k"] {
        decide(&place, "approve", &id, slot, &["--key", "eve.pem"]);
    }
    assert_eq!(place.latch(&["resume", &id, "--json"]).json()["state"], "COMPLETED");
}

/// I210: a worker drops a decision in the database if its signature belongs to another person or to another decision.
#[tokio::test]
async fn worker_drops_decisions_with_forged_signatures() {
    let place = signed_place(1);
    let id = submit(&place);
    decide(&place, "approve", &id, "o", &["--key", "ada.pem"]);
    assert_eq!(place.latch(&["resume", &id, "--json"]).code, 3);
    let genuine = &events(&place, &id, "gate_approved")[0]["verified"];
    let genuine: Verification = serde_json::from_value(genuine.clone()).unwrap();
    let asked = events(&place, &id, "gate_requested");
    let open = asked.iter().find(|event| event["slot"] == "k").unwrap();
    let gate_hash = Hash::from_hex(open["gate_hash"].as_str().unwrap()).unwrap();
    let Verification::Signature { key, signature } = genuine;
    let other_key = latchwork_core::model::person::PublicKey([7; 32]);
    let forgeries = [genuine, Verification::Signature { key: other_key, signature }, {
        let mut changed = signature;
        changed.0[0] ^= 1;
        Verification::Signature { key, signature: changed }
    }];
    let job_id = JobId::new(&id);
    let store = Database::open(OpenOptions::new(place.dir.join("latch.db"))).await.unwrap();
    for verified in forgeries {
        let by = DecidedBy { verified: Some(verified), ..DecidedBy::claimed("ada", None) };
        for approve in [true, false] {
            let slot = Slot::new("k");
            let request = match approve {
                true => InboxRequest::Approve { slot, gate_hash },
                false => InboxRequest::Reject { slot, gate_hash },
            };
            store.put_decision(&job_id, by.clone(), request).await.unwrap();
        }
    }
    drop(store);
    let resumed = place.latch(&["resume", &id, "--json"]);
    assert_eq!(
        (resumed.code, &resumed.json()["state"]),
        (3, &json!("PARKED")),
        "{} {}",
        resumed.stdout,
        resumed.stderr
    );
    assert!(resumed.stderr.contains("does not match this decision"), "{}", resumed.stderr);
    assert_eq!(place.effect_counts().get("k"), None);
    assert_eq!((events(&place, &id, "gate_approved").len(), events(&place, &id, "gate_rejected").len()), (1, 0));
    decide(&place, "approve", &id, "k", &["--key", "eve.pem"]);
    assert_eq!(place.latch(&["resume", &id, "--json"]).json()["state"], "COMPLETED");
}

/// I211: signatures of people verify offline, against the recorded keys and against a file of people. Verification
/// finds forged signatures.
#[test]
fn signed_decisions_verify_offline() {
    let place = signed_place(1);
    let id = submit(&place);
    decide(&place, "approve", &id, "o", &["--key", "ada.pem"]);
    decide(&place, "approve", &id, "k", &["--key", "eve.pem"]);
    assert_eq!(place.latch(&["resume", &id, "--json"]).json()["state"], "COMPLETED");
    assert_eq!(place.latch(&["job", "export", &id, "--out", "e.jsonl", "--withhold-all"]).code, 0);
    let file = place.dir.join("e.jsonl");
    let alone = verify_in_empty_folder(&file, &[]);
    assert_eq!(alone.code, 0, "{}", alone.stdout);
    assert_eq!(alone.json()["decisions"], json!({ "claimed": 0, "signed": 2, "trusted": 0 }));
    assert!(alone.stdout.contains("unknown_people"), "{}", alone.stdout);
    let people = place.dir.join("people.txt");
    let known = verify_in_empty_folder(&file, &["--people", people.to_str().unwrap()]);
    assert_eq!((known.code, &known.json()["decisions"]["trusted"]), (0, &json!(2)), "{}", known.stdout);
    let text = std::fs::read_to_string(&people).unwrap().replace(" eve", " mallory");
    std::fs::write(place.dir.join("others.txt"), text).unwrap();
    let others = verify_in_empty_folder(&file, &["--people", place.dir.join("others.txt").to_str().unwrap()]);
    let kinds: Vec<_> = others.json()["problems"].as_array().unwrap().iter().map(|one| one["kind"].clone()).collect();
    assert_eq!((others.code, kinds), (1, vec![json!("person")]), "{}", others.stdout);

    let approvals = |records: &[Value]| {
        let is_approval = |record: &&Value| record["event"]["type"] == "gate_approved";
        records.iter().filter(is_approval).map(|record| record["event"]["verified"].clone()).collect::<Vec<_>>()
    };
    let swapped = forge_evidence(&std::fs::read_to_string(&file).unwrap(), |records| {
        let verified = approvals(records);
        let all = records.iter_mut().filter(|record| record["event"]["type"] == "gate_approved");
        all.zip(verified.into_iter().rev()).for_each(|(record, other)| record["event"]["verified"] = other);
    });
    std::fs::write(place.dir.join("forged.jsonl"), swapped).unwrap();
    let forged = verify_in_empty_folder(&place.dir.join("forged.jsonl"), &[]);
    let report = forged.json();
    let kinds: Vec<_> = report["problems"].as_array().unwrap().iter().map(|one| &one["kind"]).collect();
    assert_eq!((forged.code, kinds), (1, vec![&json!("decision"); 2]), "{}", forged.stdout);
}
