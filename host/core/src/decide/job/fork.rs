//! Forks a job (§10). The new job starts at a chosen step of the original job. Earlier steps are copied with their
//! seed, times and answers. The other steps are executed again.

use std::collections::{BTreeMap, BTreeSet};

use crate::decide::outcome_id;
use crate::event::{Body, CopiedCall, CopiedStep, DecidedBy, OriginalExecution};
use crate::model::effect::{Answer, Effect};
use crate::model::ids::{Hash, JobId, Slot, StepId};
use crate::model::job::JobState;
use crate::model::keys;
use crate::model::manifest::PinnedOperator;
use crate::model::payload::PayloadRef;
use crate::model::result_type::ResultType;
use crate::model::step::StepState;
use crate::plan;
use crate::state::{Call, Durable, Step, label};
use crate::storage::Payload;

/// Parameters of a fork.
#[derive(Clone, Debug)]
pub struct ForkRequest {
    /// First step that is executed again.
    pub at: StepId,
    /// JSON outputs that replace the outputs of copied steps.
    pub set: BTreeMap<StepId, Vec<u8>>,
    /// Actor who requests the fork, and the reason.
    pub by: DecidedBy,
    /// ID of the new job.
    pub job_id: JobId,
    /// Secret from which the salts of the new job are derived. It differs from the secret of the original job. With
    /// an equal secret, the evidence file of one job would reveal the salts of the other job.
    pub secret: Hash,
}

/// Event and payloads that follow the plan at the start of a forked job.
#[derive(Clone, Debug)]
pub struct ForkStart {
    /// The event `job_forked`.
    pub body: Body,
    /// Inputs, outputs and answers of the copied steps.
    pub payloads: Vec<Payload>,
}

/// Reason why a job cannot be forked as requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForkRefusal {
    /// The original job is still open and may itself do the work that the fork would do.
    #[error(
        "job {job_id} is {} and continues by itself: let it finish with `latch resume {job_id}`, or cancel it",
        state.as_str()
    )]
    StillOpen {
        /// ID of the job.
        job_id: JobId,
        /// State of the job.
        state: JobState,
    },
    /// The plan has no such step.
    #[error("the plan of job {job_id} has no step {step}: see `latch job show {job_id}`")]
    NoStep {
        /// ID of the job.
        job_id: JobId,
        /// Step named in the request.
        step: StepId,
    },
    /// The request replaces the output of a step that is not copied.
    #[error("the output of {step} cannot be set: {why}")]
    NotCopied {
        /// The step.
        step: StepId,
        /// Reason why the step is not copied.
        why: &'static str,
    },
    /// The stores no longer hold bytes that the copied step needs.
    #[error("{what} of step {step} is not stored any more: fork at {step} or before it")]
    NotStored {
        /// The step.
        step: StepId,
        /// The missing bytes.
        what: &'static str,
    },
}

/// Checks that a job in this state does not continue by itself.
///
/// # Errors
/// Returns [`ForkRefusal::StillOpen`] if the job may continue by itself.
pub fn check_forkable(job_id: &JobId, state: JobState) -> Result<(), ForkRefusal> {
    match state {
        JobState::Pending | JobState::Running | JobState::Waiting => {
            Err(ForkRefusal::StillOpen { job_id: job_id.clone(), state })
        }
        _ => Ok(()),
    }
}

