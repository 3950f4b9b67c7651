//! Each event as a line of the live view.

use latchwork_core::event::{Body, Consequence, Event, Purpose};
use latchwork_core::ids::{JobId, Operator, Slot, StepId};
use latchwork_core::response::{receipt_returned, result_reused};
use tracing::Level;

use super::view::Line;
use crate::cli::text::Tone;

/// A length of time.
pub(super) fn lasted(us: i64) -> String {
    let ms = us.max(0) / 1000;
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{seconds}.{} s", ms % 1000 / 100),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A slot with its operator.
pub(super) fn place(slot: &Slot, operator: Option<&str>) -> String {
    match operator.filter(|operator| !operator.is_empty()) {
        Some(operator) => format!("{slot}  {operator}"),
        None => slot.to_string(),
    }
}

fn one(tone: Tone, is_passing: bool, text: String) -> Line {
    let level = match tone {
        Tone::Bad => Level::ERROR,
        Tone::Attention => Level::WARN,
        Tone::Title | Tone::Good | Tone::Quiet => Level::INFO,
    };
    Line { text: tone.of(text), level, is_passing }
}

/// A call that has begun. The step's own line says it where the step is the call.
pub(super) fn called(slot: &Slot, operator: &Operator) -> Option<Line> {
    let is_own = slot.is_step() && !slot.is_compensation();
    (!is_own).then(|| one(Tone::Quiet, true, format!("  {}  called", place(slot, Some(operator.as_str())))))
}

/// The line of an event; none where people need none. `took` says how long it lasted.
pub(super) fn line(
    job_id: &JobId,
    event: &Event,
    operator: impl Fn(&Slot) -> Option<String>,
    took: &str,
) -> Option<Line> {
    let at = |slot: &Slot| place(slot, operator(slot).as_deref());
    let step = |step: &StepId| at(&Slot::of_step(step));
    let left = |until_us: i64| lasted(until_us - event.time_us);
    let (tone, text) = match &event.body {
        Body::JobClaimed { .. } if event.attempt > 1 => {
            (Tone::Title, format!("job {job_id}, attempt {}", event.attempt))
        }
        Body::JobClaimed { .. } => (Tone::Title, format!("job {job_id}")),
        Body::StepStarted { step_id } => {
            return Some(one(Tone::Quiet, true, format!("  {}  started", step(step_id))));
        }
        Body::ToolInvocationStarted { slot, operator, .. } => return called(slot, operator),
        Body::ToolInvocationFinished { slot, ok: true, provenance, .. } if provenance.is_executed() => {
            if slot.is_step() {
                return None;
            }
            return Some(one(Tone::Quiet, true, format!("  {}  answered{took}", at(slot))));
        }
        Body::ToolInvocationFinished { slot, ok: true, .. } => {
            (Tone::Quiet, format!("  {}  answer recovered", at(slot)))
        }
        Body::ToolInvocationFinished { slot, code, .. } => {
            let code = code.map(|code| code.as_str()).unwrap_or("failed");
            (Tone::Attention, format!("  {}  {code}{took}", at(slot)))
        }
        Body::StepRetryScheduled { slot, code, not_before_us, .. } => {
            (Tone::Attention, format!("  {}  {code}: next try in {}", at(slot), left(*not_before_us)))
        }
        Body::InvocationResolved { slot, verdict, by, .. } => {
            (Tone::Attention, format!("  {}  in doubt, resolved by {by}: {}", at(slot), verdict.as_str()))
        }
        Body::StepSucceeded { step_id, .. } => (Tone::Good, format!("  {}  succeeded{took}", step(step_id))),
        Body::StepFailed { step_id, failure, .. } => {
            (Tone::Bad, format!("  {}  failed{took}: {failure}", step(step_id)))
        }
        Body::StepSkipped { step_id, reason, because, .. } => {
            let because = because.as_ref().map(|step| format!(" because of {step}")).unwrap_or_default();
            (Tone::Attention, format!("  {}  skipped{because}: {reason}", step(step_id)))
        }
        Body::StepAborted { step_id, failure } => {
            (Tone::Attention, format!("  {}  try stopped: {failure}", step(step_id)))
        }
        Body::StepBlocked { slot, reason, holder, .. } => {
            let by = holder.as_ref().map(|holder| format!(", by {} at {}", holder.job_id, holder.slot));
            (Tone::Attention, format!("  {}  waits: {reason}{}", at(slot), by.unwrap_or_default()))
        }
        Body::ActionReused { slot, job_id, from_slot, .. } => {
            (Tone::Attention, format!("  {}  {}", at(slot), receipt_returned(job_id, from_slot)))
        }
        Body::ReuseDecided { step_id, reused: true, from, .. } => {
            (Tone::Quiet, format!("  {}  {}", step(step_id), result_reused(&from.job_id, &from.step_id)))
        }
        Body::JobReopened { by, purpose: Purpose::Undo, .. } => {
            (Tone::Title, format!("job {job_id} is undone, as {} asked", by.actor))
        }
        Body::JobReopened { steps, .. } => {
            let steps: Vec<_> = steps.iter().map(ToString::to_string).collect();
            (Tone::Title, format!("job {job_id} is tried again: {}", steps.join(", ")))
        }
        Body::CompensationStarted { slot, operator, .. } => {
            (Tone::Title, format!("  {slot}  is being undone, by {operator}"))
        }
        Body::CompensationFinished { slot } => (Tone::Good, format!("  {}  compensated{took}", at(slot))),
        Body::CompensationFailed { slot, code } => {
            (Tone::Bad, format!("  {}  could not be compensated: {code}", at(slot)))
        }
        Body::CompensationReopened { slot, by } => {
            (Tone::Attention, format!("  {slot}  taken up again by {}", by.actor))
        }
        Body::CompensationLeft { slot, by } => (Tone::Attention, format!("  {slot}  left as it is by {}", by.actor)),
        Body::JobCancelRequested { by } => (Tone::Attention, format!("job {job_id}: {} asked to cancel", by.actor)),
        Body::GateRequested { slot, operator, .. } => {
            (Tone::Attention, format!("  {}  needs approval", place(slot, Some(operator.as_str()))))
        }
        Body::GateApproved { slot, by, .. } => (Tone::Good, format!("  {}  approved by {}", at(slot), by.actor)),
        Body::GateRejected { slot, by, .. } => (Tone::Bad, format!("  {}  rejected by {}", at(slot), by.actor)),
        Body::GateExpired { slot, .. } => (Tone::Bad, format!("  {}  the gate expired without a decision", at(slot))),
        Body::ConfirmationFailed { slot, resource, outcome, found, consequence } => {
            let tone = if *consequence == Consequence::Ended { Tone::Bad } else { Tone::Attention };
            (tone, format!("  {}  not confirmed, {}: {resource}: {found}", at(slot), outcome.as_str()))
        }
        Body::ConfirmationAccepted { slot, by, .. } => {
            (Tone::Good, format!("  {}  confirmed by {}", at(slot), by.actor))
        }
        Body::WaitStarted { step_id, correlation_key: Some(key), .. } => {
            (Tone::Attention, format!("  {}  waits for the signal {key:?}", step(step_id)))
        }
        Body::WaitStarted { step_id, until_us, .. } => {
            let text = until_us.map(|until_us| format!(", {} left", left(until_us))).unwrap_or_default();
            return Some(one(Tone::Quiet, true, format!("  {}  waits{text}", step(step_id))));
        }
        Body::SignalKept { correlation_key, by, .. } => {
            (Tone::Quiet, format!("  early signal {correlation_key:?} of {by} kept"))
        }
        Body::WaitCompleted { step_id, by: Some(by), .. } => {
            (Tone::Good, format!("  {}  signal of {by}", step(step_id)))
        }
        Body::WaitTimedOut { step_id } => (Tone::Attention, format!("  {}  no signal in time", step(step_id))),
        Body::JobDiverged { report } => (Tone::Bad, format!("job {job_id} diverged: {report}")),
        _ => return None,
    };
    Some(one(tone, false, text))
}
