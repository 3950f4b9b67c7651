//! Tests of requests that people made and that the job has not applied yet.

use serde_json::json;

use crate::decide::tests::support::{Sim, step};
use crate::model::error::Code;
use crate::model::ids::{Hash, Slot};
use crate::model::mode::Mode;
use crate::response::{Response, response};
use crate::state::pending;
use crate::state::pending::RequestKind;
use crate::storage::{InboxRequest, InboxRow, ManualVerdict};

fn row(id: i64, actor: &str, request: InboxRequest) -> InboxRow {
    InboxRow { id, actor: actor.into(), reason: None, request, verified: None }
}

/// Returns a job that waits at the gates of `a` and `b`. Also returns the hash of the gate of `a`. Each gate needs
/// `quorum` approvals.
fn gated(quorum: u32) -> (Sim, Hash) {
    let call = |id: &str| step(id, "Opaque", &[], json!({ "to": id }));
    let mut sim = Sim::new(Mode::HumanGated, vec![call("a"), call("b")]);
    sim.rules.gate_quorum = quorum;
    sim.process(None).unwrap();
    let hash = sim.durable().job.gates[&Slot::new("a")].hash;
    (sim, hash)
}

fn reported(sim: &Sim, inbox: &[InboxRow]) -> Response {
    let durable = sim.durable();
    response(&durable).with_pending(&durable, inbox, sim.now_us)
}

/// I107: the response shows a request that was accepted but not applied yet. If pending requests decide a gate, the
/// response no longer offers an approval of this gate. The response still offers the decision on the second gate.
#[test]
fn pending_request_is_not_offered_again() {
    let (sim, gate_hash) = gated(2);
    let slot = Slot::new("a");
    let (approve, reject) = (
        InboxRequest::Approve { slot: slot.clone(), gate_hash },
        InboxRequest::Reject { slot: slot.clone(), gate_hash },
    );
    let id = sim.durable().job.header.job_id.clone();
    let resume = format!("latch resume {id}");
    let offers = |response: &Response, slot: &str| {
        response.next_actions.iter().any(|action| action.starts_with(&format!("latch job approve {id} {slot}")))
    };
    let plain = reported(&sim, &[]);
    assert!(plain.pending.is_empty() && offers(&plain, "a") && !plain.next_actions.contains(&resume));
    for (inbox, offered) in [
        (vec![row(1, "bob", approve.clone())], true),
        (vec![row(1, "bob", approve.clone()), row(2, "bob", approve.clone())], true),
        (vec![row(1, "bob", approve.clone()), row(2, "eve", approve.clone())], false),
        (vec![row(1, "bob", reject.clone())], false),
    ] {
        let response = reported(&sim, &inbox);
        assert_eq!((offers(&response, "a"), offers(&response, "b")), (offered, true), "{inbox:?}");
        assert_eq!(response.next_actions[0], resume);
        assert_eq!(response.pending.len(), inbox.len());
        assert_eq!((&response.pending[0].slot, response.pending[0].by.as_str()), (&Some(slot.clone()), "bob"));
        assert_eq!(response.blocked, plain.blocked, "until it is taken in, the job waits as it did");
    }
    let expires_us = plain.blocked.iter().filter_map(|view| view.until).max().unwrap();
    let expired = response(&sim.durable()).with_pending(&sim.durable(), &[], expires_us);
    assert_eq!(expired.next_actions, [resume.as_str()], "its time is over, noted or not");
    let cancelled = reported(&sim, &[row(1, "bob", InboxRequest::Cancel)]);
    assert_eq!((cancelled.next_actions, cancelled.pending[0].asked), (vec![resume], RequestKind::Cancel));
    let own = reported(&sim, &[row(1, "worker", InboxRequest::LateEffect { slot, try_no: 1 })]);
    assert_eq!(own, plain, "a message between workers is not shown as a request");
}

/// I107: a request that contradicts a pending request is detected. A request that agrees with the pending
/// request is accepted.
#[test]
fn request_contradicting_pending_request_is_detected() {
    let (sim, gate_hash) = gated(2);
    let durable = sim.durable();
    let slot = Slot::new("a");
    let approve = InboxRequest::Approve { slot: slot.clone(), gate_hash };
    let reject = InboxRequest::Reject { slot: slot.clone(), gate_hash };
    let resolve = |try_no, verdict: &ManualVerdict| InboxRequest::Resolve {
        slot: slot.clone(),
        try_no,
        verdict: verdict.clone(),
    };
    let confirm = |gone| InboxRequest::Confirm { slot: slot.clone(), gone };
    let (yes, no, lost) = (ManualVerdict::Applied("1".into()), ManualVerdict::NotApplied, ManualVerdict::Abort);
    let is = |inbox: &[&InboxRequest], request: &InboxRequest| {
        let inbox: Vec<_> = inbox.iter().zip(0..).map(|(r, id)| row(id, &format!("p{id}"), (*r).clone())).collect();
        pending::contradicted_row(&durable, &inbox, request).is_some()
    };
    for (inbox, request, expected) in [
        (vec![&reject], &approve, true),
        (vec![&reject], &reject, false),
        (vec![&approve], &reject, false),
        (vec![&approve, &approve], &reject, true),
        (vec![&resolve(1, &yes)], &resolve(1, &no), true),
        (vec![&resolve(1, &yes)], &resolve(1, &yes), false),
        (vec![&resolve(1, &yes)], &resolve(1, &ManualVerdict::Applied("2".into())), true),
        (vec![&resolve(1, &lost)], &resolve(2, &no), false),
        (vec![&confirm(false)], &confirm(true), true),
        (vec![&confirm(true)], &confirm(true), false),
        (vec![&InboxRequest::Continue], &InboxRequest::Abort, true),
        (vec![&InboxRequest::Cancel], &InboxRequest::Cancel, false),
        (vec![], &approve, false),
    ] {
        assert_eq!(is(&inbox, request), expected, "{inbox:?} {request:?}");
    }
}

/// I107: while a cancelled job is not over yet, the response names the actor who cancelled it.
#[test]
fn cancelling_job_shows_who_cancelled_it() {
    let call = step("a", "Opaque", &[], json!({}));
    let mut sim = Sim::new(Mode::AutoExec, vec![call]);
    let failure = crate::model::error::Failure::new(Code::NetworkTimeout, "no answer in time");
    sim.script.insert("Opaque".into(), vec![crate::model::effect::Answer::Unknown { failure, kept: None }]);
    sim.process(None).unwrap();
    sim.send_request_as("eve", InboxRequest::Cancel);
    let durable = sim.process(None).unwrap();
    let parked = response(&durable);
    assert_eq!(parked.cancelled_by.as_deref(), Some("eve"), "{:?}", parked.state);
    assert!(!parked.state.is_terminal());
}
