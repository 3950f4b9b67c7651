//! Tests of compensations that fail or are in doubt, and of the decisions of people about them.

use serde_json::json;

use super::compensation::{cancelled, no, started, states};
use crate::decide;
use crate::decide::VerdictRefusal;
use crate::decide::tests::support::compensation::{job, plan, run_to_gate, with};
use crate::decide::tests::support::evidence::assert_verifies;
use crate::decide::tests::support::{CrashPoint, good, step};
use crate::event::Body;
use crate::model::effect::Answer;
use crate::model::error::{Code, Failure};
use crate::model::ids::Slot;
use crate::model::job::JobState;
use crate::model::manifest::OnIndeterminate;
use crate::model::mode::Mode;
use crate::response::{CompensationState, response};
use crate::storage::{InboxRequest, ManualVerdict};

/// I46: a verdict on a lost compensation is refused until the settling time has passed. Otherwise the
/// compensation could be executed again while the effect of the first execution is still in transit.
#[test]
fn verdict_on_lost_compensation_waits_for_settling_time() {
    let gate = with(step("d", "Read", &["a"], json!({})), "gate", "human_confirm");
    let mut sim = job(Mode::AutoExec, "keep", vec![step("a", "Opaque", &[], json!({})), gate]);
    let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("a header") };
    let pinned = header.operators.get_mut("Opaque").expect("it is pinned");
    pinned.resolution.settling_ms = 60_000;
    pinned.on_indeterminate = OnIndeterminate::Fail;
    sim.begin_with(*header);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked, "at its gate");
    let unknown = Answer::Unknown { failure: Failure::new(Code::NetworkTimeout, "no answer in time"), kept: None };
    sim.script.insert("Opaque".into(), vec![unknown]);
    let durable = cancelled(&mut sim);
    let slot = Slot::new("a~c");
    assert_eq!(durable.job.failed_compensation(), Some(&slot), "{:?}", states(&durable));
    let at = |verdict: ManualVerdict, now_us| decide::verdict_request(&durable, &slot, verdict, now_us);
    let Err(VerdictRefusal::Settling { wait_ms }) = at(ManualVerdict::NotApplied, sim.now_us) else {
        panic!("decided")
    };
    assert!((50_000..=70_000).contains(&wait_ms), "{wait_ms}");
    assert!(at(ManualVerdict::Applied("1".into()), sim.now_us).is_err());
    assert!(at(ManualVerdict::Abort, sim.now_us).is_ok(), "that it is left as it is contradicts nothing");
    assert!(at(ManualVerdict::NotApplied, sim.now_us + i64::from(wait_ms) * 1000).is_ok());
}

/// A failed compensation parks the job. A person gives one of three verdicts, or continues or aborts the compensation
/// without a verdict.
#[test]
fn failed_compensation_parks_job_until_decision() {
    let parked = || {
        let mut sim = job(Mode::AutoExec, "keep", plan());
        run_to_gate(&mut sim);
        sim.script.insert("Queryable".into(), vec![no(Code::AuthForbidden)]);
        let durable = cancelled(&mut sim);
        assert_eq!(durable.job.state, JobState::Parked);
        let blocked = response(&durable).blocked_on.unwrap();
        assert_eq!((blocked.slot.as_str(), blocked.reason_code), ("c/1~c", Code::CompensationFailed));
        assert_eq!(response(&durable).next_actions.len(), 4, "{:?}", response(&durable).next_actions);
        assert_eq!(started(&sim), ["c/2~c", "c/1~c"], "what is before it waits");
        assert_eq!(
            sim.process(None).unwrap().job.state,
            JobState::Parked,
            "the job stays parked until a person decides"
        );
        sim
    };
    let failed = Slot::new("c/1~c");
    for verdict in [ManualVerdict::Applied("\"by hand\"".into()), ManualVerdict::NotApplied, ManualVerdict::Abort] {
        let mut sim = parked();
        sim.resolve(failed.clone(), verdict.clone());
        let durable = sim.process(None).unwrap();
        assert_eq!(durable.job.state, JobState::Cancelled, "{verdict:?}");
        let times = sim.executions_by_slot.get(&failed).copied().unwrap_or(0);
        let (state, again) = match verdict {
            ManualVerdict::Applied(_) => (CompensationState::Compensated, 0),
            ManualVerdict::NotApplied => (CompensationState::Compensated, 1),
            ManualVerdict::Abort => (CompensationState::Left, 0),
        };
        assert_eq!((states(&durable)[1].1, times), (state, again), "{verdict:?}");
        assert_eq!(
            (sim.executions_by_slot[&Slot::new("b~c")], sim.executions_by_slot[&Slot::new("a~c")]),
            (1, 1),
            "the others follow"
        );
    }
    // `--continue` leaves the effect in place.
    let mut sim = parked();
    sim.send_request(InboxRequest::Continue);
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, states(&durable)[1].1), (JobState::Cancelled, CompensationState::Left));
    // `--abort` ends the compensation of the job. The remaining effects stay in place.
    let mut sim = parked();
    sim.send_request(InboxRequest::Abort);
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, started(&sim).len()), (JobState::Cancelled, 2));
    let reported: Vec<_> = states(&durable).into_iter().map(|(_, state, _)| state).collect();
    assert_eq!(
        reported,
        [CompensationState::Compensated, CompensationState::Left, CompensationState::Left, CompensationState::Left]
    );
}

