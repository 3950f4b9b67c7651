//! Tests of action keys. An action is performed once across jobs, for every state of the key holder.

use serde_json::json;

use crate::decide::step_action_key;
use crate::decide::tests::support::evidence::{export, verify};
use crate::decide::tests::support::{CrashPoint, Sim, good, step};
use crate::event::Body;
use crate::model::answer_requirement::AnswerRequirement;
use crate::model::effect::{Answer, Provenance};
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, JobId, Operator, Slot};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::step::StepState;
use crate::response::response;
use crate::rules::ledger::RowState;
use crate::storage::{ActionRow, InboxRequest, ManualVerdict};

/// Returns an opaque send whose action key contains the recipient.
fn send(to: &str) -> serde_json::Value {
    let mut send = step("a", "Opaque", &[], json!({ "to": to }));
    send["idempotency_template"] = json!("send:{to}");
    send
}

/// Runs a job. Returns the action key that the job reserved, and the reservation of this key. In the returned
/// reservation, the holder of the key is the slot `other` of the job `job_0`.
fn left_by(mut first: Sim) -> (Hash, ActionRow) {
    first.process(None).unwrap();
    let (key, row) = first.actions.into_iter().next().expect("the key is reserved");
    (key, ActionRow { job_id: JobId::new("job_0"), slot: Slot::new("other"), ..row })
}

fn second(mode: Mode, plan: serde_json::Value, (key, row): (Hash, ActionRow)) -> Sim {
    let mut sim = Sim::new(mode, vec![plan]);
    sim.actions.insert(key, row);
    sim
}

fn done() -> (Hash, ActionRow) {
    left_by(Sim::new(Mode::AutoExec, vec![send("ada")]))
}

/// I21: an action that was performed is not performed again, and no approval is requested for it.
#[test]
fn committed_action_returns_its_result_without_approval() {
    for mode in [Mode::AutoExec, Mode::HumanGated] {
        let mut sim = second(mode, send("ada"), done());
        // In `AUTO_EXEC` the job looks up the key holder after a refused reservation. In `HUMAN_GATED` it looks
        // up the key holder before it requests an approval.
        let durable = sim.process_with_lookups().unwrap();
        assert_eq!(durable.job.state, JobState::Completed, "{mode:?}");
        assert!(sim.executions_by_slot.is_empty(), "nothing is executed");
        assert!(durable.job.gates.is_empty(), "no approval is requested");
        assert_eq!(&*durable.output(&"a".into()).unwrap(), good().result.as_bytes(), "the result has its shape");
        let call = &durable.job.calls[&Slot::new("a")];
        assert_eq!(call.finished.as_ref().unwrap().provenance, Provenance::Reused);
        assert!(durable.rows.is_empty(), "what another job did has no row here");
        let reused = |body: &Body| matches!(body, Body::ActionReused { job_id, .. } if job_id.as_str() == "job_0");
        assert!(sim.record.events.iter().any(|event| reused(&event.body)));
        assert!(!durable.job.changed_the_world(&"a".into()), "there is nothing of its own to undo");
    }
}

/// I253: a receipt of another job is no way around a requirement of the policy.
#[test]
fn receipt_that_lacks_a_required_field_is_refused() {
    let mut sim = second(Mode::AutoExec, send("ada"), done());
    sim.rules.require = [(Operator::new("Opaque"), vec![AnswerRequirement::Verified])].into();
    let durable = sim.process_with_lookups().unwrap();
    assert_eq!(response(&durable).failed[0].reason_code, Code::PolicyDenied);
    assert!(sim.executions_by_slot.is_empty());
}

/// I253: a receipt from before the requirement does not meet it. The holder of the key is a step of the same job, which
/// was executed by a worker whose policy had no requirement.
#[test]
fn receipt_from_before_a_requirement_is_refused() {
    let mut last = send("ada");
    last["step_id"] = json!("b");
    last["depends_on"] = json!(["c"]);
    let plan = vec![send("ada"), step("c", "Read", &["a"], json!({})), last];
    let mut sim = Sim::new(Mode::AutoExec, plan);
    sim.process(Some(CrashPoint::BeforeExecute(1))).unwrap_err();
    sim.rules.require = [(Operator::new("Opaque"), vec![AnswerRequirement::Verified])].into();
    let durable = sim.process(None).unwrap();
    assert_eq!(response(&durable).failed[0].reason_code, Code::PolicyDenied);
    assert!(durable.job.calls[&Slot::new("a")].committed && !sim.executions_by_slot.contains_key(&Slot::new("b")));
}