/// Returns the event and payloads with which a fork of `origin` begins.
///
/// # Errors
/// Returns the reason why the job cannot be forked as requested.
pub fn fork(origin: &Durable, request: &ForkRequest) -> Result<ForkStart, ForkRefusal> {
    let job = &origin.job;
    let job_id = &job.header.job_id;
    check_forkable(job_id, job.state)?;
    let known = |step: &StepId| match job.index(step) {
        Some(_) => Ok(()),
        None => Err(ForkRefusal::NoStep { job_id: job_id.clone(), step: step.clone() }),
    };
    known(&request.at)?;
    let behind_at = dependents_of(&job.plan.steps, [&request.at]);
    // Steps that depend on a replaced output are executed again.
    let behind_set = dependents_of(&job.plan.steps, request.set.keys());
    // A step is executed again if an effect of the step differs from the record, or if the undoing of the step's
    // effects has begun or is due. Each step that depends on such a step is executed again too.
    let is_touched = |id: &&StepId| job.has_started_undoing(id) || job.will_be_undone(id) || job.is_contradicted(id);
    let touched: Vec<&StepId> =
        job.steps.iter().map(|step| &step.id).filter(is_touched).filter(|id| !request.set.contains_key(*id)).collect();
    let behind_undone = dependents_of(&job.plan.steps, touched.iter().copied());
    for step in request.set.keys() {
        known(step)?;
        let why = match job.step(step).map(|step| step.state) {
            _ if *step == request.at => "the fork executes it again",
            _ if behind_at.contains(step) => "it comes after the step to fork at",
            _ if behind_set.contains(step) => "it depends on another step whose output is set",
            _ if behind_undone.contains(step) => {
                "it depends on another step that was or will be undone, or whose effect is not as it was recorded"
            }
            Some(StepState::Succeeded) => continue,
            _ => "it did not succeed",
        };
        return Err(ForkRefusal::NotCopied { step: step.clone(), why });
    }
    let is_copied = |step: &&Step| {
        let behind = [&behind_at, &behind_set, &behind_undone].iter().any(|behind| behind.contains(&step.id));
        let again = step.id == request.at || behind || touched.contains(&&step.id);
        step.state == StepState::Succeeded && !again
    };
    let mut payloads = ForkPayloads { secret: request.secret, by_label: BTreeMap::new() };
    let copied = job.steps.iter().filter(is_copied).map(|step| copy_step(origin, request, step, &mut payloads));
    let copied = copied.collect::<Result<Vec<CopiedStep>, _>>()?;
    let runs = |step: &&Step| !copied.iter().any(|copied| copied.step_id == step.id);
    let may_be_done = |step: &&Step| !job.state.is_terminal() || may_have_changed(origin, &step.id);
    let gated = job.steps.iter().filter(runs).filter(may_be_done).map(|step| step.id.clone()).collect();
    let body = Body::JobForked {
        origin: job_id.clone(),
        origin_seq: job.next_seq,
        origin_head: job.head,
        at: request.at.clone(),
        by: request.by.clone(),
        copied,
        gated,
    };
    for of_request in [label::CONTEXTS, label::PARAMETERS] {
        if let Some(kept) = origin.payloads.get(of_request) {
            payloads.add(of_request.to_owned(), kept.to_vec());
        }
    }
    let payloads = payloads.by_label.into_iter().map(|(label, bytes)| Payload { label, bytes }).collect();
    Ok(ForkStart { body, payloads })
}

/// Returns every step that depends on one of the given steps, directly or through other steps. Relies on the
/// topological order of plans.
fn dependents_of<'a>(steps: &[plan::PlanStep], of: impl IntoIterator<Item = &'a StepId>) -> BTreeSet<StepId> {
    let from: BTreeSet<&StepId> = of.into_iter().collect();
    let mut behind = BTreeSet::new();
    for step in steps {
        if step.depends_on.iter().any(|id| from.contains(id) || behind.contains(id)) {
            behind.insert(step.step_id.clone());
        }
    }
    behind
}

/// Returns true if this step changed the world, may have changed it, or may still change it. If `origin` is itself a
/// fork, executions of the step in the jobs before `origin` in the chain of forks also count.
fn may_have_changed(origin: &Durable, step: &StepId) -> bool {
    let job = &origin.job;
    let is_effect = |step: &Step| step.copied.is_some() && step.result_type == Some(ResultType::SideEffectCommitted);
    let is_copied_effect = job.step(step).is_some_and(is_effect)
        || job.copied_calls_of(step).into_iter().any(|call| copied_call_may_have_changed(origin, call));
    let may = |call: &Call| {
        let failed = call.finished.as_ref().is_some_and(|finished| !finished.ok);
        !call.committed || !failed || call.is_lost()
    };
    is_copied_effect
        || job.may_repeat_original(step)
        || job.calls.iter().any(|(slot, call)| {
            slot.step() == *step
                && job.pinned(&call.operator).is_some_and(PinnedOperator::is_world_changing)
                && may(call)
        })
}

