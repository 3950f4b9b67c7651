//! Views of the conditions for which a job waits, and of its compensations.

use super::{BlockedView, CallView, CompensatedBy, CompensationState, CompensationView, UnconfirmedView};
use crate::decide;
use crate::decide::{UndoState, wait_reason};
use crate::model::effect::{Answer, UnusableAnswer};
use crate::model::error::{Code, Failure};
use crate::model::ids::Slot;
use crate::model::keys;
use crate::model::person::Assurance;
use crate::model::step::StepState;
use crate::state::{Compensation, Durable, Gate, Step, UnconfirmedChange, label};

pub(super) fn unconfirmed(failed: &UnconfirmedChange) -> UnconfirmedView {
    UnconfirmedView {
        slot: failed.slot.clone(),
        resource: failed.resource.clone(),
        outcome: failed.outcome,
        found: failed.found.clone(),
        consequence: failed.consequence,
        settled_by: failed.resolved_by.as_ref().map(|by| by.actor.clone()),
        gone: failed.gone,
    }
}

/// Returns every condition for which a step waits. Calls with unconfirmed changes come first, and are returned even
/// if the step has ended.
pub(super) fn all_blocked(durable: &Durable, step: &Step) -> Vec<BlockedView> {
    let mut slots: Vec<&Slot> = durable.job.changes_to_accept().map(|failed| &failed.slot).collect();
    let is_open = !durable.job.state.is_terminal() && !durable.job.is_aborting();
    slots.retain(|slot| slot.step() == step.id && is_open);
    slots.dedup();
    let confirm = slots.into_iter().map(|slot| BlockedView {
        step_id: step.id.clone(),
        slot: slot.clone(),
        reason_code: Code::ConfirmationRequired,
        gate_id: None,
        gate_hash: None,
        until: None,
        holder: None,
        correlation_key: None,
        quorum: None,
        approved_by: vec![],
        signed_by: vec![],
        approvals: Assurance::Claimed,
        call: call_view(durable, slot, Code::ConfirmationRequired),
    });
    let own = waits(durable, step).into_iter().filter(|(_, code)| !is_open || *code != Code::ConfirmationRequired);
    confirm.chain(own.map(|(slot, code)| blocked(durable, step, slot, code))).collect()
}

pub(super) fn compensations(durable: &Durable) -> Vec<CompensationView> {
    let job = &durable.job;
    let view = |(slot, standing, compensation): (Slot, UndoState, Option<Compensation>)| {
        let by = compensation.map(|c| (c.operator, c.is_self_undo)).or_else(|| job.undo_operator(&slot));
        let by = by.filter(|_| standing != UndoState::Unknown).map(|(operator, own)| CompensatedBy {
            operator: operator.to_string(),
            slot: slot.compensation(),
            own,
        });
        let (state, reason_code) = match standing {
            UndoState::Waiting => (CompensationState::Waiting, None),
            UndoState::InFlight => (CompensationState::UnderWay, None),
            UndoState::Compensated => (CompensationState::Compensated, None),
            UndoState::Failed(code) => (CompensationState::Failed, Some(code)),
            UndoState::Left(code) => (CompensationState::Left, code),
            UndoState::Impossible => (CompensationState::Impossible, None),
            UndoState::Unknown => (CompensationState::Unknown, Some(Code::InvocationLost)),
        };
        let operator = job.calls.get(&slot).map(|call| call.operator.to_string()).unwrap_or_default();
        CompensationView { slot, operator, by, state, reason_code }
    };
    decide::undo_states(durable).into_iter().map(view).collect()
}

/// Returns the conditions for which an aborting job waits, as far as they concern this step. An aborting job does not
/// continue its steps. It waits only for calls in doubt and for compensating calls without a final state.
fn aborting_waits(durable: &Durable, step: &Step) -> Vec<(Slot, Code)> {
    let job = &durable.job;
    let of_step = |(slot, _): &(Slot, Code)| slot.step() == step.id;
    let undoing = decide::undo_wait_reasons(durable).into_iter().map(|(code, slot, _)| (slot, code));
    let undoing: Vec<_> = undoing.filter(of_step).collect();
    if !undoing.is_empty() {
        return undoing;
    }
    let in_doubt = step.blocked.clone().filter(|(_, code)| *code == Code::IndeterminateEffect);
    let parked = || job.parked.clone().and_then(|(code, slot)| Some((slot?, code)));
    in_doubt.or_else(|| parked().filter(of_step)).into_iter().collect()
}

