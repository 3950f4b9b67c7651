//! Decisions at the start and at the end of a step's try.

use crate::decide::common::single_event;
use crate::decide::{blocked, failed, outcome_id};
use crate::event::Body;
use crate::model::divergence::Divergence;
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, Slot, StepId};
use crate::model::manifest::PluginKind;
use crate::model::result_type::ResultType;
use crate::state::{Durable, Job, label};
use crate::storage::{Draft, Payload};
use crate::{plan, replay};

/// Maximum number of aborted tries of one step. A limit of the machine aborts a try: a stack overflow, the wall clock,
/// or a lack of resources.
const ABORTS_MAX: u32 = 3;

/// Result of a try of a step.
#[derive(Clone, Debug)]
pub enum StepResult {
    /// The output of a step plugin. The output of a tool is the answer of its call.
    Output(Vec<u8>),
    /// The guest's own error, or the final error of the call if the step is a tool.
    Failed(Failure),
    /// The host stopped the guest because of fuel, memory, a trap or the output limit.
    Fault(Failure),
}

/// Records the first start of the step. Later starts record nothing.
pub fn step_started(durable: &Durable, step: &StepId) -> Draft {
    match durable.job.step(step) {
        Some(found) if found.started_us.is_none() => single_event(Body::StepStarted { step_id: step.clone() }),
        _ => Draft::default(),
    }
}

/// Fails a step that a validator refused before its start. The step is not executed.
pub fn step_refused(step: &StepId, failure: &Failure) -> Draft {
    fail_permanently(step, failure)
}

/// Fails a step that no retry can complete.
pub(crate) fn fail_permanently(step: &StepId, failure: &Failure) -> Draft {
    single_event(failed(failure, step, ResultType::PermanentFailure))
}

/// Returns the draft for a step whose try ended.
///
/// # Errors
/// Fails if the host calls of the try differ from the calls in the log.
pub fn step_ended(durable: &Durable, step: &StepId, calls: u32, result: StepResult) -> Result<Draft, Divergence> {
    let job = &durable.job;
    // A limit of the machine ends a try at any place, so the try may have made fewer calls than the log has.
    if let StepResult::Fault(failure) = &result
        && failure.code.is_of_machine()
    {
        return Ok(abort(durable, step, failure.clone()));
    }
    replay::check_complete(job, step, calls)?;
    Ok(match result {
        StepResult::Output(output) => succeeded(durable, step, output),
        StepResult::Fault(failure) | StepResult::Failed(failure) => fail(durable, step, failure),
    })
}

/// Aborts a try that a limit of the machine ended, so that the step is tried again. After the last repetition, a step
/// that was too slow or too deep fails. If the machine lacked a resource, the step waits until a person continues the
/// job. A lack of resources never decides the end of a step.
fn abort(durable: &Durable, step: &StepId, failure: Failure) -> Draft {
    let aborts = durable.job.step(step).map_or(0, |step| step.aborted_tries);
    if aborts < ABORTS_MAX {
        return single_event(Body::StepAborted { step_id: step.clone(), failure });
    }
    match failure.code {
        Code::MachineFault => single_event(blocked(step, &Slot::of_step(step), failure.code)),
        _ => fail(durable, step, failure),
    }
}

/// Returns the divergence of a step that ran out of fuel in an engine profile other than the profile of its job. Fuel
/// counts the code that the compiler made from the component. Running out of fuel is therefore a verdict about the step
/// only in the profile of the job.
pub fn divergence_of_profile(
    durable: &Durable,
    step: &StepId,
    result: &StepResult,
    engine_profile: Hash,
) -> Option<Divergence> {
    let recorded = durable.job.header.engine_profile;
    let is_out_of_fuel = matches!(result, StepResult::Fault(failure) if failure.code == Code::OutOfFuel);
    (is_out_of_fuel && recorded != engine_profile)
        .then(|| Divergence::new(step, "fuel", "engine profile", recorded, format!("{engine_profile}, out of fuel")))
}

fn fail(durable: &Durable, step: &StepId, failure: Failure) -> Draft {
    let result_type = durable.job.result_type(step, false);
    single_event(failed(&failure, step, result_type))
}

/// Returns the outcome event if the step produces an outcome.
pub(crate) fn outcome(job: &Job, planned: &plan::PlanStep) -> Option<Body> {
    // The name of a wait step is only a label, even if an operator has the same name.
    let pinned = job.pinned(&planned.name).filter(|_| planned.kind != plan::StepKind::Wait);
    let of_plan = planned.outcome.as_ref();
    let outcome_type = of_plan
        .map(|outcome| outcome.outcome_type.clone())
        .or_else(|| pinned.and_then(|operator| operator.outcome_type.clone()))?;
    let status = of_plan
        .and_then(|outcome| outcome.status.clone())
        .or_else(|| pinned.and_then(|operator| operator.outcome_status.clone()))
        .unwrap_or_else(|| "draft".to_owned());
    Some(Body::OutcomeRecorded {
        step_id: planned.step_id.clone(),
        outcome_id: outcome_id(&job.header.job_id, &planned.step_id),
        outcome_type,
        status,
        sensitivity: of_plan.and_then(|outcome| outcome.sensitivity.clone()),
    })
}

pub(crate) fn succeeded(durable: &Durable, step: &StepId, output: Vec<u8>) -> Draft {
    let job = &durable.job;
    let result_type: ResultType = job.result_type(step, true);
    let label = label::output(step);
    let reference = durable.payload_ref(&label, &output);
    let mut events = vec![
        Body::StepSucceeded { step_id: step.clone(), result_type },
        Body::StateCheckpointed { step_id: step.clone(), output: reference },
    ];
    let planned = job.plan.step(step).expect("a running step is in the plan");
    let pinned = job.pinned(&planned.name).filter(|_| planned.kind != plan::StepKind::Wait);
    events.extend(outcome(job, planned));
    let mut draft = Draft { events, ..Draft::default() };
    // The result in a tool's effect is the output of the step. Storing it again as a payload would duplicate the
    // bytes.
    if pinned.is_none_or(|operator| operator.kind == PluginKind::Step) {
        draft.payloads.push(Payload { label, bytes: output });
    }
    draft
}