/// I172.
#[test]
fn other_arguments_under_a_known_key_are_refused() {
    let (key, row) = done();
    for receipt in [row.receipt.clone(), None] {
        let row = ActionRow { args_hash: Hash::of(&[b"other"]), receipt, ..row.clone() };
        let mut sim = second(Mode::HumanGated, send("ada"), (key, row));
        let durable = sim.process_with_lookups().unwrap();
        assert_eq!(response(&durable).failed[0].reason_code, Code::InvalidInput);
        assert!(sim.executions_by_slot.is_empty() && durable.job.gates.is_empty());
    }
}

/// I21: an action that is in flight or in doubt blocks the step. The step continues when the action is settled.
#[test]
fn open_action_blocks_until_settled() {
    let (key, row) = done();
    for mode in [Mode::AutoExec, Mode::HumanGated] {
        let open = ActionRow { receipt: None, ..row.clone() };
        let mut sim = second(mode, send("ada"), (key, open));
        let durable = sim.process_with_lookups().unwrap();
        assert_eq!(durable.job.state, JobState::Parked, "{mode:?}");
        let blocked = response(&durable).blocked_on.unwrap();
        assert_eq!((blocked.reason_code, blocked.slot.as_str()), (Code::ActionInProgress, "a"));
        assert_eq!(blocked.holder.unwrap().job_id.as_str(), "job_0");
        assert_eq!(response(&durable).next_actions, ["latch job show job_0"]);
        assert!(sim.waits.contains(&key) && sim.executions_by_slot.is_empty());
        // The settlement of another key changes nothing, and the settlement of this key wakes the job.
        let operator = Operator::new("Opaque");
        sim.send_request(InboxRequest::KeySettled { operator: operator.clone(), key: Hash::default() });
        assert_eq!(sim.process_with_lookups().unwrap().job.state, JobState::Parked);
        sim.actions.insert(key, row.clone());
        sim.send_request(InboxRequest::KeySettled { operator, key });
        assert_eq!(sim.process_with_lookups().unwrap().job.state, JobState::Completed);
        assert!(sim.executions_by_slot.is_empty(), "the receipt is taken");
    }
}

/// I21: a key is released only if the action certainly did not happen.
#[test]
fn key_is_released_only_if_nothing_can_have_happened() {
    let refused = || Answer::NotApplied(Failure::new(Code::AuthForbidden, "no"));
    let unknown = || Answer::Unknown { failure: Failure::new(Code::NetworkTimeout, "?"), kept: None };
    let passing = || Answer::NotApplied(Failure::new(Code::NetworkTimeout, "later"));
    let run = |script: Vec<Answer>| {
        let mut sim = Sim::new(Mode::AutoExec, vec![send("ada")]);
        sim.script.insert(Operator::new("Opaque"), script);
        sim
    };
    let mut sim = run(vec![refused()]);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Failed);
    assert!(sim.actions.is_empty(), "final and certainly not applied");
    // The call is in doubt and is then closed as lost. The action may have happened, so the key stays reserved.
    let mut sim = run(vec![unknown()]);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked);
    assert_eq!(sim.actions.len(), 1);
    sim.resolve(Slot::new("a"), ManualVerdict::Abort);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Failed);
    assert!(sim.actions.values().all(|row| row.receipt.is_none()) && sim.actions.len() == 1, "lost keeps its key");
    // The call is in doubt and is resolved as not applied, and the job is cancelled.
    let mut sim = run(vec![unknown()]);
    sim.process(None).unwrap();
    sim.send_request(InboxRequest::Cancel);
    sim.resolve(Slot::new("a"), ManualVerdict::NotApplied);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Cancelled);
    assert!(sim.actions.is_empty(), "no try follows, so the key is released");
    // A call that is retried keeps its key until its final answer.
    let mut sim = run(vec![passing(), passing()]);
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, sim.executions_by_slot[&Slot::new("a")]), (JobState::Completed, 1));
    assert!(sim.actions.values().all(|row| row.receipt.is_some()));
}

#[test]
fn a_dry_run_never_touches_keys() {
    let mut sim = second(Mode::DryRun, send("ada"), done());
    let before = sim.actions.clone();
    let durable = sim.process_with_lookups().unwrap();
    assert_eq!(durable.job.steps[0].state, StepState::Skipped);
    assert_eq!(sim.actions, before);
}

/// I21: two steps of one job may have the same action key. The second step then gets the receipt of the first step, as
/// a step of another job would.
#[test]
fn another_slot_of_the_same_job_counts_as_another_job() {
    let mut two = send("ada");
    two["step_id"] = json!("b");
    two["depends_on"] = json!(["a"]);
    let mut sim = Sim::new(Mode::AutoExec, vec![send("ada"), two]);
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Completed);
    assert_eq!(sim.executions_by_slot.len(), 1, "one effect");
    assert_eq!(durable.job.calls[&Slot::new("b")].finished.as_ref().unwrap().provenance, Provenance::Reused);
}

