//! Views of the steps of a job.

use serde::Serialize;

use super::{FailedView, OutcomeView, StepView, WouldCallView, output_copied, receipt_returned, result_reused};
use crate::decide::wait_reason;
use crate::encoding::truncate;
use crate::model::effect::Provenance;
use crate::model::error::Code;
use crate::model::ids::{JobId, Slot};
use crate::model::mode::Mode;
use crate::model::step::StepState;
use crate::plan;
use crate::plan::bindings;
use crate::state::{Durable, RecordedAnswer, Step};

/// Maximum length of an outcome preview, in bytes.
const PREVIEW_BYTES_MAX: usize = 240;

pub(super) fn outcome(durable: &Durable, step: &Step) -> Option<OutcomeView> {
    let outcome = step.outcome.as_ref()?;
    let bytes = durable.output(&step.id).unwrap_or_default();
    Some(OutcomeView {
        outcome_type: outcome.outcome_type.clone(),
        outcome_id: outcome.id.clone(),
        status: outcome.status.clone(),
        step_id: step.id.clone(),
        preview: truncate::at_bytes(&String::from_utf8_lossy(&bytes), PREVIEW_BYTES_MAX).to_string(),
    })
}

pub(super) fn step_view(durable: &Durable, step: &Step) -> StepView {
    let job = &durable.job;
    let reason_code = step
        .failure
        .as_ref()
        .map(|failure| failure.code)
        .or(step.skipped.as_ref().map(|(code, _)| *code))
        .or(step.blocked.as_ref().map(|(_, code)| *code))
        .or((step.state == StepState::WaitingApproval).then_some(Code::RequiresApproval))
        .or((step.state == StepState::WaitingSignal).then(|| wait_reason(durable, step)))
        .or((step.state == StepState::FailedRetryable).then_some(Code::RetryScheduled));
    let notes = job
        .calls
        .iter()
        .filter(|(slot, _)| slot.step() == step.id)
        .filter_map(|(slot, call)| {
            let finished = call.finished.as_ref()?;
            note(slot, finished, call.receipt_of.as_ref())
        })
        .chain(
            step.reuse.iter().filter(|(reused, _)| *reused).map(|(_, from)| result_reused(&from.job_id, &from.step_id)),
        );
    let operator = job.plan.step(&step.id).map(|planned| planned.name.to_string()).unwrap_or_default();
    let notes = step
        .copied
        .iter()
        .map(|(maker, is_set)| match is_set {
            true => "output set with the fork".to_owned(),
            false => output_copied(&maker.job_id),
        })
        .chain(notes)
        .collect();
    StepView {
        step_id: step.id.clone(),
        operator,
        state: step.state,
        result_type: step.result_type,
        reason_code,
        nondeterministic: job.calls.iter().any(|(slot, call)| {
            slot.step() == step.id && call.finished.as_ref().is_some_and(|finished| finished.nondeterministic)
        }),
        would_call: would_call(durable, step),
        notes,
    }
}

/// Returns a note about an answer: its provenance, and the model that gave the answer. Returns `None` if this job
/// executed the call and no model answered.
fn note(slot: &Slot, finished: &RecordedAnswer, receipt_of: Option<&(JobId, Slot)>) -> Option<String> {
    let mut parts = Vec::new();
    match receipt_of {
        Some((job_id, from)) if finished.provenance == Provenance::Reused => {
            parts.push(receipt_returned(job_id, from));
        }
        _ if finished.provenance.is_executed() => {}
        _ => parts.push(serialized_name(&finished.provenance)),
    }
    if finished.nondeterministic {
        let usage = finished.usage.as_ref();
        let model = usage.and_then(|usage| usage.model.as_deref()).unwrap_or("a model");
        let trace = usage.and_then(|usage| usage.provider_trace_id.as_deref());
        let trace = trace.map(|id| format!(", its trace {id}")).unwrap_or_default();
        parts.push(format!("nondeterministic: answered by {model}{trace}"));
    }
    (!parts.is_empty()).then(|| format!("{slot}: {}", parts.join("; ")))
}

/// Returns the call that a dry run did not make in this step.
fn would_call(durable: &Durable, step: &Step) -> Option<WouldCallView> {
    let job = &durable.job;
    let (code, _) = step.skipped.as_ref().filter(|_| job.header.mode == Mode::DryRun)?;
    // A wait makes no call.
    let planned = job.plan.step(&step.id).filter(|planned| planned.kind != plan::StepKind::Wait)?;
    let json = |bytes: std::sync::Arc<[u8]>| serde_json::from_slice(&bytes).unwrap_or_default();
    let slot = Slot::of_step(&step.id);
    match (code, &step.would_call) {
        (Code::ModeForbids, Some(call)) => Some(WouldCallView {
            slot: call.slot.clone(),
            operator: call.operator.to_string(),
            args: json(durable.args(&call.slot)?),
            open: vec![],
        }),
        (Code::ModeForbids, None) => {
            let args = json(durable.input(&step.id)?);
            Some(WouldCallView { slot, operator: planned.name.to_string(), args, open: vec![] })
        }
        (Code::DryRunUpstream, _) => {
            let is_open = |place: &bindings::BindingLocation| {
                let step = place.binding.as_ref().ok().and_then(|binding| job.step(binding.step()));
                step.is_some_and(|step| step.state == StepState::Skipped)
            };
            let open = bindings::binding_locations(&planned.payload)
                .into_iter()
                .filter(is_open)
                .map(|place| place.at)
                .collect();
            Some(WouldCallView { slot, operator: planned.name.to_string(), args: planned.payload.clone(), open })
        }
        _ => None,
    }
}

fn serialized_name(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

pub(super) fn failed(step: &Step) -> Option<FailedView> {
    let failure = step.failure.as_ref()?;
    (step.state == StepState::FailedFinal).then(|| FailedView {
        step_id: step.id.clone(),
        reason_code: failure.code,
        message: failure.message.clone(),
    })
}
