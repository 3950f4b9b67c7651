//! Gates: asked before anything is executed, bound to the exact call, decided once.

use serde_json::json;

use super::sim::{Sim, step};
use crate::error::Code;
use crate::event::Mode;
use crate::ids::{Hash, Slot};
use crate::job::JobState;
use crate::response::response;
use crate::storage::Request;

fn gate(sim: &Sim, slot: &str) -> Hash {
    sim.durable().job.gates[&Slot::new(slot)].hash
}

/// I20.
#[test]
fn an_external_send_waits_for_approval_and_then_runs_once() {
    let mut sim = Sim::new(Mode::HumanGated, vec![step("a", "Opaque", &[], json!({ "to": "ada" }))]);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Parked);
    let blocked = response(&durable).blocked_on.unwrap();
    assert_eq!((blocked.reason_code, blocked.gate_id.as_deref()), (Code::RequiresApproval, Some("gate-a")));
    assert!(sim.world.is_empty(), "asking executes nothing");
    sim.ask(Request::Approve { slot: Slot::new("a"), gate_hash: Hash::of(&[b"another call"]) });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked, "an approval of another call counts nothing");
    let hash = gate(&sim, "a");
    sim.ask(Request::Approve { slot: Slot::new("a"), gate_hash: hash });
    sim.ask(Request::Reject { slot: Slot::new("a"), gate_hash: hash });
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed, "the first decision stands");
    assert_eq!(sim.world[&Slot::new("a")], 1);
}

#[test]
fn a_rejected_step_fails_and_nothing_is_executed() {
    let mut sim =
        Sim::new(Mode::HumanGated, vec![step("a", "Read", &[], json!({})), step("b", "Opaque", &["a"], json!({}))]);
    sim.process(None).unwrap();
    let hash = gate(&sim, "b");
    sim.ask(Request::Reject { slot: Slot::new("b"), gate_hash: hash });
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Partial);
    assert_eq!(response(&durable).failed[0].reason_code, Code::GateRejected);
    assert!(sim.world.is_empty());
}

#[test]
fn a_call_inside_a_step_is_gated_too() {
    let plan = || vec![step("a", "Script", &[], json!({ "calls": ["Read", "Opaque"] }))];
    let mut sim = Sim::new(Mode::HumanGated, plan());
    let durable = sim.process(None).unwrap();
    let blocked = response(&durable).blocked_on.unwrap();
    assert_eq!((blocked.slot.as_str(), blocked.reason_code), ("a/1", Code::RequiresApproval));
    let hash = gate(&sim, "a/1");
    sim.ask(Request::Approve { slot: Slot::new("a/1"), gate_hash: hash });
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    assert_eq!(sim.world[&Slot::new("a/1")], 1);

    let mut sim = Sim::new(Mode::HumanGated, plan());
    sim.process(None).unwrap();
    sim.ask(Request::Reject { slot: Slot::new("a/1"), gate_hash: gate(&sim, "a/1") });
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed, "the step got the refusal as an answer");
    let output = durable.output(&"a".into()).unwrap();
    assert_eq!(&*output, br#"["\"done\"","GATE_REJECTED"]"#);
    assert!(sim.world.is_empty());
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
    assert!(sim.world.is_empty());

    let mut sim = Sim::new(Mode::DryRun, plan());
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed);
    let codes: Vec<_> = response(&durable).steps.iter().map(|step| step.reason_code).collect();
    assert_eq!(codes, [None, Some(Code::ModeForbids), Some(Code::DryRunUpstream), None]);
    assert!(sim.world.is_empty());
}

#[test]
fn effects_that_a_step_does_not_declare_are_refused() {
    let mut one = step("a", "Opaque", &[], json!({}));
    one["effects"] = json!(["read_only"]);
    let mut sim = Sim::new(Mode::HumanGated, vec![one]);
    let durable = sim.process(None).unwrap();
    assert_eq!(response(&durable).failed[0].reason_code, Code::PolicyDenied);
    assert!(sim.world.is_empty());
}

fn quorum(sim: &mut Sim, quorum: u32, self_approve: bool) {
    sim.rules.gate_quorum = quorum;
    sim.rules.self_approve = self_approve;
}

