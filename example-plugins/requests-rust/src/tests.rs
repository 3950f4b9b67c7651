use latchwork_guest::Code;
use latchwork_guest::testing::Host;
use latchwork_guest::tool::{Context, Finding, Output, Verdict};
use serde_json::{Value, json};

use super::{Applied, Args, apply, compensate, reconcile, verify};

struct Office {
    directory: tempfile::TempDir,
}

fn office() -> Office {
    Office { directory: tempfile::tempdir().unwrap() }
}

fn args(set: Value) -> Args {
    serde_json::from_value(json!({ "request_id": "556", "set": set })).unwrap()
}

impl Office {
    fn host(&self, key: &str) -> Host {
        Host::new().dir("/requests", self.directory.path()).external_key(key)
    }
    fn apply(&self, key: &str, set: Value) -> Output<Applied> {
        self.host(key).run(|| apply(args(set), &Context::default())).unwrap()
    }
    fn files(&self) -> usize {
        std::fs::read_dir(self.directory.path().join("556")).unwrap().count()
    }
}

#[test]
fn changes_accumulate_and_a_repeated_key_changes_nothing() {
    let office = office();
    office.apply("k1", json!({ "status": "drafted", "to": "a@example.org" }));
    let second = office.apply("k2", json!({ "status": "sent", "to": null }));
    assert_eq!(Value::from(second.result().record.clone()), json!({ "status": "sent" }));
    let again = office.apply("k1", json!({ "status": "drafted", "to": "a@example.org" }));
    assert_eq!(again.result().revision, 1);
    assert_eq!(office.files(), 2);
}

#[test]
fn reconcile_reports_whether_the_call_happened() {
    let office = office();
    let ask = |key: &str| office.host(key).run(|| reconcile(args(json!({ "a": 1 })), key)).unwrap();
    assert!(matches!(ask("k1"), Verdict::DidNotHappen));
    office.apply("k1", json!({ "a": 1 }));
    let Verdict::Happened(found) = ask("k1") else { panic!("it was applied") };
    assert_eq!(found.result().revision, 1);
    assert!(matches!(ask("k2"), Verdict::DidNotHappen));
}

#[test]
fn compensate_keeps_later_changes_of_other_calls() {
    let office = office();
    office.apply("k0", json!({ "status": "new", "owner": "ada" }));
    let done = office.apply("k1", json!({ "status": "drafted", "owner": "eve" }));
    office.apply("k2", json!({ "owner": "grace" }));
    let change = done.changes()[0].clone();
    assert_eq!(office.host("k1").run(|| verify(&change)).unwrap(), Finding::Confirmed);
    for _ in 0..2 {
        let result: Applied = serde_json::from_value(json!(done.result())).unwrap();
        let undo = || compensate(args(json!({ "status": "drafted", "owner": "eve" })), result, "k1");
        let undone = office.host("k1").run(undo).unwrap();
        let expected = json!({ "status": "new", "owner": "grace" });
        assert_eq!(Value::from(undone.result().record.clone()), expected);
    }
    assert_eq!(office.files(), 4);
    assert!(matches!(office.host("k1").run(|| verify(&change)).unwrap(), Finding::Mismatch(_)));
}

#[test]
fn removed_revision_cannot_be_undone() {
    let office = office();
    let done = office.apply("k1", json!({ "a": 1 }));
    std::fs::remove_file(office.directory.path().join("556/000001.json")).unwrap();
    let result: Applied = serde_json::from_value(json!(done.result())).unwrap();
    let refused = office.host("k1").run(|| compensate(args(json!({ "a": 1 })), result, "k1")).unwrap_err();
    assert_eq!(refused.code(), Code::PolicyDenied);
}

#[test]
fn incomplete_file_is_not_a_revision() {
    let office = office();
    office.apply("k1", json!({ "a": 1 }));
    let folder = office.directory.path().join("556");
    std::fs::write(folder.join(".000002.json.k2.part"), "{ \"revi").unwrap();
    assert_eq!(office.apply("k2", json!({ "a": 2 })).result().revision, 2);
    assert_eq!(office.files(), 2);
}

#[test]
fn concurrent_calls_create_distinct_revisions() {
    let office = office();
    let start = std::sync::Barrier::new(4);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (office, start) = (&office, &start);
            scope.spawn(move || {
                start.wait();
                for n in 0..25 {
                    office.apply(&format!("k{writer}-{n}"), json!({ format!("f{writer}-{n}"): n }));
                }
            });
        }
    });
    let last = office.apply("last", json!({ "done": true }));
    assert_eq!((last.result().revision, last.result().record.len()), (101, 101));
}

#[test]
fn request_id_with_path_characters_is_rejected() {
    for id in ["", "../etc", "a/b", &"x".repeat(65)] {
        let args = Args { request_id: id.into(), set: args(json!({ "a": 1 })).set };
        let error = office().host("k").run(|| apply(args, &Context::default())).unwrap_err();
        assert_eq!(error.code(), Code::InvalidInput, "{id}");
    }
}
