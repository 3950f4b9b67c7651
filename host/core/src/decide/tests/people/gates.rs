//! Tests of gates. A gate is requested before anything is executed, is bound to the exact call, and is decided
//! once.

use serde_json::json;

use crate::decide;
use crate::decide::common::single_event;
use crate::decide::tests::support;
use crate::decide::tests::support::{Sim, step};
use crate::decide::{Context, Invocation, NextAction};
use crate::event::{Body, DecidedBy};
use crate::model::error::Code;
use crate::model::ids::{Hash, Slot};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::person::Assurance;
use crate::response::response;
use crate::state::{Durable, label};
use crate::storage::{BatchKind, InboxRequest, InboxRow};

fn gate(sim: &Sim, slot: &str) -> Hash {
    sim.durable().job.gates[&Slot::new(slot)].hash
}

/// I20: an external send waits for its approval and is then executed once.
#[test]
fn an_external_send_waits_for_approval_and_then_runs_once() {
    let mut sim = Sim::new(Mode::HumanGated, vec![step("a", "Opaque", &[], json!({ "to": "ada" }))]);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Parked);
    let blocked = response(&durable).blocked_on.unwrap();
    assert_eq!((blocked.reason_code, blocked.gate_id.as_deref()), (Code::RequiresApproval, Some("gate-a")));
    assert!(sim.executions_by_slot.is_empty(), "asking executes nothing");
    sim.send_request(InboxRequest::Approve { slot: Slot::new("a"), gate_hash: Hash::of(&[b"another call"]) });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked, "an approval of another call counts nothing");
    let hash = gate(&sim, "a");
    sim.send_request(InboxRequest::Approve { slot: Slot::new("a"), gate_hash: hash });
    sim.send_request(InboxRequest::Reject { slot: Slot::new("a"), gate_hash: hash });
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed, "the first decision stands");
    assert_eq!(sim.executions_by_slot[&Slot::new("a")], 1);
}

#[test]
fn a_rejected_step_fails_and_nothing_is_executed() {
    let mut sim =
        Sim::new(Mode::HumanGated, vec![step("a", "Read", &[], json!({})), step("b", "Opaque", &["a"], json!({}))]);
    sim.process(None).unwrap();
    let hash = gate(&sim, "b");
    sim.send_request(InboxRequest::Reject { slot: Slot::new("b"), gate_hash: hash });
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Partial);
    assert_eq!(response(&durable).failed[0].reason_code, Code::GateRejected);
    assert!(sim.executions_by_slot.is_empty());
}

#[test]
fn a_call_inside_a_step_is_gated_too() {
    let plan = || vec![step("a", "Script", &[], json!({ "calls": ["Read", "Opaque"] }))];
    let mut sim = Sim::new(Mode::HumanGated, plan());
    let durable = sim.process(None).unwrap();
    let blocked = response(&durable).blocked_on.unwrap();
    assert_eq!((blocked.slot.as_str(), blocked.reason_code), ("a/1", Code::RequiresApproval));
    let hash = gate(&sim, "a/1");
    sim.send_request(InboxRequest::Approve { slot: Slot::new("a/1"), gate_hash: hash });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    assert_eq!(sim.executions_by_slot[&Slot::new("a/1")], 1);

    let mut sim = Sim::new(Mode::HumanGated, plan());
    sim.process(None).unwrap();
    sim.send_request(InboxRequest::Reject { slot: Slot::new("a/1"), gate_hash: gate(&sim, "a/1") });
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed, "the step got the refusal as an answer");
    let output = durable.output(&"a".into()).unwrap();
    assert_eq!(&*output, br#"["\"done\"","GATE_REJECTED"]"#);
    assert!(sim.executions_by_slot.is_empty());
}

