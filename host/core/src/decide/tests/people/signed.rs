//! Tests of signed decisions: approvals that count, and forged signatures in evidence.

use serde_json::{Value, json};

use crate::decide;
use crate::decide::tests::support::evidence::export;
use crate::decide::tests::support::{Sim, step};
use crate::event::{Body, DecidedBy, Event};
use crate::evidence;
use crate::evidence::forge::{ForgedRecord, build_file, parse_records};
use crate::evidence::{ProblemKind, Trust, TrustedKeys, VerifyReport};
use crate::model::ids::{Hash, JobId, Slot};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::person::{
    Assurance, Decision, GateSubject, PublicKey, SIGNATURE_BYTES, Signature, Statement, Verification,
};
use crate::response::response;
use crate::storage::{InboxRequest, InboxRow};

/// Change of the records of an evidence file.
type Edit = dyn Fn(&mut Vec<ForgedRecord>);

const ADA: PublicKey = PublicKey([1; 32]);
const EVE: PublicKey = PublicKey([2; 32]);

/// Returns a stand-in for a signature: a hash of key and message. The host implements real signatures.
fn sign(key: &PublicKey, message: &[u8]) -> [u8; SIGNATURE_BYTES] {
    let mut signature = [0; SIGNATURE_BYTES];
    signature[..32].copy_from_slice(&Hash::of(&[&key.0, message]).0);
    signature
}

/// Returns a job that waits at a gate for each of two calls. The policy requires signed approvals.
fn gated(quorum: u32) -> Sim {
    let steps = ["a", "b"].map(|id| step(id, "Opaque", &[], json!({ "to": id }))).to_vec();
    let mut sim = Sim::new(Mode::HumanGated, steps);
    sim.rules.gate_approvals = Assurance::Signature;
    sim.rules.gate_quorum = quorum;
    sim.process(None).expect("it stops at its gates");
    sim
}

fn request(sim: &Sim, slot: &str, approve: bool) -> InboxRequest {
    let slot = Slot::new(slot);
    let gate_hash = sim.durable().job.gates[&slot].hash;
    if approve { InboxRequest::Approve { slot, gate_hash } } else { InboxRequest::Reject { slot, gate_hash } }
}

/// Puts a signed decision into the inbox.
fn decide_signed(sim: &mut Sim, actor: &str, key: PublicKey, slot: &str, approve: bool) {
    let (request, by) = (request(sim, slot, approve), DecidedBy::claimed(actor, Some("seen".to_owned())));
    let durable = sim.durable();
    let statement = decide::signed_statement(&durable, &request, &by).expect("the gate is open");
    let signature = Signature(sign(&key, &statement.message()));
    let verified = Some(Verification::Signature { key, signature });
    sim.inbox.push(InboxRow { id: sim.inbox.len() as i64, actor: by.actor, reason: by.reason, request, verified });
}

fn verify(file: &[u8], people: Option<&Trust>) -> VerifyReport {
    let is = |key: &PublicKey, message: &[u8], signature: &[u8; SIGNATURE_BYTES]| sign(key, message) == *signature;
    evidence::verify_with(file, TrustedKeys { signers: None, people }, &is).expect("evidence").report
}

/// I210: if the policy requires signatures, a quorum counts different people with different keys. Claimed approvals and
/// approvals with the submission do not count.
#[test]
fn quorum_counts_people_who_signed_with_different_keys() {
    let mut sim = gated(2);
    let claimed = request(&sim, "a", true);
    for actor in ["bob", "ada"] {
        sim.send_request_as(actor, claimed.clone());
    }
    decide_signed(&mut sim, "ada", ADA, "a", true);
    decide_signed(&mut sim, "bob", ADA, "a", true);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Parked, "one key is one person");
    let blocked = response(&durable).blocked.into_iter().find(|blocked| blocked.slot == Slot::new("a")).unwrap();
    assert_eq!((blocked.signed_by.len(), blocked.approvals), (2, Assurance::Signature), "{blocked:?}");
    assert!(sim.executions_by_slot.is_empty());
    decide_signed(&mut sim, "eve", EVE, "a", true);
    sim.process(None).unwrap();
    assert_eq!(sim.executions_by_slot.get(&Slot::new("a")), Some(&1));
    assert_eq!(sim.executions_by_slot.get(&Slot::new("b")), None);
    let report = verify(&export(&sim), None);
    assert!(report.intact, "{:#?}", report.problems);
    assert_eq!((report.decisions.signed, report.decisions.claimed), (3, 0));
}

