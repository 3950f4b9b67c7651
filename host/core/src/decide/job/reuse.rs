//! Applies the rules of [`crate::rules::reuse`] to a job: reuses an earlier result for a step, or indexes a result for
//! later jobs.

use serde_json::Value;

use crate::decide::job::inputs;
use crate::decide::job::step_end::outcome;
use crate::decide::people::gate_rules::is_gated;
use crate::decide::{Context, is_dry};
use crate::event::{Body, ResultOrigin};
use crate::model::effect::Provenance;
use crate::model::ids::{Hash, Slot, StepId};
use crate::model::manifest::PinnedOperator;
use crate::model::result_type::ResultType;
use crate::model::reuse_reason::ReuseReason;
use crate::plan;
use crate::rules::reuse;
use crate::rules::reuse::{ReusableResult, ReuseQuery};
use crate::state::{Durable, Step, label};
use crate::storage::{Draft, Payload};

/// Returns the input hash of a step for which an earlier result must be looked up.
pub(crate) fn wanted_input_hash(
    durable: &Durable,
    step: &Step,
    planned: &plan::PlanStep,
    operator: &PinnedOperator,
) -> Option<Hash> {
    let is_fresh =
        step.started_us.is_none() && step.reuse.is_none() && !durable.prefetched.outcomes.contains_key(&step.id);
    if !is_fresh || !reuse::is_candidate(planned, operator) {
        return None;
    }
    input_hash(durable, planned)
}

pub(crate) fn input_hash(durable: &Durable, planned: &plan::PlanStep) -> Option<Hash> {
    let input = durable.input(&planned.step_id)?;
    let value: Value = serde_json::from_slice(&input).ok()?;
    let key = inputs::template_key(durable, planned, &value).ok()??;
    Some(reuse::input_hash(key, &input))
}

/// Returns the decision about an earlier result that was found. If the result is reused, the draft also ends the
/// step.
pub(crate) fn reuse_earlier_result(
    durable: &Durable,
    context: &Context<'_>,
    planned: &plan::PlanStep,
    operator: &PinnedOperator,
) -> Option<Draft> {
    let id = &planned.step_id;
    let job = &durable.job;
    let step = job.step(id)?;
    if step.started_us.is_some() || step.reuse.is_some() {
        return None;
    }
    let candidate = durable.prefetched.outcomes.get(id)?.as_ref()?;
    let found = &candidate.reusable;
    let mode = job.header.mode;
    let wanted = ReuseQuery {
        planned,
        operator,
        input_hash: input_hash(durable, planned)?,
        policy: reuse::policy_decision(context.rules, mode, planned, operator),
        is_gated: is_gated(durable, context, planned, (&planned.name, operator), true),
        now_us: context.now_us,
    };
    let output = candidate.output.as_ref().filter(|output| Hash::of(&[output]) == found.output_hash);
    let decision =
        reuse::decide(&wanted, found).and_then(|reason| output.map(|bytes| (reason, bytes)).ok_or(ReuseReason::Output));
    let from = ResultOrigin {
        job_id: found.job_id.clone(),
        step_id: found.step_id.clone(),
        time_us: found.time_us,
        version: found.version.clone(),
    };
    let decided = |reused, reason| Body::ReuseDecided { step_id: id.clone(), reused, reason, from };
    let (reason, output) = match decision {
        Err(reason) => return Some(Draft { events: vec![decided(false, reason)], ..Draft::default() }),
        Ok(decision) => decision,
    };
    let label = label::output(id);
    let reference = durable.payload_ref(&label, output);
    let mut events = vec![
        decided(true, reason),
        Body::StepSucceeded { step_id: id.clone(), result_type: found.result_type },
        Body::StateCheckpointed { step_id: id.clone(), output: reference },
    ];
    events.extend(outcome(job, planned));
    Some(Draft { events, payloads: vec![Payload { label, bytes: output.to_vec() }], ..Draft::default() })
}

/// Adds the reusable result to the draft that ends a step. A dry run indexes nothing.
pub fn index_result(durable: &Durable, step: &StepId, mut draft: Draft, context: &Context<'_>) -> Draft {
    draft.reusables.extend(reusable_result(durable, step, &draft, context));
    draft
}

fn reusable_result(durable: &Durable, id: &StepId, draft: &Draft, context: &Context<'_>) -> Option<ReusableResult> {
    let job = &durable.job;
    let planned = job.plan.step(id)?;
    let operator = job.pinned(&planned.name)?;
    if is_dry(job.header.mode) || !reuse::is_candidate(planned, operator) {
        return None;
    }
    let result_type = draft.events.iter().find_map(|event| match event {
        Body::StepSucceeded { result_type, .. } => Some(*result_type),
        _ => None,
    })?;
    if !matches!(result_type, ResultType::Pure | ResultType::Success) {
        return None;
    }
    let label = label::output(id);
    let of_step = draft.payloads.iter().find(|payload| payload.label == label);
    let of_tool = || match &durable.answer(&Slot::of_step(id))?.answer {
        crate::model::effect::Answer::Ok(output) => Some(output.result.clone().into_bytes()),
        _ => None,
    };
    let output = of_step.map(|payload| payload.bytes.clone()).or_else(of_tool)?;
    let is_decided =
        |call: &crate::state::Call| call.finished.as_ref().is_some_and(|f| f.provenance == Provenance::PersonDecision);
    let by_a_person = job.calls.iter().any(|(slot, call)| slot.step() == *id && is_decided(call));
    Some(ReusableResult {
        tenant_id: job.header.tenant_id.clone(),
        operator: planned.name.clone(),
        input_hash: input_hash(durable, planned)?,
        job_id: job.header.job_id.clone(),
        step_id: id.clone(),
        outcome_type: reuse::outcome_type(planned, operator).map(str::to_owned),
        sensitivity: planned.outcome.as_ref().and_then(|outcome| outcome.sensitivity.clone()),
        digest: operator.digest,
        version: operator.version.clone(),
        policy: reuse::policy_decision(context.rules, job.header.mode, planned, operator),
        result_type,
        is_verified: reuse::is_marked_verified(&output),
        provenance: if by_a_person { Provenance::PersonDecision } else { Provenance::Executed },
        output_hash: Hash::of(&[&output]),
        // Sealing the draft replaces this time with the time of the event.
        time_us: context.now_us,
    })
}