#[test]
fn modes_narrow_what_a_plan_may_do() {
    let plan = || {
        vec![
            step("a", "Read", &[], json!({})),
            step("b", "Opaque", &["a"], json!({})),
            step("c", "Read", &["b"], json!({ "x": { "$ref": "b#" } })),
            step("d", "Read", &["b"], json!({})),
        ]
    };
    let mut sim = Sim::new(Mode::DraftOnly, plan());
    let durable = sim.process(None).unwrap();
    assert_eq!(response(&durable).failed[0].reason_code, Code::ModeForbids);
    assert!(sim.executions_by_slot.is_empty());

    let mut sim = Sim::new(Mode::DryRun, plan());
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed);
    let codes: Vec<_> = response(&durable).steps.iter().map(|step| step.reason_code).collect();
    assert_eq!(codes, [None, Some(Code::ModeForbids), Some(Code::DryRunUpstream), None]);
    assert!(sim.executions_by_slot.is_empty());
}

#[test]
fn effects_that_a_step_does_not_declare_are_refused() {
    let mut one = step("a", "Opaque", &[], json!({}));
    one["effects"] = json!(["read_only"]);
    let mut sim = Sim::new(Mode::HumanGated, vec![one]);
    let durable = sim.process(None).unwrap();
    assert_eq!(response(&durable).failed[0].reason_code, Code::PolicyDenied);
    assert!(sim.executions_by_slot.is_empty());
}

fn quorum(sim: &mut Sim, quorum: u32, self_approve: bool) {
    sim.rules.gate_quorum = quorum;
    sim.rules.self_approve = self_approve;
}

fn send() -> Vec<serde_json::Value> {
    vec![step("a", "Opaque", &[], json!({ "to": "ada" }))]
}

fn approve(sim: &mut Sim, actor: &str, slot: &str) {
    let request = InboxRequest::Approve { slot: Slot::new(slot), gate_hash: gate(sim, slot) };
    sim.send_request_as(actor, request);
}

/// I27: a quorum counts different people. The policy may exclude the person who requested the job.
#[test]
fn quorum_counts_distinct_approvers_and_may_exclude_the_requester() {
    for (slot, plan) in [("a", send()), ("a/0", vec![step("a", "Script", &[], json!({ "calls": ["Opaque"] }))])] {
        let mut sim = Sim::new(Mode::HumanGated, plan);
        quorum(&mut sim, 2, false);
        sim.process(None).unwrap();
        for actor in ["bob", "bob", "ada"] {
            approve(&mut sim, actor, slot);
        }
        let durable = sim.process(None).unwrap();
        assert_eq!(durable.job.state, JobState::Parked, "{slot}: bob once, and ada asked for the job");
        let blocked = response(&durable).blocked_on.unwrap();
        assert_eq!((blocked.quorum, blocked.approved_by), (Some(2), vec!["bob".to_owned()]));
        assert!(sim.executions_by_slot.is_empty());
        approve(&mut sim, "eve", slot);
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
        assert_eq!(sim.executions_by_slot[&Slot::new(slot)], 1);
    }
}

/// I27: if the policy becomes stricter after an approval, the stricter policy applies to the waiting call.
#[test]
fn stricter_policy_after_approval_applies() {
    for (slot, plan) in [("a", send()), ("a/0", vec![step("a", "Script", &[], json!({ "calls": ["Opaque"] }))])] {
        let mut sim = Sim::new(Mode::HumanGated, plan);
        sim.process(None).unwrap();
        approve(&mut sim, "ada", slot);
        // The policy changes between the approval and the run.
        quorum(&mut sim, 1, false);
        let durable = sim.process(None).unwrap();
        assert_eq!(
            (durable.job.state, sim.executions_by_slot.len()),
            (JobState::Parked, 0),
            "{slot}: not by herself any more"
        );
        quorum(&mut sim, 2, false);
        approve(&mut sim, "bob", slot);
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked, "{slot}: two are needed now");
        approve(&mut sim, "eve", slot);
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed, "{slot}");
        assert_eq!(sim.executions_by_slot[&Slot::new(slot)], 1);
    }
}

