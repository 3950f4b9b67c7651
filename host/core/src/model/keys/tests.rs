//! Tests of keys. The golden values do not come from this code. They were computed once from the definitions in the
//! documentation, with Python's `hashlib` and `struct`.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::model::keys::*;

const JOB: &str = "job_01JZ0000000000000000000000";

fn request<'a>() -> RequestIdentity<'a> {
    RequestIdentity {
        tenant: "default",
        actor: "me",
        intent_type: "plan",
        intent_payload: br#"{"steps":[]}"#,
        contexts_hash: Hash([1; 32]),
        policy_hash: Hash([2; 32]),
        mode: Mode::HumanGated,
        request_id: None,
    }
}

/// I17: the idempotency keys of two example calls never change. The other tests named `golden_…` check other kinds of
/// keys.
#[test]
fn golden_idempotency_keys() {
    let job = JobId::new(JOB);
    let args = r#"{"to":"a@example.org","n":1,"é":"€"}"#.as_bytes();
    assert_eq!(
        idempotency_key(&job, &Slot::new("s6"), &Operator::new("Mail.Send"), args).to_hex(),
        "31258c5449b9635c9d2be758b70443a6e01490a2b618f22f2e4d2000d83e0364"
    );
    assert_eq!(
        idempotency_key(&job, &Slot::new("s3/0"), &Operator::new("Web.Fetch"), b"null").to_hex(),
        "cbe1913f10bcdf6c7e0e16ae2ac1dd88c9ea14d5196f6c7ebec8765983b270f8"
    );
}

#[test]
fn golden_external_keys() {
    let job = JobId::new(JOB);
    assert_eq!(external_key(&job, &Slot::new("s6"), 1), "latch:job_01JZ0000000000000000000000:s6:1");
    assert_eq!(external_key(&job, &Slot::new("s3/0~c"), 12), "latch:job_01JZ0000000000000000000000:s3/0~c:12");
    assert_eq!(event_id(&job, &StepId::new("s3"), 0), "latch:job_01JZ0000000000000000000000:s3:e0");
}

#[test]
fn golden_request_keys() {
    assert_eq!(request_key(&request()).to_hex(), "775a7dee2ea294580cf862939539f84923b943e761b4a1627ee694a0ad3bb1e7");
    assert_eq!(
        request_key(&RequestIdentity { request_id: Some("r-1"), ..request() }).to_hex(),
        "d7b31b67a7a8bb2cf9c82370112ea2d151bf6cf9866bdc6c9e2b6e673d9ff4c2"
    );
    assert_eq!(
        request_key(&RequestIdentity { request_id: Some(""), ..request() }).to_hex(),
        "1a7a98298a43cbb6afce4b0f4b52a0e032612a7f8563fba68f4ea87211c393a4"
    );
    assert_eq!(
        header_request_key("default", "me", "abc").to_hex(),
        "3cfb75a88e26ff5e4ee9980e795adab6951c514d399b4e50c53c5abe2b01b710"
    );
}

/// I17, I209: events name a request by its key under the secret of the job.
#[test]
fn golden_request_macs() {
    let mac = request_mac(&Hash([7; 32]), &request_key(&request()));
    assert_eq!(mac.to_hex(), "3b111ee815b95919d5684532166127cd96662aeae3f2a46cfe1aba7338124c4b");
    assert_ne!(mac, request_mac(&Hash([8; 32]), &request_key(&request())), "the secret changes it");
}

#[test]
fn every_request_field_changes_the_key() {
    let all = [
        request(),
        RequestIdentity { tenant: "other", ..request() },
        RequestIdentity { actor: "you", ..request() },
        RequestIdentity { intent_type: "mail", ..request() },
        RequestIdentity { intent_payload: b"{}", ..request() },
        RequestIdentity { contexts_hash: Hash([3; 32]), ..request() },
        RequestIdentity { policy_hash: Hash([3; 32]), ..request() },
        RequestIdentity { mode: Mode::DryRun, ..request() },
        RequestIdentity { request_id: Some("1"), ..request() },
    ];
    let mut keys: Vec<_> = all.iter().map(request_key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all.len());
}

