//! Selects the step whose state changes next, by dependencies, bindings, gates, dry runs and backoffs.

use std::collections::BTreeSet;

use crate::decide::call::action;
use crate::decide::call::action::KeyState;
use crate::decide::common::single_event;
use crate::decide::job::step_end::fail_permanently;
use crate::decide::job::{inputs, reuse, waits};
use crate::decide::people::gate_rules::is_gated;
use crate::decide::people::gates::{gate_hash, is_still_approved, request_gate};
use crate::decide::{Context, failed, is_dry};
use crate::encoding::canon;
use crate::event::Body;
use crate::model::error::{Code, Failure};
use crate::model::ids::{Slot, StepId};
use crate::model::manifest::PluginKind;
use crate::model::result_type::ResultType;
use crate::model::step::StepState;
use crate::plan;
use crate::plan::bindings;
use crate::rules::policy;
use crate::state::{Durable, Step, label};
use crate::storage::{Draft, Payload, Record};

/// Returns the draft that changes the state of the next step, or `None` if no step can change. Steps in
/// `running` are left out.
pub fn advance(durable: &Durable, context: &Context<'_>, running: &BTreeSet<StepId>) -> Option<Draft> {
    if durable.job.is_aborting() {
        return None;
    }
    let held = durable.job.steps_on_hold();
    durable
        .job
        .steps
        .iter()
        .zip(&durable.job.plan.steps)
        .filter(|(step, _)| !running.contains(&step.id) && !held.contains(&step.id))
        .find_map(|(step, planned)| next_step_draft(durable, context, step, planned))
}

/// Returns the steps that may start now, in plan order.
pub fn startable(durable: &Durable, running: &BTreeSet<StepId>) -> Vec<StepId> {
    let job = &durable.job;
    if job.is_aborting() {
        return Vec::new();
    }
    let held = job.steps_on_hold();
    job.steps
        .iter()
        .filter(|step| step.state == StepState::Ready && !running.contains(&step.id) && !held.contains(&step.id))
        .map(|step| step.id.clone())
        .collect()
}

fn next_step_draft(durable: &Durable, context: &Context<'_>, step: &Step, planned: &plan::PlanStep) -> Option<Draft> {
    match step.state {
        StepState::Pending => pending(durable, planned),
        StepState::Ready if planned.kind == plan::StepKind::Wait => Some(waits::begin_wait(durable, context, planned)),
        StepState::Ready => ready(durable, context, planned),
        StepState::FailedRetryable | StepState::Blocked => {
            let due = step.retry_at_us.or_else(|| backoff_of_blocked(durable, step))?;
            let body = Body::StepUnblocked { step_id: step.id.clone() };
            (due <= context.now_us).then(|| single_event(body))
        }
        _ => None,
    }
}

/// Returns the end of the backoff of a call inside a blocked step, in microseconds since 1970 UTC. Returns `None` if
/// the step does not wait for a backoff.
pub(crate) fn backoff_of_blocked(durable: &Durable, step: &Step) -> Option<i64> {
    let (slot, Code::RetryScheduled) = step.blocked.as_ref()? else {
        return None;
    };
    durable.job.calls.get(slot)?.retry_at_us
}

fn pending(durable: &Durable, planned: &plan::PlanStep) -> Option<Draft> {
    let job = &durable.job;
    let bound = bindings::references(&planned.payload);
    let bound = bound.iter().filter(|reference| !job.plan.reads_parameters(reference));
    let bound: Vec<StepId> = bound.map(|reference| reference.step().clone()).collect();
    // The step also needs the steps in `bound`, because its payload is bound to their outputs. `depends_on` may reach
    // these steps only through other steps.
    let through_others = bound.iter().filter(|id| !planned.depends_on.contains(id));
    let needed = || planned.depends_on.iter().chain(through_others.clone());
    for id in needed() {
        let dependency = job.step(id).expect("a checked plan names only its own steps");
        let fails = match dependency.state {
            StepState::FailedFinal | StepState::Cancelled => Some(failure_code(dependency)),
            // In a dry run, this step is skipped because of a skipped dependency only if this step's payload is bound
            // to the output of the dependency.
            StepState::Skipped if !is_dry(job.header.mode) => Some(failure_code(dependency)),
            StepState::Skipped if bound.contains(id) => Some(Code::DryRunUpstream),
            _ => None,
        };
        if let Some(reason) = fails {
            let because = Some(id.clone());
            let body = Body::StepSkipped { step_id: planned.step_id.clone(), reason, because, call: None };
            return Some(single_event(body));
        }
    }
    let over = |id: &StepId| job.step(id).is_some_and(|step| step.state.is_final());
    needed().all(over).then(|| resolved(durable, planned))
}

