//! Tests of the reference to a request in events and evidence. An event of an earlier version has the plain request key.

use serde_json::{Value, json};

use crate::decide::tests::support::evidence::{assert_verifies, export, export_with, verify};
use crate::decide::tests::support::{Sim, step};
use crate::event::{Body, Event, Header, RequestRef};
use crate::evidence::forge::{build_file, parse_records};
use crate::evidence::{ProblemKind, Withhold};
use crate::model::ids::Hash;
use crate::model::keys::request_mac;
use crate::model::mode::Mode;

/// Returns a new job with this reference to its request.
fn job(request: impl Fn(&Header, &Hash) -> RequestRef) -> Sim {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("b", "Opaque", &[], json!({}))]);
    let header = sim.durable().job.header;
    let request = request(&header, &sim.record.secret);
    sim.begin_with(Header { request, ..header });
    sim
}

fn contains(file: &[u8], hash: Hash) -> bool {
    String::from_utf8_lossy(file).contains(&hash.to_hex())
}

/// I209: neither the events nor the job's row in an evidence file contain the plain request key. The row is checked
/// against the first event.
#[test]
fn evidence_contains_no_plain_request_key() {
    let key = Hash::of(&[b"an intent with few possible values"]);
    let mut sim = job(|_, secret| RequestRef::new(secret, &key));
    sim.record.row.request_key = key;
    sim.process(None).expect("no crash is injected");
    assert_verifies(&sim);
    for withhold in [Withhold::Nothing, Withhold::Everything] {
        let file = export_with(&sim, &withhold, None);
        assert!(!contains(&file, key), "{withhold:?}");
        let records = parse_records(&file);
        let mac = json!(request_mac(&sim.record.secret, &key));
        assert_eq!((&records[0].1["job"]["request_mac"], &records[1].1["event"]["request_mac"]), (&mac, &mac));
        assert_eq!(
            (&records[0].1["schema"], &records[1].1["event"]["schema_version"]),
            (&json!("latchwork.evidence/2"), &json!(3))
        );
    }
    let mut records = parse_records(&export(&sim));
    records[0].1["job"]["request_mac"] = json!(key);
    let report = verify(&build_file(records));
    assert!(report.problems.iter().any(|problem| problem.kind == ProblemKind::Header), "{:#?}", report.problems);
}

/// I43, I209: the log of an earlier version folds and continues, and its evidence verifies in its own format.
#[test]
fn job_of_an_earlier_version_keeps_its_request_key() {
    let key = Hash::of(&[b"request"]);
    let mut sim = job(|_, _| RequestRef::RequestKey(key));
    sim.record.row.request_key = key;
    sim.process(None).expect("no crash is injected");
    assert_eq!(sim.durable().job.header.request, RequestRef::RequestKey(key));
    assert_verifies(&sim);
    let records = parse_records(&export(&sim));
    assert_eq!(records[0].1["job"]["request_key"], json!(key));
    assert_eq!(
        (&records[0].1["schema"], &records[1].1["event"]["schema_version"]),
        (&json!("latchwork.evidence/1"), &json!(1))
    );
}

/// I209: an event is read only in the version that its reference requires.
#[test]
fn reference_determines_the_version_of_its_event() {
    let mut sim = job(|_, secret| RequestRef::new(secret, &Hash::default()));
    let event = sim.record.events.swap_remove(0);
    let Body::IntentAccepted { header } = &event.body else { panic!("{event:?}") };
    let changed = |edit: &dyn Fn(&mut Value)| {
        let mut value: Value = serde_json::from_slice(&event.bytes).expect("JSON");
        edit(&mut value);
        Event::parse(value.to_string().as_bytes(), 0, Hash::default())
    };
    let same = changed(&|_| {}).expect("unchanged");
    assert_eq!(same.body, Body::IntentAccepted { header: header.clone() });
    assert!(changed(&|value| value["schema_version"] = 1.into()).is_err());
    let renamed = |value: &mut Value| {
        let hash = value.as_object_mut().expect("an object").remove("request_mac").expect("set");
        value["request_key"] = hash;
    };
    assert!(changed(&renamed).is_err());
    assert!(changed(&|value| drop(value.as_object_mut().expect("an object").remove("request_mac"))).is_err());
}