#[test]
fn golden_payload_hash() {
    let found = payload_ref(&Hash([7; 32]), "args:s6:1", br#"{"a":1}"#);
    assert_eq!(found.hash.to_hex(), "682903400308d24ce365b358196e95dc55bfaeb6d8e72098e582a670b729194f");
    assert_eq!(found.len, 7);
}

#[test]
fn golden_step_seed() {
    let job_seed = Hash(std::array::from_fn(|index| index as u8));
    assert_eq!(
        Hash(step_seed(&job_seed, &StepId::new("s1"))).to_hex(),
        "973ff37f6fa2af566a4205c6b3a3d6613acfddeace3244887b76ec3c20b1241c"
    );
}

#[test]
fn golden_action_keys() {
    let payload = json!({ "to": "a@example.org", "n": 1.0, "body": "…" });
    let hashes = [("cv".to_owned(), json!({ "v": 1 })), ("to".to_owned(), json!("hidden by the payload"))].into();
    assert_eq!(
        action_key("mail:{to}:{n}:{cv}", &payload, &hashes).unwrap().to_hex(),
        "0dfdecc915919e08c14a7d6d9eac33a2f766262a78b1f071f2ef44d352cac523"
    );
    let plain = "a1529c864c951b95f507816ebcab9f5b13e289a8af5433a98a0ab982775b30ef";
    assert_eq!(call_action_key("nightly").to_hex(), plain);
    assert_eq!(action_key("nightly", &Value::Null, &BTreeMap::new()).unwrap().to_hex(), plain);
}

#[test]
fn template_with_unknown_name_has_no_key() {
    let missing = action_key("{to}", &json!({ "from": 1 }), &BTreeMap::new());
    assert_eq!(missing, Err(UnknownName("to".to_owned())));
    assert!(action_key("{0}", &json!(["an array has no fields"]), &BTreeMap::new()).is_err());
}

#[test]
fn template_names_are_parsed() {
    assert_eq!(Template::parse("").unwrap().names(), [""; 0]);
    assert_eq!(Template::parse("a:{b}:{c d}{b}").unwrap().names(), ["b", "c d", "b"]);
    for (text, offset) in [("{", 0), ("a{b", 1), ("}", 0), ("a}", 1), ("{}", 1), ("é{a{b}}", 4), ("{a}}", 3)] {
        assert_eq!(Template::parse(text).unwrap_err().offset, offset, "{text}");
    }
}

/// Strategy for short strings of characters that an encoding of keys could confuse with separators or prefixes.
fn tricky() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "",
        "a",
        ":",
        "/",
        "\u{0}",
        "\u{1}",
        "\"",
        "ik",
        "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{1}",
    ]);
    prop::collection::vec(part, 0..3).prop_map(|parts| parts.concat())
}

fn id() -> impl Strategy<Value = String> {
    tricky().prop_map(|text| text.replace('\0', "x"))
}

proptest! {
    /// I185.
    #[test]
    fn idempotency_keys_are_equal_for_equal_fields_only(
        a in (id(), id(), id(), tricky()), b in (id(), id(), id(), tricky())
    ) {
        let key = |(job, slot, operator, args): &(String, String, String, String)| {
            idempotency_key(&JobId::new(job), &Slot::new(slot), &Operator::new(operator), args.as_bytes())
        };
        prop_assert_eq!(key(&a) == key(&b), a == b);
    }

    #[test]
    fn request_keys_are_equal_for_equal_fields_only(
        a in (tricky(), tricky(), tricky(), tricky(), prop::option::of(tricky())),
        b in (tricky(), tricky(), tricky(), tricky(), prop::option::of(tricky())),
    ) {
        let key = |(tenant, actor, kind, payload, id): &(String, String, String, String, Option<String>)| {
            request_key(&RequestIdentity { tenant, actor, intent_type: kind, intent_payload: payload.as_bytes(), request_id: id.as_deref(), ..request() })
        };
        prop_assert_eq!(key(&a) == key(&b), a == b);
        prop_assert_ne!(key(&a), header_request_key(&b.0, &b.1, &b.2));
    }

    /// I185.
    #[test]
    fn length_prefixes_keep_fields_apart(
        a in prop::collection::vec(tricky(), 0..4), b in prop::collection::vec(tricky(), 0..4)
    ) {
        let key = |fields: &[String]| length_prefixed(&fields.iter().map(String::as_bytes).collect::<Vec<_>>());
        prop_assert_eq!(key(&a) == key(&b), a == b);
    }

    #[test]
    fn action_keys_are_equal_for_equal_values_only(a in (tricky(), tricky()), b in (tricky(), tricky())) {
        let key = |(x, y): &(String, String)| {
            action_key("{x}:{y}", &json!({ "x": x }), &[("y".to_owned(), json!(y))].into()).unwrap()
        };
        prop_assert_eq!(key(&a) == key(&b), a == b);
    }

    #[test]
    fn payload_hashes_differ_by_label_and_bytes(a in (tricky(), tricky()), b in (tricky(), tricky())) {
        let hash = |(label, bytes): &(String, String)| payload_hash(&Hash([7; 32]), label, bytes.as_bytes());
        prop_assert_eq!(hash(&a) == hash(&b), a == b);
    }
}