#[test]
fn action_key_depends_only_on_payload_hashes_and_template() {
    let key = |plan: serde_json::Value| {
        let mut sim = Sim::new(Mode::AutoExec, vec![step("s", "Read", &[], json!({})), plan]);
        let durable = sim.process(None).unwrap();
        step_action_key(&durable, &Slot::new("a")).unwrap()
    };
    let with = |to: &str, field: &str, value: serde_json::Value| {
        let mut plan = send(to);
        plan["depends_on"] = json!(["s"]);
        plan[field] = value;
        plan
    };
    let plain = key(with("ada", "gate", json!("none")));
    assert!(plain.is_some());
    assert_eq!(
        key(with("ada", "payload", json!({ "to": "ada", "body": "x" }))),
        plain,
        "what is not named is not in it"
    );
    assert_ne!(key(with("bob", "gate", json!("none"))), plain);
    assert_ne!(key(with("ada", "idempotency_template", json!("send2:{to}"))), plain);
    let mut hashed = with("ada", "idempotency_template", json!("send:{to}:{what}"));
    hashed["hashes"] = json!({ "what": { "$ref": "s#" } });
    let by_output = key(hashed.clone());
    hashed["hashes"] = json!({ "what": "done" });
    assert_eq!(key(hashed.clone()), by_output, "an output counts by its value");
    hashed["hashes"] = json!({ "what": "other" });
    assert_ne!(key(hashed), by_output);
    assert_eq!(key(with("ada", "name", json!("Read"))), None, "what changes nothing has no action key");
}

/// I146: a step without an idempotency template has no action key, so every job executes the step.
#[test]
fn a_step_without_a_template_has_no_action_key() {
    let unkeyed = |template: Option<serde_json::Value>| {
        let mut send = send("ada");
        match template {
            Some(template) => send["idempotency_template"] = template,
            None => drop(send.as_object_mut().unwrap().remove("idempotency_template")),
        }
        send
    };
    for plan in [unkeyed(None), unkeyed(Some(json!(null)))] {
        let mut sim = second(Mode::AutoExec, plan.clone(), done());
        let durable = sim.process_with_lookups().unwrap();
        assert_eq!(
            (durable.job.state, sim.executions_by_slot.len()),
            (JobState::Completed, 1),
            "it does not wait for another job"
        );
        assert_eq!(step_action_key(&durable, &Slot::new("a")).unwrap(), None);
        assert_eq!(sim.actions.len(), 1, "it reserves nothing");
        assert_eq!(durable.rows[&Slot::new("a")].action_key, None);
        // Two steps of one job without a template are both executed, because they have different slots.
        let mut two = plan.clone();
        two["step_id"] = json!("b");
        let mut sim = Sim::new(Mode::AutoExec, vec![plan, two]);
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
        assert_eq!(sim.executions_by_slot.len(), 2);
    }
}

/// A step whose action key was refused while it ran can be started again in the same attempt.
#[test]
fn step_whose_try_was_dropped_can_restart_in_same_attempt() {
    let mut sim = Sim::new(Mode::AutoExec, vec![send("ada")]);
    assert!(sim.process(Some(CrashPoint::BeforeExecute(0))).is_err());
    let mut durable = sim.durable();
    let none = std::collections::BTreeSet::new();
    assert_eq!(durable.job.steps[0].state, StepState::Running);
    assert!(crate::decide::startable(&durable, &none).is_empty());
    durable.job.drop_tries();
    assert_eq!(crate::decide::startable(&durable, &none), ["a".into()]);
}

/// I29: the ledger row of an answered call may still be the row from before a job retry.
///
/// If the answer is a reused receipt, the evidence check accepts the old row, because staged commit may write the new
/// row late. If the call was executed, the check rejects the old row, because the barrier of the execution has replaced
/// the old row.
#[test]
fn lagging_row_is_distinguished_from_damaged_row() {
    for is_receipt in [true, false] {
        let mut sim = Sim::new(Mode::AutoExec, vec![send("ada")]);
        sim.script.insert("Opaque".into(), vec![Answer::NotApplied(Failure::new(Code::AuthForbidden, "401"))]);
        assert_eq!(sim.process(None).unwrap().job.state, JobState::Failed);
        if is_receipt {
            let (key, row) = done();
            sim.actions.insert(key, row);
        }
        sim.send_request(InboxRequest::Retry);
        let durable = sim.process_with_lookups().unwrap();
        assert_eq!((durable.job.state, sim.executions_by_slot.len()), (JobState::Completed, usize::from(!is_receipt)));
        let report = verify(&export(&sim));
        assert!(report.intact, "{report:#?}");
        let row = sim.record.ledger.iter_mut().find(|row| row.slot.as_str() == "a").expect("an earlier round left it");
        (row.state, row.result_hash) = (RowState::FailedDefinite, None);
        assert_eq!(verify(&export(&sim)).intact, is_receipt);
    }
}