fn waits(durable: &Durable, step: &Step) -> Vec<(Slot, Code)> {
    let job = &durable.job;
    let slot = Slot::of_step(&step.id);
    let own = match step.state {
        _ if job.is_aborting() && !job.state.is_terminal() => return aborting_waits(durable, step),
        StepState::WaitingApproval => Some((slot, Code::RequiresApproval)),
        StepState::FailedRetryable => Some((slot, Code::RetryScheduled)),
        StepState::WaitingSignal => Some((slot, wait_reason(durable, step))),
        StepState::Blocked => step.blocked.clone(),
        _ => None,
    };
    own.into_iter().collect()
}

fn blocked(durable: &Durable, step: &Step, slot: Slot, reason_code: Code) -> BlockedView {
    let job = &durable.job;
    let gate_id = (reason_code == Code::RequiresApproval).then(|| format!("gate-{slot}"));
    let wait = job.open_wait(&step.id);
    let gate = job.gates.get(&slot).filter(|_| gate_id.is_some());
    let until = match reason_code {
        Code::RetryScheduled => job.calls.get(&slot).and_then(|call| call.retry_at_us),
        Code::RequiresApproval => gate.and_then(|gate| gate.expires_us),
        _ => wait.and_then(|wait| wait.until_us),
    };
    let call = call_view(durable, &slot, reason_code);
    BlockedView {
        step_id: step.id.clone(),
        slot,
        call,
        reason_code,
        gate_id,
        gate_hash: gate.map(|gate| gate.hash),
        until,
        holder: step.key_holder.clone(),
        correlation_key: wait.and_then(|wait| wait.key.clone()),
        quorum: gate.map(|gate| gate.quorum).filter(|quorum| *quorum > 1),
        approved_by: gate.map(|gate| approvers(gate, Assurance::Claimed)).unwrap_or_default(),
        signed_by: gate.map(|gate| approvers(gate, Assurance::Signature)).unwrap_or_default(),
        approvals: gate.map(|gate| gate.required).unwrap_or_default(),
    }
}

/// Returns the actors whose approvals have at least this assurance.
fn approvers(gate: &Gate, least: Assurance) -> Vec<String> {
    let enough = gate.approvals.iter().filter(|approval| approval.by.assurance() >= least);
    enough.map(|approval| approval.by.actor.clone()).collect()
}

/// Returns the reason why the answer of the last try could not be used, if an answer arrived.
fn unusable_answer_failure(durable: &Durable, slot: &Slot) -> Option<Failure> {
    let try_no = durable.rows.get(slot)?.try_no;
    let bytes = durable.payloads.get(&label::unusable_answer(slot, try_no))?;
    Some(UnusableAnswer::parse(bytes)?.failure)
}

/// Returns the failure of the last try of a call.
fn last_failure(durable: &Durable, slot: &Slot) -> Option<Failure> {
    let try_no = durable.job.calls.get(slot)?.finished.as_ref()?.try_no;
    match &durable.effects.get(&(slot.clone(), try_no))?.answer {
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => Some(failure.clone()),
        Answer::Ok(_) => None,
    }
}

/// Returns the call for which a step waits, or `None` if the step waits for a signal or a time.
fn call_view(durable: &Durable, slot: &Slot, reason: Code) -> Option<CallView> {
    let job = &durable.job;
    if matches!(reason, Code::RequiresSignal | Code::WaitingTimer) {
        return None;
    }
    let started = job.calls.get(slot);
    let planned = || job.plan.step(&slot.step()).filter(|_| slot.is_step()).map(|step| &step.name);
    let gated = || job.gates.get(slot).map(|gate| &gate.operator);
    let operator = started.map(|call| &call.operator).or_else(gated).or_else(planned)?;
    let args = serde_json::from_slice(&durable.args(slot)?).ok()?;
    let first = started.map(|call| call.first_attempt).filter(|first| *first > 0);
    Some(CallView {
        operator: operator.to_string(),
        args,
        external_key: first.map(|first| keys::external_key(&job.header.job_id, slot, first)),
        failure: match reason {
            Code::IndeterminateEffect => unusable_answer_failure(durable, slot),
            Code::GrantRequired | Code::MachineFault => last_failure(durable, slot),
            _ => None,
        },
    })
}