/// I27: if the policy requires reasons, only approvals with a reason count. An approver who gave no reason may
/// add one later.
#[test]
fn approval_reason_is_required_if_policy_requires_it() {
    for (slot, plan) in [("a", send()), ("a/0", vec![step("a", "Script", &[], json!({ "calls": ["Opaque"] }))])] {
        let mut sim = Sim::new(Mode::HumanGated, plan);
        let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("a header") };
        header.standing_approvals = vec!["a".into()];
        sim.begin_with(*header);
        sim.rules.standing_approvals = true;
        sim.rules.gate_reason = true;
        let durable = sim.process(None).unwrap();
        assert_eq!(durable.job.state, JobState::Parked, "{slot}: what was approved with the submission says nothing");
        for reason in [None, Some(""), Some("  ")] {
            let request = InboxRequest::Approve { slot: Slot::new(slot), gate_hash: gate(&sim, slot) };
            sim.send_request_with_reason("bob", reason, request);
            let durable = sim.process(None).unwrap();
            assert_eq!((durable.job.state, sim.executions_by_slot.len()), (JobState::Parked, 0), "{slot}: {reason:?}");
            assert!(durable.job.gates[&Slot::new(slot)].approvals.is_empty(), "{slot}: {reason:?}");
        }
        // Bob approves without a reason before the policy requires reasons. This approval no longer counts when the
        // policy requires reasons.
        sim.rules.gate_reason = false;
        sim.rules.gate_quorum = 2;
        sim.rules.standing_approvals = false;
        approve(&mut sim, "bob", slot);
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked, "{slot}");
        sim.rules.gate_reason = true;
        sim.rules.gate_quorum = 1;
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked, "{slot}: no reason was given");
        let request = InboxRequest::Approve { slot: Slot::new(slot), gate_hash: gate(&sim, slot) };
        sim.send_request_with_reason("bob", Some("the amount is right"), request.clone());
        sim.send_request_with_reason("bob", Some("still right"), request);
        let durable = sim.process(None).unwrap();
        assert_eq!(durable.job.gates[&Slot::new(slot)].approvals.len(), 1, "{slot}");
    }
}

#[test]
fn combined_rules_are_the_narrower_ones() {
    use crate::model::manifest::EffectKind;
    use crate::model::rules::Rules;
    let wide = Rules { standing_approvals: true, ..Rules::default() };
    let narrow = Rules {
        gate_effects: vec![EffectKind::ExternalSend],
        gate_tags: vec!["money".into()],
        standing_approvals: false,
        gate_expires_ms: 1,
        gate_quorum: 3,
        self_approve: false,
        budget: crate::model::budget::Budget { per_job_micro_usd: Some(5), per_month_micro_usd: Some(7) },
        ..Rules::default()
    };
    assert_eq!(wide.clone().narrowed_by(&narrow), narrow);
    assert_eq!(narrow.clone().narrowed_by(&wide), narrow);
}

/// I27: an approval given with the submission counts toward the quorum if the policy allows it.
#[test]
fn standing_approval_counts_unless_policy_forbids_it() {
    for (standing, self_approve, approvers) in [(true, true, 1), (false, true, 2), (true, false, 2)] {
        let mut sim = Sim::new(Mode::HumanGated, send());
        let Some(header) = sim.record.events.first().map(|event| event.body.clone()) else { panic!("a log") };
        let crate::event::Body::IntentAccepted { mut header } = header else { panic!("it begins with the intent") };
        header.standing_approvals = vec!["a".into()];
        sim.begin_with(*header);
        sim.rules.standing_approvals = standing;
        quorum(&mut sim, 2, self_approve);
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked);
        for actor in ["bob", "eve"].into_iter().take(approvers) {
            assert!(sim.executions_by_slot.is_empty(), "{standing} {self_approve}");
            approve(&mut sim, actor, "a");
            sim.process(None).unwrap();
        }
        assert_eq!(sim.executions_by_slot.len(), 1, "{standing} {self_approve}");
    }
}