/// Returns true if a copied call may have changed the world. Returns false if the operator only reads, or if the
/// copied answer states that nothing changed.
fn copied_call_may_have_changed(origin: &Durable, call: &CopiedCall) -> bool {
    let is_changing = origin.job.pinned(&call.operator).is_none_or(PinnedOperator::is_world_changing);
    let bytes = origin.payloads.get(&label::answer(&call.slot, 0));
    let effect = bytes.and_then(|bytes| serde_json::from_slice::<Effect>(bytes).ok());
    is_changing && !effect.is_some_and(|effect| matches!(effect.answer, Answer::NotApplied(_)))
}

struct ForkPayloads {
    secret: Hash,
    by_label: BTreeMap<String, Vec<u8>>,
}

impl ForkPayloads {
    fn add(&mut self, label: String, bytes: Vec<u8>) -> PayloadRef {
        let reference = keys::payload_ref(&self.secret, &label, &bytes);
        self.by_label.insert(label, bytes);
        reference
    }
}

fn copy_step(
    origin: &Durable,
    request: &ForkRequest,
    step: &Step,
    payloads: &mut ForkPayloads,
) -> Result<CopiedStep, ForkRefusal> {
    let id = &step.id;
    let job = &origin.job;
    let gone = |what| ForkRefusal::NotStored { step: id.clone(), what };
    let (set, earlier) = (request.set.get(id), step.copied.as_ref());
    let output = match set {
        Some(output) => output.clone(),
        None => origin.output(id).ok_or_else(|| gone("the output"))?.to_vec(),
    };
    let maker = match earlier {
        Some((maker, _)) => maker.clone(),
        None => Box::new(OriginalExecution {
            job_id: job.header.job_id.clone(),
            actor_id: job.header.actor_id.clone(),
            correlation_id: job.header.correlation_id.clone(),
            pinned: job.plan.step(id).and_then(|planned| job.pinned(&planned.name)).cloned(),
        }),
    };
    let input = origin.input(id).ok_or_else(|| gone("the input"))?;
    let input = payloads.add(label::input(id), input.to_vec());
    let output = payloads.add(label::output(id), output);
    let is_set = set.is_some() || earlier.is_some_and(|(_, is_set)| *is_set);
    let mut emits = Vec::new();
    for (n, emit) in (0..).zip(&step.emits) {
        let label = label::emitted(id, n);
        let bytes = origin.payloads.get(&label).ok_or_else(|| gone("an emitted event"))?;
        emits.push((emit.name.clone(), emit.after_calls, payloads.add(label, bytes.to_vec())));
    }
    let outcome = step.outcome.as_ref().map(|outcome| {
        let id = if set.is_some() { outcome_id(&request.job_id, id) } else { outcome.id.clone() };
        (id, outcome.outcome_type.clone(), outcome.status.clone(), outcome.sensitivity.clone())
    });
    Ok(CopiedStep {
        step_id: id.clone(),
        input,
        started_us: step.started_us,
        output,
        is_set,
        result_type: step.result_type.ok_or_else(|| gone("the result"))?,
        maker,
        calls: if is_set { Vec::new() } else { copy_calls(origin, id, payloads).ok_or_else(|| gone("an answer"))? },
        emits,
        outcome,
    })
}

/// Returns the step's calls with their answers. If the origin itself copied the step, returns the calls of the job that
/// executed the step. Returns `None` if the stores no longer hold an answer.
fn copy_calls(origin: &Durable, step: &StepId, payloads: &mut ForkPayloads) -> Option<Vec<CopiedCall>> {
    let mut calls = Vec::new();
    let mut keep = |slot: &Slot, answer: Vec<u8>| {
        let args = origin.payloads.get(&label::args(slot)).map(|args| payloads.add(label::args(slot), args.to_vec()));
        (args, payloads.add(label::answer(slot, 0), answer))
    };
    for earlier in origin.job.copied_calls_of(step) {
        let answer = origin.payloads.get(&label::answer(&earlier.slot, 0))?;
        let (args, answer) = keep(&earlier.slot, answer.to_vec());
        calls.push(CopiedCall { args, answer, ..earlier.clone() });
    }
    for (_, slot, call) in origin.job.calls_of(step) {
        let (args, answer) = keep(slot, origin.answer(slot)?.to_bytes());
        calls.push(CopiedCall {
            slot: slot.clone(),
            operator: call.operator.clone(),
            args,
            action_key: call.action_key,
            time_us: call.finished.as_ref()?.time_us,
            answer,
        });
    }
    Some(calls)
}