/// I37: a person can resolve a refused compensation that has no ledger row. The row is missing if a crash came between
/// the write of the events of the refusal and the write of the row.
#[test]
fn refused_compensation_without_row_can_be_resolved() {
    let slot = Slot::new("a~c");
    for (verdict, state, times) in [
        (ManualVerdict::Applied("\"by hand\"".into()), JobState::Cancelled, 0),
        (ManualVerdict::NotApplied, JobState::Parked, 1),
        (ManualVerdict::Abort, JobState::Cancelled, 0),
    ] {
        let mut steps = plan();
        steps.truncate(2);
        steps.push(step("d", "Opaque", &["a"], json!({})));
        let mut sim = job(Mode::HumanGated, "keep", steps);
        let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("a header") };
        header.standing_approvals = vec!["a".into()];
        sim.begin_with(*header);
        sim.process(None).unwrap();
        let gate_hash = cancelled(&mut sim).job.gates[&slot].hash;
        sim.send_request(InboxRequest::Reject { slot: slot.clone(), gate_hash });
        sim.process(None).unwrap();
        let row = sim.record.ledger.iter().find(|row| row.slot == slot).expect("a refusal has a row").clone();
        sim.record.ledger.retain(|row| row.slot != slot);

        sim.resolve(slot.clone(), verdict.clone());
        let durable = sim.process(None).unwrap();
        assert_eq!(durable.job.state, state, "{verdict:?}");
        let again = durable.rows.get(&slot).map(|row| row.world_changing);
        assert!(again.is_none_or(|world_changing| world_changing == row.world_changing), "{verdict:?}");
        if state == JobState::Parked {
            assert_eq!(response(&durable).blocked_on.unwrap().reason_code, Code::RequiresApproval);
            sim.send_request(InboxRequest::Approve { slot: slot.clone(), gate_hash });
            assert_eq!(sim.process(None).unwrap().job.state, JobState::Cancelled);
        }
        assert_eq!(sim.executions_by_slot.get(&slot).copied().unwrap_or(0), times, "{verdict:?}");
        assert_verifies(&sim);
    }
}

/// Contradicting verdicts on one call block the compensation of the job until a person decides.
#[test]
fn a_conflict_blocks_undoing() {
    let at_conflict = || {
        let mut sim = job(Mode::AutoExec, "keep", plan());
        let unknown = Answer::Unknown { failure: Failure::new(Code::NetworkTimeout, "?"), kept: None };
        sim.script.insert("Opaque".into(), vec![unknown]);
        sim.process(None).unwrap();
        sim.resolve(Slot::new("a"), ManualVerdict::Applied("\"done\"".into()));
        let durable = sim.process(None).unwrap();
        assert_eq!(response(&durable).blocked_on.unwrap().slot.as_str(), "d");
        sim.resolve(Slot::new("a"), ManualVerdict::NotApplied);
        let durable = cancelled(&mut sim);
        let blocked = response(&durable).blocked_on.unwrap();
        assert_eq!((blocked.slot.as_str(), blocked.reason_code), ("a", Code::ResolutionConflict));
        assert!(started(&sim).is_empty(), "nothing is undone while it is not clear what there is to undo");
        sim
    };
    let mut sim = at_conflict();
    sim.send_request(InboxRequest::Continue);
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, started(&sim).len()), (JobState::Cancelled, 4));
    let mut sim = at_conflict();
    sim.send_request(InboxRequest::Abort);
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, started(&sim).len()), (JobState::Cancelled, 0));
}