/// I27: a gate expires if it is not decided in time. The gated call is never executed.
#[test]
fn undecided_gate_expires() {
    for (slot, plan, state) in [
        ("a", send(), JobState::Failed),
        ("a/0", vec![step("a", "Script", &[], json!({ "calls": ["Opaque"] }))], JobState::Completed),
    ] {
        let mut sim = Sim::new(Mode::HumanGated, plan);
        let durable = sim.process(None).unwrap();
        let name = format!("gate/{slot}");
        let due_us = durable.job.timers()[&name];
        assert_eq!(response(&durable).blocked_on.unwrap().until, Some(due_us));
        let hash = gate(&sim, slot);
        sim.send_request(InboxRequest::Timer { name, due_us });
        let durable = sim.process(None).unwrap();
        assert_eq!(durable.job.state, state, "{slot}");
        assert!(sim.executions_by_slot.is_empty());
        match slot {
            "a" => assert_eq!(response(&durable).failed[0].reason_code, Code::GateExpired),
            _ => assert_eq!(&*durable.output(&"a".into()).unwrap(), br#"["GATE_EXPIRED"]"#),
        }
        sim.send_request(InboxRequest::Approve { slot: Slot::new(slot), gate_hash: hash });
        sim.process(None).unwrap();
        assert!(sim.executions_by_slot.is_empty(), "too late");
        assert!(durable.job.timers().is_empty());
    }
    assert_eq!(Code::GateExpired.for_guest(), Code::PolicyDenied);
}

/// I27: a decision cancels the timer of its gate.
#[test]
fn decision_cancels_gate_timer() {
    let mut sim = Sim::new(Mode::HumanGated, send());
    let due_us = sim.process(None).unwrap().job.timers()["gate/a"];
    // The timer fired, but the approval was accepted into the inbox before the expiry was written.
    sim.send_request(InboxRequest::Timer { name: "gate/a".into(), due_us });
    approve(&mut sim, "bob", "a");
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    assert_eq!(sim.executions_by_slot[&Slot::new("a")], 1);
}

/// I20: an approval is bound to five fields. A change of any one of these fields changes the gate hash.
#[test]
fn approval_is_bound_to_operator_digest_slot_arguments_and_mode() {
    use crate::decide::gate_hash;
    let operators = support::operators();
    let pinned = &operators[&crate::model::ids::Operator::new("Opaque")];
    let other = crate::model::manifest::PinnedOperator { digest: Hash::of(&[b"another component"]), ..pinned.clone() };
    let slot = Slot::new("a/1");
    let hashes = [
        gate_hash(pinned, "Opaque", &slot, b"{}", Mode::HumanGated),
        gate_hash(pinned, "Keyed", &slot, b"{}", Mode::HumanGated),
        gate_hash(&other, "Opaque", &slot, b"{}", Mode::HumanGated),
        gate_hash(pinned, "Opaque", &Slot::new("a/2"), b"{}", Mode::HumanGated),
        gate_hash(pinned, "Opaque", &slot, b"{\"a\":1}", Mode::HumanGated),
        gate_hash(pinned, "Opaque", &slot, b"{}", Mode::AutoExec),
        // The slot and the arguments together have the same bytes as in the first hash, but are split differently.
        gate_hash(pinned, "Opaque", &Slot::new("a/1{"), b"}", Mode::HumanGated),
    ];
    let distinct: std::collections::BTreeSet<_> = hashes.iter().map(|hash| hash.to_hex()).collect();
    assert_eq!(distinct.len(), hashes.len());
}

/// Returns the state of the job directly after a worker's claim.
fn claimed(sim: &Sim) -> Durable {
    let mut durable = sim.durable();
    let claim = decide::claimed("w", Hash::default());
    durable.seal(durable.job.attempt + 1, claim, sim.now_us).unwrap();
    durable
}

fn context(sim: &Sim) -> Context<'_> {
    Context { now_us: sim.now_us, random: 7, rules: &sim.rules, clock_margin_ms: 0 }
}