fn failure_code(step: &Step) -> Code {
    let failed = step.failure.as_ref().map(|failure| failure.code);
    failed.or(step.skipped.as_ref().map(|(code, _)| *code)).unwrap_or(Code::Cancelled)
}

fn resolved(durable: &Durable, planned: &plan::PlanStep) -> Draft {
    let id = &planned.step_id;
    let (bytes, failure) = match bindings::resolve(&planned.payload, &inputs::binding_lookup(durable)) {
        Ok(value) => {
            // A dry run reserves no action keys, so the key is not computed. The computation could fail, because the
            // inputs of the key may belong to skipped steps.
            let is_dry = is_dry(durable.job.header.mode);
            let key = (!is_dry).then(|| inputs::template_key(durable, planned, &value));
            (canon::value_to_canonical(&value), key.and_then(Result::err))
        }
        Err(failure) => (canon::value_to_canonical(&planned.payload), Some(failure)),
    };
    let input = durable.payload_ref(&label::input(id), &bytes);
    let mut events = vec![Body::StepReady { step_id: id.clone(), input }];
    events.extend(failure.map(|failure| failed(&failure, id, ResultType::PermanentFailure)));
    Draft { events, payloads: vec![Payload { label: label::input(id), bytes }], ..Draft::default() }
}

fn ready(durable: &Durable, context: &Context<'_>, planned: &plan::PlanStep) -> Option<Draft> {
    let job = &durable.job;
    let id = &planned.step_id;
    let Some(operator) = job.pinned(&planned.name) else {
        let failure =
            Failure::new(Code::MissingRequiredContext, format!("the job pinned no operator {}", planned.name));
        return Some(fail_permanently(id, &failure));
    };
    if operator.kind == PluginKind::Tool && operator.is_world_changing() && is_dry(job.header.mode) {
        let body = Body::StepSkipped { step_id: id.clone(), reason: Code::ModeForbids, because: None, call: None };
        return Some(single_event(body));
    }
    if let Some(failure) = policy::forbids(job.header.mode, planned, operator) {
        return Some(fail_permanently(id, &failure));
    }
    if let Some(draft) = reuse::reuse_earlier_result(durable, context, planned, operator) {
        return Some(draft);
    }
    let slot = Slot::of_step(id);
    // A call that is in flight or answered has already passed its gate.
    if job.calls.get(&slot).is_some_and(|call| !call.is_unstarted()) {
        return None;
    }
    if let Some(failure) = policy::refuse_withdrawn_mode(context.rules, job.header.mode, operator) {
        return Some(fail_permanently(id, &failure));
    }
    // If the current policy no longer accepts an approval, approval is requested again.
    let passed = match job.gates.get(&slot) {
        Some(gate) => is_still_approved(durable, context, gate),
        None => !is_gated(durable, context, planned, (&planned.name, operator), true),
    };
    if passed {
        return None;
    }
    match action::planned_key_state(durable, planned) {
        KeyState::InProgress(holder) => return Some(action::wait_for_key_holder(&slot, &planned.name, holder)),
        // Nothing will be executed, so there is nothing to approve.
        KeyState::Performed(..) | KeyState::OtherArgs(_) => return None,
        KeyState::Keyless | KeyState::NotLookedUp | KeyState::Free => {}
    }
    let args = durable.input(id).expect("a ready step has its input");
    let hash = gate_hash(operator, planned.name.as_str(), &slot, &args, job.header.mode);
    let input = job.step(id)?.input.expect("a ready step has its input");
    let (events, _) = request_gate(durable, context, &slot, hash, input, &planned.name);
    Some(Draft { events, kind: Record::Flush, ..Draft::default() })
}