/// I210: a claimed approval no longer counts when the policy begins to require signatures. The person who gave this
/// approval can then give a signed approval.
#[test]
fn policy_that_begins_to_require_signatures_applies_to_open_jobs() {
    let mut sim = Sim::new(Mode::HumanGated, vec![step("a", "Opaque", &[], json!({}))]);
    sim.process(None).unwrap();
    sim.send_request_as("bob", request(&sim, "a", true));
    sim.rules.gate_approvals = Assurance::Signature;
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked);
    assert!(sim.executions_by_slot.is_empty());
    decide_signed(&mut sim, "bob", ADA, "a", true);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    assert_eq!(sim.executions_by_slot[&Slot::new("a")], 1);
    let report = verify(&export(&sim), None);
    assert!(report.intact, "{:#?}", report.problems);
}

/// Returns the evidence of a job in which ada approved one call and eve rejected the other. Both decisions are signed.
fn decided() -> Vec<u8> {
    let mut sim = gated(1);
    decide_signed(&mut sim, "ada", ADA, "a", true);
    decide_signed(&mut sim, "eve", EVE, "b", false);
    sim.process(None).unwrap();
    export(&sim)
}

/// Returns the content of the event with this type.
fn event<'a>(records: &'a mut [(String, Value)], kind: &str) -> &'a mut Value {
    let found = records.iter_mut().find(|(_, fields)| fields["event"]["type"] == kind);
    &mut found.unwrap_or_else(|| panic!("no event {kind}")).1["event"]
}

fn forged(edit: impl Fn(&mut Vec<ForgedRecord>)) -> VerifyReport {
    let mut records = parse_records(&decided());
    edit(&mut records);
    verify(&build_file(records), None)
}

/// I211: a signature in evidence is valid only for the person, the decision, the gate and the job that were signed.
#[test]
fn forged_signatures_in_evidence_are_found() {
    assert!(forged(|_| {}).intact, "{:#?}", forged(|_| {}).problems);
    let swapped = |records: &mut Vec<ForgedRecord>| {
        let other = event(records, "gate_rejected")["verified"].clone();
        event(records, "gate_approved")["verified"] = other;
    };
    let flipped = |records: &mut Vec<ForgedRecord>| {
        let text = &mut event(records, "gate_approved")["verified"]["signature"];
        let changed = text.as_str().unwrap().chars().rev().collect::<String>();
        *text = changed.into();
    };
    let other_job = |records: &mut Vec<ForgedRecord>| {
        records[0].1["job"]["job_id"] = "job_2".into();
        event(records, "intent_accepted")["job_id"] = "job_2".into();
    };
    let other_tenant = |records: &mut Vec<ForgedRecord>| {
        records[0].1["job"]["tenant_id"] = "acme".into();
        event(records, "intent_accepted")["tenant_id"] = "acme".into();
    };
    let other_decision = |records: &mut Vec<ForgedRecord>| {
        let verified = event(records, "gate_approved")["verified"].clone();
        let event = event(records, "gate_rejected");
        event["verified"] = verified;
        event["actor"] = "ada".into();
    };
    let other_gate = |records: &mut Vec<ForgedRecord>| {
        let hash = event(records, "gate_approved")["gate_hash"].clone();
        let asked = records.iter_mut().filter(|(_, fields)| fields["event"]["type"] == "gate_requested");
        for (_, fields) in asked.filter(|(_, fields)| fields["event"]["gate_hash"] == hash) {
            fields["event"]["gate_hash"] = json!(Hash::default());
        }
        event(records, "gate_approved")["gate_hash"] = json!(Hash::default());
    };
    let forgeries: [(&str, &Edit); 9] = [
        ("another byte", &flipped),
        ("the signature of another person", &swapped),
        ("another job", &other_job),
        ("another tenant", &other_tenant),
        ("another decision", &other_decision),
        ("another gate", &other_gate),
        ("another name", &|records| event(records, "gate_approved")["actor"] = "eve".into()),
        ("another reason", &|records| event(records, "gate_approved")["reason"] = "hurry".into()),
        ("another key", &|records| event(records, "gate_approved")["verified"]["key"] = json!(EVE)),
    ];
    for (name, edit) in forgeries {
        let report = forged(edit);
        let found = report.problems.iter().any(|problem| problem.kind == ProblemKind::Decision);
        assert!(found && !report.intact, "{name}: {:#?}", report.problems);
    }
}

