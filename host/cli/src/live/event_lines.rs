//! Formats each event as a line of the live view.

use tracing::Level;

use latchwork_core::event::{Body, Event};
use latchwork_core::model::ids::{JobId, Operator, Slot};

use crate::display::event_text::{EventText, event_text};
use crate::live::line::LiveLine;
use crate::text::Tone;

/// Formats a slot with its operator.
pub(super) fn slot_label(slot: &Slot, operator: Option<&str>) -> String {
    match operator.filter(|operator| !operator.is_empty()) {
        Some(operator) => format!("{slot}  {operator}"),
        None => slot.to_string(),
    }
}

fn styled_line(tone: Tone, is_passing: bool, text: String) -> LiveLine {
    let level = match tone {
        Tone::Bad => Level::ERROR,
        Tone::Attention => Level::WARN,
        Tone::Title | Tone::Good | Tone::Quiet => Level::INFO,
    };
    LiveLine { text: tone.of(text), level, is_ephemeral: is_passing }
}

/// Returns the line of a started call. Returns `None` if the call is the step itself, because the line of the
/// step already shows the call.
pub(super) fn call_line(slot: &Slot, operator: &Operator) -> Option<LiveLine> {
    let is_own = slot.is_step() && !slot.is_compensation();
    (!is_own)
        .then(|| styled_line(Tone::Quiet, true, format!("  {}  called", slot_label(slot, Some(operator.as_str())))))
}

/// Returns the line of an event, or `None` if people do not need to see the event. `took` is the duration of
/// an ended action.
pub(super) fn event_line(
    job_id: &JobId,
    event: &Event,
    operator: impl Fn(&Slot) -> Option<String>,
    took: &str,
) -> Option<LiveLine> {
    let is_passing = match &event.body {
        Body::JobClaimed { .. } => {
            let attempt = if event.attempt > 1 { format!(", attempt {}", event.attempt) } else { String::new() };
            return Some(styled_line(Tone::Title, false, format!("job {job_id}{attempt}")));
        }
        Body::ToolInvocationStarted { slot, operator, .. } => return call_line(slot, operator),
        // A step that is itself a call gets no line here. The event that ends the step has its own line.
        Body::ToolInvocationFinished { slot, ok: true, provenance, .. } if provenance.is_executed() => {
            if slot.is_step() {
                return None;
            }
            true
        }
        Body::StepStarted { .. } | Body::WaitStarted { correlation_key: None, .. } => true,
        body if is_displayed(body) => false,
        _ => return None,
    };
    let EventText { tone, slot, text } = event_text(job_id, event, took);
    let text = match slot {
        Some(slot) => {
            let operator = match &event.body {
                Body::GateRequested { operator, .. } => Some(operator.to_string()),
                _ => operator(&slot),
            };
            format!("  {}  {text}", slot_label(&slot, operator.as_deref()))
        }
        None => format!("job {job_id}: {text}"),
    };
    Some(styled_line(tone, is_passing, text))
}

/// Returns true if the event is shown to people. The final events of a job are left out, because the command
/// prints its own answer.
fn is_displayed(body: &Body) -> bool {
    matches!(
        body,
        Body::ToolInvocationFinished { .. }
            | Body::StepRetryScheduled { .. }
            | Body::InvocationResolved { .. }
            | Body::ResolutionConflict { .. }
            | Body::BudgetExceeded { .. }
            | Body::StepSucceeded { .. }
            | Body::StepFailed { .. }
            | Body::StepSkipped { .. }
            | Body::StepAborted { .. }
            | Body::StepBlocked { .. }
            | Body::ActionReused { .. }
            | Body::ReuseDecided { reused: true, .. }
            | Body::JobReopened { .. }
            | Body::JobCancelRequested { .. }
            | Body::CompensationStarted { .. }
            | Body::CompensationFinished { .. }
            | Body::CompensationFailed { .. }
            | Body::CompensationReopened { .. }
            | Body::CompensationLeft { .. }
            | Body::GateRequested { .. }
            | Body::GateApproved { .. }
            | Body::GateRejected { .. }
            | Body::GateExpired { .. }
            | Body::ConfirmationFailed { .. }
            | Body::ConfirmationAccepted { .. }
            | Body::WaitStarted { .. }
            | Body::SignalKept { .. }
            | Body::WaitCompleted { by: Some(_), .. }
            | Body::WaitTimedOut { .. }
            | Body::JobDiverged { .. }
    )
}
