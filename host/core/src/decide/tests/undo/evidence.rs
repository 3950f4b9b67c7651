//! Tests of the evidence of compensation. Forgeries are found even if the forger recomputes every hash.

use crate::decide::tests::support::Sim;
use crate::decide::tests::support::compensation::{job, plan, run_to_gate};
use crate::decide::tests::support::evidence::{assert_verifies, export, verify};
use crate::event::{Body, Event};
use crate::evidence::ProblemKind;
use crate::evidence::forge::{build_file, parse_records};
use crate::model::ids::{Hash, Slot};
use crate::model::keys;
use crate::model::mode::Mode;
use crate::state::label;
use crate::storage::InboxRequest;

type Lines = Vec<(String, serde_json::Value)>;

fn undone() -> Sim {
    let mut sim = job(Mode::AutoExec, "keep", plan());
    run_to_gate(&mut sim);
    sim.send_request(InboxRequest::Cancel);
    sim.process(None).unwrap();
    assert_verifies(&sim);
    sim
}

/// Returns the job of [`undone`] with different arguments for the compensation `a~c`. Every hash is recomputed.
fn called_otherwise() -> Sim {
    let mut sim = undone();
    let (secret, name) = (sim.record.secret, label::args(&Slot::new("a~c")));
    let payload = sim.record.payloads.iter_mut().find(|payload| payload.label == name).unwrap();
    payload.bytes = br#"{"operator":"Opaque"}"#.to_vec();
    let other = keys::payload_ref(&secret, &name, &payload.bytes);
    let mut head = Hash::default();
    for event in &mut sim.record.events {
        let mut body = event.body.clone();
        match &mut body {
            Body::CompensationStarted { slot, args, .. } | Body::ToolInvocationStarted { slot, args, .. }
                if slot.as_str() == "a~c" =>
            {
                *args = other;
            }
            _ => {}
        }
        *event = Event::seal(event.seq, event.time_us, event.attempt, body, head);
        head = event.hash;
    }
    for row in sim.record.ledger.iter_mut().filter(|row| row.slot.as_str() == "a~c") {
        row.args_hash = other.hash;
    }
    sim
}

/// Returns the position of the first event of this type and slot.
fn at(lines: &Lines, kind: &str, slot: &str) -> usize {
    let is = |(record, line): &(String, serde_json::Value)| {
        record == "event" && line["event"]["type"] == kind && line["event"]["slot"] == slot
    };
    lines.iter().position(is).unwrap_or_else(|| panic!("no {kind} of {slot}"))
}

/// Removes and returns all events of a compensation.
fn removed(lines: &mut Lines, slot: &str) -> Lines {
    let of = |(record, line): &(String, serde_json::Value)| record == "event" && line["event"]["slot"] == slot;
    let (removed, rest) = std::mem::take(lines).into_iter().partition(of);
    *lines = rest;
    removed
}

fn found(lines: Lines) -> Vec<ProblemKind> {
    let report = verify(&build_file(lines));
    assert!(!report.intact, "it is found");
    report.problems.iter().map(|problem| problem.kind).collect()
}

/// I30, I37: every forgery of a compensation is found.
#[test]
fn forged_compensation_evidence_is_found() {
    let sim = undone();
    let lines = || parse_records(&export(&sim));

    // Forges two compensations in the wrong order.
    let mut forged = lines();
    let later = removed(&mut forged, "a~c");
    let before = at(&forged, "compensation_started", "c/2~c");
    forged.splice(before..before, later);
    assert!(found(forged).contains(&ProblemKind::Illegal), "out of order");

    // Forges a compensation that begins before the call that it undoes was committed.
    let mut forged = lines();
    let early = removed(&mut forged, "c/2~c");
    let before = at(&forged, "tool_invocation_started", "c/2");
    forged.splice(before..before, early);
    let kinds = found(forged);
    assert!(kinds.contains(&ProblemKind::Permission) && kinds.contains(&ProblemKind::Illegal), "too early: {kinds:?}");

    // Forges a second compensation of the same call.
    let mut forged = lines();
    let first = at(&forged, "compensation_started", "c/2~c");
    let mut again = forged.clone();
    let again = removed(&mut again, "c/2~c");
    let after = at(&forged, "compensation_finished", "c/2~c") + 1;
    assert!(after > first);
    forged.splice(after..after, again);
    let report = verify(&build_file(forged));
    let twice = |problem: &crate::evidence::EvidenceProblem| {
        problem.kind == ProblemKind::DoubleExecution && problem.message == "c/2 is undone a second time"
    };
    assert!(report.problems.iter().any(twice), "{:#?}", report.problems);

    // Forges a compensation of a call that took no effect.
    let mut forged = lines();
    for (record, line) in &mut forged {
        if record == "event" && line["event"]["slot"] == "c/2~c" {
            line["event"]["slot"] = "d~c".into();
        }
    }
    assert!(found(forged).contains(&ProblemKind::Permission), "of nothing");

    // Forges the end of a compensation for which no call was made.
    let mut forged = lines();
    let all = removed(&mut forged, "a~c");
    let end: Lines = all.into_iter().filter(|(_, line)| line["event"]["type"] == "compensation_finished").collect();
    let before = forged.iter().position(|(_, line)| line["event"]["type"] == "job_cancelled").unwrap();
    let before =
        forged[..before].iter().rposition(|(_, line)| line["event"]["type"] == "compensation_finished").unwrap() + 1;
    forged.splice(before..before, end);
    assert!(found(forged).contains(&ProblemKind::Permission), "pretended");

    // Removes a compensation from the log, the ledger and the effects. Without this compensation, the job must not end
    // as cancelled.
    let mut forged = lines();
    removed(&mut forged, "a~c");
    forged.retain(|(record, line)| record == "response" || !line.to_string().contains("a~c"));
    let kinds = found(forged);
    assert!(kinds.contains(&ProblemKind::Illegal), "left out: {kinds:?}");

    // Forges the arguments of a compensation consistently in all records.
    let report = verify(&export(&called_otherwise()));
    let message = "the arguments of a~c do not match a, the call that it undoes";
    assert!(report.problems.iter().any(|problem| problem.message == message), "{:#?}", report.problems);

    // Forges a response that reports an effect as left although the effect was undone.
    let mut forged = lines();
    let (_, response) = forged.iter_mut().find(|(record, _)| record == "response").unwrap();
    response["response"]["compensations"][0]["state"] = "left".into();
    assert_eq!(found(forged), [ProblemKind::Response], "another response");
}