/// I3: before any effect is undone, a person resolves the call in doubt. The call is not executed again.
#[test]
fn a_keyed_call_in_doubt_is_settled_before_a_committed_one_is_undone() {
    for happened in [true, false] {
        let steps = vec![step("a", "Opaque", &[], json!({})), step("k", "Keyed", &["a"], json!({}))];
        let mut sim = job(Mode::AutoExec, "keep", steps);
        let crash = if happened { CrashPoint::AfterExecute(1) } else { CrashPoint::BeforeExecute(1) };
        assert!(sim.process(Some(crash)).is_err());
        let durable = cancelled(&mut sim);
        let blocked = response(&durable).blocked_on.unwrap();
        assert_eq!((blocked.slot.as_str(), blocked.reason_code), ("k", Code::IndeterminateEffect));
        assert!(started(&sim).is_empty() && sim.executions_by_slot.get(&Slot::new("k")).copied().unwrap_or(0) <= 1);
        let verdict = if happened { ManualVerdict::Applied("\"done\"".into()) } else { ManualVerdict::NotApplied };
        sim.resolve(Slot::new("k"), verdict);
        let durable = sim.process(None).unwrap();
        assert_eq!(durable.job.state, JobState::Cancelled);
        let expected: &[&str] = if happened { &["k~c", "a~c"] } else { &["a~c"] };
        assert_eq!(started(&sim), expected);
        assert!(sim.executions_by_slot.values().all(|n| *n == 1), "{:?}", sim.executions_by_slot);
    }
}

/// A compensation with a transient failure is retried. The backoff is recorded as an event, and the job
/// continues after the backoff without a person.
#[test]
fn compensations_are_retried_like_any_call() {
    let mut sim = job(Mode::AutoExec, "keep", plan());
    run_to_gate(&mut sim);
    sim.script.insert("Queryable".into(), vec![no(Code::RateLimit); 3]);
    assert_eq!(cancelled(&mut sim).job.state, JobState::Cancelled);
    assert_eq!(sim.durable().job.calls[&Slot::new("c/1~c")].tries, 4);
    assert_eq!(sim.executions_by_slot[&Slot::new("c/1~c")], 1);
}

/// I37: after two contradicting verdicts on one compensation, the compensation is not executed again and does
/// not count as done. The action key stays reserved.
#[test]
fn contradicted_compensation_waits_for_decision() {
    let unknown = Answer::Unknown { failure: Failure::new(Code::NetworkTimeout, "?"), kept: None };
    for (first, second) in [
        (ManualVerdict::NotApplied, ManualVerdict::Applied("\"done\"".into())),
        (ManualVerdict::Applied("\"done\"".into()), ManualVerdict::NotApplied),
    ] {
        let steps = vec![
            step("a", "Opaque", &[], json!({})),
            with(step("d", "Opaque", &["a"], json!({})), "gate", "human_confirm"),
        ];
        let mut sim = job(Mode::AutoExec, "keep", steps);
        sim.script.insert("Opaque".into(), vec![Answer::Ok(good()), unknown.clone()]);
        sim.process(None).unwrap();
        let durable = cancelled(&mut sim);
        assert_eq!(response(&durable).blocked_on.unwrap().reason_code, Code::IndeterminateEffect);
        let slot = Slot::new("a~c");
        for verdict in [first, second] {
            sim.resolve(slot.clone(), verdict);
        }
        let durable = sim.process(None).unwrap();
        let blocked = response(&durable).blocked_on.unwrap();
        assert_eq!((blocked.slot.as_str(), blocked.reason_code), ("a~c", Code::ResolutionConflict));
        assert_eq!(
            (durable.job.state, sim.executions_by_slot[&slot]),
            (JobState::Parked, 1),
            "nothing is undone twice"
        );
        assert!(durable.job.compensations[&slot].end.is_none(), "the compensation has no recorded end");
    }
}