/// I211: a removed signature is found if the policy at acceptance or the gate required a signature.
#[test]
fn missing_signatures_in_evidence_are_found() {
    let report = forged(|records| {
        let event = event(records, "gate_approved").as_object_mut().unwrap();
        event.remove("verified");
        event["schema_version"] = 1.into();
    });
    assert!(report.problems.iter().any(|problem| problem.kind == ProblemKind::Permission), "{:#?}", report.problems);
}

/// I211: without a file of people, the owners of keys are not checked. If this file exists, the key of each decision
/// must be a key of the person who decided.
#[test]
fn keys_are_compared_with_the_file_of_people() {
    let file = decided();
    let codes = |report: &VerifyReport| report.not_checked.iter().map(|note| note.code).collect::<Vec<_>>();
    let report = verify(&file, None);
    assert!(report.intact && codes(&report).contains(&"unknown_people"), "{:#?}", report.not_checked);
    let people = |text: String| Trust::parse(&text).expect("keys");
    let report = verify(&file, Some(&people(format!("{ADA} ada\n{EVE} eve\n"))));
    assert!(report.intact && !codes(&report).contains(&"unknown_people"), "{:#?}", report.problems);
    assert_eq!(report.decisions.trusted, 2);
    for text in [format!("{ADA} ada\n"), format!("{ADA} ada\n{EVE} bob\n"), format!("{ADA} ada\n{EVE}\n")] {
        let report = verify(&file, Some(&people(text)));
        assert!(report.problems.iter().all(|problem| problem.kind == ProblemKind::Person), "{:#?}", report.problems);
        assert_eq!((report.problems.len(), report.decisions.trusted), (1, 1));
    }
    let mut sim = Sim::new(Mode::HumanGated, vec![step("a", "Opaque", &[], json!({}))]);
    sim.process(None).unwrap();
    sim.send_request_as("bob", request(&sim, "a", true));
    sim.process(None).unwrap();
    let report = verify(&export(&sim), None);
    assert!(report.intact && codes(&report).contains(&"claimed"), "{:#?}", report.not_checked);
}

/// I43, I210: events without a signature keep their version, and an older program refuses events with a signature.
#[test]
fn signed_events_have_their_own_version() {
    let signature = Signature([7; SIGNATURE_BYTES]);
    let signed = DecidedBy {
        verified: Some(Verification::Signature { key: ADA, signature }),
        ..DecidedBy::claimed("ada", None)
    };
    for (by, version) in [(DecidedBy::claimed("ada", None), 1), (signed, 3)] {
        let body = Body::GateApproved { slot: Slot::new("a"), gate_hash: Hash::default(), by, standing: false };
        let event = Event::seal(0, 0, 0, body.clone(), Hash::default());
        let value: Value = serde_json::from_slice(&event.bytes).unwrap();
        assert_eq!((&value["schema_version"], value.get("verified").is_some()), (&json!(version), version == 3));
        assert_eq!(Event::parse(&event.bytes, 0, Hash::default()).unwrap().body, body);
    }
}

/// I17, I210: the signed bytes never change.
#[test]
fn golden_statement() {
    let subject = GateSubject { slot: &Slot::new("s6"), gate_hash: Hash([1; 32]), gate_seq: 9 };
    let statement = Statement {
        tenant_id: "default",
        job_id: &JobId::new("job_1"),
        actor: "ada",
        reason: Some("seen"),
        decision: Decision::Approve(subject),
    };
    let expected = format!(
        "latchwork.decision/1 signature\0{{\"actor\":\"ada\",\"decision\":\"approve\",\"gate_hash\":\"{}\",\
         \"gate_seq\":9,\"job_id\":\"job_1\",\"reason\":\"seen\",\"slot\":\"s6\",\"tenant_id\":\"default\"}}",
        "01".repeat(32)
    );
    assert_eq!(String::from_utf8(statement.message()).unwrap(), expected);
}