fn row(actor: &str, reason: Option<&str>, request: InboxRequest) -> InboxRow {
    InboxRow { id: 1, actor: actor.into(), reason: reason.map(str::to_owned), request, verified: None }
}

fn inside() -> Vec<serde_json::Value> {
    vec![step("a", "Script", &[], json!({ "calls": ["Opaque"] }))]
}

/// I20: a step that requests other arguments than the approved ones is stopped.
#[test]
fn unapproved_arguments_are_never_executed() {
    let mut sim = Sim::new(Mode::HumanGated, inside());
    sim.process(None).unwrap();
    let (slot, gate_hash) = (Slot::new("a/0"), gate(&sim, "a/0"));
    let mut durable = claimed(&sim);
    let approve = row("bob", None, InboxRequest::Approve { slot: slot.clone(), gate_hash });
    let draft = decide::apply_request(&durable, &approve, &context(&sim));
    durable.seal(durable.job.attempt, draft, sim.now_us).unwrap();
    let next = |args: &[u8]| {
        let invocation = Invocation {
            slot: slot.clone(),
            operator: "Opaque".into(),
            args: args.to_vec(),
            args_ref: durable.payload_ref(&label::args(&slot), args),
            action_key: None,
            timeout_ms: 1,
            unusable: None,
            nonce: None,
            quiescence: None,
            reconcile_exhausted: false,
            max_cost_micro_usd: None,
            reserved_micro_usd: 0,
            month_micro_usd: None,
        };
        decide::next_action(&durable, &invocation, &context(&sim))
    };
    let approved = durable.args(&slot).unwrap();
    assert!(matches!(next(&approved), NextAction::Execute { .. }));
    let NextAction::Diverge(divergence) = next(br#"{"k":1}"#) else { panic!("it was not approved") };
    assert_eq!(divergence.field, "approved arguments");
}

/// I27: an approval given with the submission is not recorded as an approval if the policy does not accept it.
#[test]
fn uncounted_standing_approval_is_not_recorded() {
    for (standing, self_approve, named) in
        [(true, true, "a"), (false, true, "a"), (true, false, "a"), (true, true, "b")]
    {
        let mut sim = Sim::new(Mode::HumanGated, send());
        let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("a header") };
        header.standing_approvals = vec![named.into()];
        sim.begin_with(*header);
        sim.rules.standing_approvals = standing;
        quorum(&mut sim, 2, self_approve);
        let durable = sim.process(None).unwrap();
        let approvals = &durable.job.gates[&Slot::new("a")].approvals;
        let counts = standing && self_approve && named == "a";
        assert_eq!(approvals.iter().map(|approval| approval.standing).collect::<Vec<_>>(), vec![true; counts.into()]);
        assert!(durable.job.timers().contains_key("gate/a"), "one of two is not enough: it can still expire");
    }
}

/// I27: approvals that were given under a less strict policy do not count if the current policy does not accept
/// them.
#[test]
fn approvals_outside_current_policy_do_not_count() {
    for standing in [true, false] {
        let mut sim = Sim::new(Mode::HumanGated, send());
        let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("a header") };
        header.standing_approvals = if standing { vec!["a".into()] } else { vec![] };
        sim.begin_with(*header);
        quorum(&mut sim, 2, true);
        sim.process(None).unwrap();
        if !standing {
            approve(&mut sim, "ada", "a");
        }
        let recorded = sim.process(None).unwrap().job.gates[&Slot::new("a")].approvals.len();
        assert_eq!(recorded, 1, "ada's own, whichever way");
        (sim.rules.standing_approvals, sim.rules.self_approve) = (!standing, standing);
        approve(&mut sim, "bob", "a");
        let durable = sim.process(None).unwrap();
        assert_eq!(
            (durable.job.state, sim.executions_by_slot.len()),
            (JobState::Parked, 0),
            "bob's is the first that counts"
        );
        approve(&mut sim, "eve", "a");
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    }
}