fn send() -> Vec<serde_json::Value> {
    vec![step("a", "Opaque", &[], json!({ "to": "ada" }))]
}

fn approve(sim: &mut Sim, actor: &str, slot: &str) {
    let request = Request::Approve { slot: Slot::new(slot), gate_hash: gate(sim, slot) };
    sim.ask_as(actor, request);
}

/// I27.
#[test]
fn a_quorum_is_of_different_people_and_perhaps_not_of_the_one_who_asked() {
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
        assert!(sim.world.is_empty());
        approve(&mut sim, "eve", slot);
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
        assert_eq!(sim.world[&Slot::new(slot)], 1);
    }
}

/// I27.
#[test]
fn rules_that_became_narrower_after_an_approval_hold() {
    for (slot, plan) in [("a", send()), ("a/0", vec![step("a", "Script", &[], json!({ "calls": ["Opaque"] }))])] {
        let mut sim = Sim::new(Mode::HumanGated, plan);
        sim.process(None).unwrap();
        approve(&mut sim, "ada", slot);
        // Between the approval and the run.
        quorum(&mut sim, 1, false);
        let durable = sim.process(None).unwrap();
        assert_eq!((durable.job.state, sim.world.len()), (JobState::Parked, 0), "{slot}: not by herself any more");
        quorum(&mut sim, 2, false);
        approve(&mut sim, "bob", slot);
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked, "{slot}: two are needed now");
        approve(&mut sim, "eve", slot);
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed, "{slot}");
        assert_eq!(sim.world[&Slot::new(slot)], 1);
    }
}

#[test]
fn rules_narrow_each_other() {
    use crate::manifest::Effect;
    use crate::policy::Rules;
    let wide = Rules { standing_approvals: true, ..Rules::default() };
    let narrow = Rules {
        gate_effects: vec![Effect::ExternalSend],
        gate_tags: vec!["money".into()],
        standing_approvals: false,
        gate_expires_ms: 1,
        gate_quorum: 3,
        self_approve: false,
        budget: crate::cost::Budget { per_job_micro_usd: Some(5), per_month_micro_usd: Some(7) },
        ..Rules::default()
    };
    assert_eq!(wide.clone().narrowed_by(&narrow), narrow);
    assert_eq!(narrow.clone().narrowed_by(&wide), narrow);
}

/// I27.
#[test]
fn a_standing_approval_is_one_of_the_quorum_unless_the_policy_forbids_it() {
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
            assert!(sim.world.is_empty(), "{standing} {self_approve}");
            approve(&mut sim, actor, "a");
            sim.process(None).unwrap();
        }
        assert_eq!(sim.world.len(), 1, "{standing} {self_approve}");
    }
}

/// I27.
#[test]
fn a_gate_that_nobody_decides_about_expires() {
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
        sim.ask(Request::Timer { name, due_us });
        let durable = sim.process(None).unwrap();
        assert_eq!(durable.job.state, state, "{slot}");
        assert!(sim.world.is_empty());
        match slot {
            "a" => assert_eq!(response(&durable).failed[0].reason_code, Code::GateExpired),
            _ => assert_eq!(&*durable.output(&"a".into()).unwrap(), br#"["GATE_EXPIRED"]"#),
        }
        sim.ask(Request::Approve { slot: Slot::new(slot), gate_hash: hash });
        sim.process(None).unwrap();
        assert!(sim.world.is_empty(), "too late");
        assert!(durable.job.timers().is_empty());
    }
    assert_eq!(Code::GateExpired.for_guest(), Code::PolicyDenied);
}

/// I27.
#[test]
fn a_decision_disarms_the_gates_timer() {
    let mut sim = Sim::new(Mode::HumanGated, send());
    let due_us = sim.process(None).unwrap().job.timers()["gate/a"];
    // The timer fired, but the approval was acknowledged before the end was written.
    sim.ask(Request::Timer { name: "gate/a".into(), due_us });
    approve(&mut sim, "bob", "a");
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    assert_eq!(sim.world[&Slot::new("a")], 1);
}