/// I27: a person who approves twice counts once. The second approval is not recorded. A second approval in
/// the log is ignored.
#[test]
fn repeated_approval_by_one_person_counts_once() {
    let mut sim = Sim::new(Mode::HumanGated, send());
    quorum(&mut sim, 2, true);
    sim.process(None).unwrap();
    let slot = Slot::new("a");
    for _ in 0..2 {
        approve(&mut sim, "bob", "a");
    }
    sim.process(None).unwrap();
    let is_approval = |body: &Body| matches!(body, Body::GateApproved { .. });
    assert_eq!(sim.record.events.iter().filter(|event| is_approval(&event.body)).count(), 1);
    let mut durable = claimed(&sim);
    let gate_hash = gate(&sim, "a");
    let by = DecidedBy::claimed("bob", None);
    let again = Body::GateApproved { slot: slot.clone(), gate_hash, by, standing: false };
    durable.seal(durable.job.attempt, single_event(again), sim.now_us).unwrap();
    assert_eq!((durable.job.gates[&slot].approvals.len(), durable.job.gates[&slot].decision.is_some()), (1, false));
}

#[test]
fn gate_requested_for_another_call_starts_without_approvals() {
    let mut sim = Sim::new(Mode::HumanGated, inside());
    quorum(&mut sim, 2, true);
    sim.process(None).unwrap();
    approve(&mut sim, "bob", "a/0");
    sim.process(None).unwrap();
    let slot = Slot::new("a/0");
    let asked = sim.record.events.iter().find_map(|event| match &event.body {
        body @ Body::GateRequested { .. } => Some(body.clone()),
        _ => None,
    });
    let Some(Body::GateRequested { args, operator, quorum, .. }) = asked else { panic!("it was asked about") };
    for (hash, approvals) in [(gate(&sim, "a/0"), 1), (Hash::of(&[b"another call"]), 0)] {
        let mut durable = claimed(&sim);
        let operator = operator.clone();
        let again = Body::GateRequested {
            slot: slot.clone(),
            gate_hash: hash,
            args,
            operator,
            quorum,
            expires_us: None,
            approvals: Assurance::Claimed,
        };
        durable.seal(durable.job.attempt, single_event(again), sim.now_us).unwrap();
        assert_eq!(durable.job.gates[&slot].approvals.len(), approvals);
    }
}

/// I27: a rejection states the actor and the reason. An expiry is written only after every earlier request was
/// handled.
#[test]
fn rejection_gives_reason_and_expiry_waits_for_acknowledged_requests() {
    for (slot, plan) in [("a", send()), ("a/0", inside())] {
        let mut sim = Sim::new(Mode::HumanGated, plan);
        let parked = sim.process(None).unwrap();
        let mut durable = claimed(&sim);
        let request = InboxRequest::Reject { slot: Slot::new(slot), gate_hash: gate(&sim, slot) };
        let draft = decide::apply_request(&durable, &row("bob", Some("too dear"), request), &context(&sim));
        let by =
            |body: &Body| matches!(body, Body::GateRejected { by, .. } if by.reason.as_deref() == Some("too dear"));
        assert!(draft.events.iter().any(by), "{slot}");
        durable.seal(durable.job.attempt, draft, sim.now_us).unwrap();
        if slot == "a" {
            assert_eq!(response(&durable).failed[0].message, "bob refused it: too dear");
        }
        let name = format!("gate/{slot}");
        let due_us = parked.job.timers()[&name];
        let expired = decide::apply_request(
            &claimed(&sim),
            &row("x", None, InboxRequest::Timer { name, due_us }),
            &context(&sim),
        );
        assert!(matches!(expired.kind, BatchKind::EndWait { .. }), "{slot}");
    }
}
