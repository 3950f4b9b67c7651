//! The live view: what happens to a job, line by line, as soon as it is durable.

use std::collections::BTreeMap;
use std::sync::Mutex;

use latchwork_core::event::{Body, Consequence, Event};
use latchwork_core::ids::{JobId, StepId};
use tokio::sync::mpsc;
use tracing::Level;

use super::output::{Printer, Tone};
use super::visible::visible;
use crate::worker::Observer;

/// One thing to show.
#[derive(Debug)]
pub(super) struct Line {
    tone: Tone,
    text: String,
}

/// Collects what is to be shown; [`show`] prints it.
pub(super) struct Live {
    lines: mpsc::UnboundedSender<Line>,
    started: Mutex<BTreeMap<StepId, i64>>,
}

impl Live {
    /// An observer, and what it sees.
    pub(super) fn new() -> (Live, mpsc::UnboundedReceiver<Line>) {
        let (lines, seen) = mpsc::unbounded_channel();
        (Live { lines, started: Mutex::default() }, seen)
    }

    fn tell(&self, tone: Tone, text: String) {
        // Nobody listens any more once the command is done.
        drop(self.lines.send(Line { tone, text }));
    }

    fn took(&self, step: &StepId, now_us: i64) -> String {
        let started = self.started.lock().expect("no holder panics").get(step).copied();
        started.map(|started| format!("  {} ms", (now_us - started) / 1000)).unwrap_or_default()
    }
}

/// Prints one line to stderr.
pub(super) fn show(printer: &Printer, line: &Line) {
    printer.progress(line.tone, &line.text);
}

impl Observer for Live {
    fn event(&self, job_id: &JobId, event: &Event) {
        match &event.body {
            Body::JobClaimed { .. } if event.attempt > 1 => {
                self.tell(Tone::Title, format!("job {job_id}, attempt {}", event.attempt));
            }
            Body::JobClaimed { .. } => self.tell(Tone::Title, format!("job {job_id}")),
            Body::StepStarted { step_id } => {
                self.started.lock().expect("no holder panics").insert(step_id.clone(), event.time_us);
                self.tell(Tone::Quiet, format!("  {step_id}  started"));
            }
            Body::ToolInvocationFinished { slot, ok: true, provenance, .. } => {
                let how = if provenance.is_executed() { "answered" } else { "answer recovered" };
                self.tell(Tone::Quiet, format!("  {slot}  {how}"));
            }
            Body::ToolInvocationFinished { slot, code, .. } => {
                let code = code.map(|code| code.as_str()).unwrap_or("failed");
                self.tell(Tone::Attention, format!("  {slot}  {code}"));
            }
            Body::StepRetryScheduled { slot, code, not_before_us, .. } => {
                let wait_ms = (not_before_us - event.time_us) / 1000;
                self.tell(Tone::Attention, format!("  {slot}  {code}: next try in {wait_ms} ms"));
            }
            Body::InvocationResolved { slot, verdict, by, .. } => {
                self.tell(Tone::Attention, format!("  {slot}  in doubt, resolved by {by}: {}", verdict.as_str()));
            }
            Body::StepSucceeded { step_id, .. } => {
                let took = self.took(step_id, event.time_us);
                self.tell(Tone::Good, format!("  {step_id}  succeeded{took}"));
            }
            Body::StepFailed { step_id, failure, .. } => {
                self.tell(Tone::Bad, format!("  {step_id}  failed: {failure}"));
            }
            Body::StepSkipped { step_id, reason, because, .. } => {
                let because = because.as_ref().map(|step| format!(" because of {step}")).unwrap_or_default();
                self.tell(Tone::Attention, format!("  {step_id}  skipped{because}: {reason}"));
            }
            Body::StepAborted { step_id, failure } => {
                self.tell(Tone::Attention, format!("  {step_id}  try stopped: {failure}"));
            }
            Body::StepBlocked { step_id, slot, reason, holder } => {
                let by = holder.as_ref().map(|holder| format!(", by {} at {}", holder.job_id, holder.slot));
                self.tell(Tone::Attention, format!("  {step_id}  waits at {slot}: {reason}{}", by.unwrap_or_default()));
            }
            Body::ActionReused { slot, job_id, from_slot, .. } => {
                self.tell(
                    Tone::Attention,
                    format!("  {slot}  done before by {job_id} at {from_slot}: its receipt is taken"),
                );
            }
            Body::ReuseDecided { step_id, reused: true, from, .. } => {
                self.tell(Tone::Quiet, format!("  {step_id}  reused from {} {}", from.job_id, from.step_id));
            }
            Body::JobReopened { steps, .. } => {
                let steps: Vec<_> = steps.iter().map(ToString::to_string).collect();
                self.tell(Tone::Title, format!("job {job_id} is tried again: {}", steps.join(", ")));
            }
            Body::CompensationStarted { slot, operator, .. } => {
                self.tell(Tone::Title, format!("  {slot}  is being undone, by {operator}"));
            }
            Body::CompensationFinished { slot } => self.tell(Tone::Good, format!("  {slot}  compensated")),
            Body::CompensationFailed { slot, code } => {
                self.tell(Tone::Bad, format!("  {slot}  could not be compensated: {code}"));
            }
            Body::CompensationReopened { slot, by } => {
                self.tell(Tone::Attention, format!("  {slot}  taken up again by {}", by.actor));
            }
            Body::CompensationLeft { slot, by } => {
                self.tell(Tone::Attention, format!("  {slot}  left as it is by {}", by.actor));
            }
            Body::JobCancelRequested { by } => {
                self.tell(Tone::Attention, format!("job {job_id}: {} asked to cancel", by.actor));
            }
            Body::GateRequested { slot, .. } => self.tell(Tone::Attention, format!("  {slot}  needs approval")),
            Body::GateApproved { slot, by, .. } => self.tell(Tone::Good, format!("  {slot}  approved by {}", by.actor)),
            Body::GateRejected { slot, by, .. } => self.tell(Tone::Bad, format!("  {slot}  rejected by {}", by.actor)),
            Body::GateExpired { slot, .. } => {
                self.tell(Tone::Bad, format!("  {slot}  nobody decided: the gate expired"))
            }
            Body::ConfirmationFailed { slot, resource, outcome, found, consequence } => {
                let tone = if *consequence == Consequence::Ended { Tone::Bad } else { Tone::Attention };
                let text = format!("  {slot}  not confirmed, {}: {resource}: {found}", outcome.as_str());
                self.tell(tone, visible(&text));
            }
            Body::ConfirmationAccepted { slot, by, .. } => {
                self.tell(Tone::Good, format!("  {slot}  confirmed by {}", by.actor));
            }
            Body::WaitStarted { step_id, correlation_key: Some(key), .. } => {
                self.tell(Tone::Attention, format!("  {step_id}  waits for the signal {key:?}"));
            }
            Body::WaitStarted { step_id, until_us, .. } => {
                let left_ms = until_us.map_or(0, |until_us| (until_us - event.time_us).max(0) / 1000);
                self.tell(Tone::Quiet, format!("  {step_id}  waits {left_ms} ms"));
            }
            Body::SignalKept { correlation_key, by, .. } => {
                self.tell(Tone::Quiet, format!("  early signal {correlation_key:?} of {by} kept"));
            }
            Body::WaitCompleted { step_id, by: Some(by), .. } => {
                self.tell(Tone::Good, format!("  {step_id}  signal of {by}"));
            }
            Body::WaitTimedOut { step_id } => self.tell(Tone::Attention, format!("  {step_id}  no signal in time")),
            Body::JobDiverged { report } => self.tell(Tone::Bad, format!("job {job_id} diverged: {report}")),
            _ => {}
        }
    }

    fn log(&self, _: &JobId, place: &str, level: Level, message: &str) {
        let tone = if level <= Level::WARN { Tone::Attention } else { Tone::Quiet };
        // Each line says who speaks: none can pass for one of the host's.
        for line in message.lines() {
            self.tell(tone, format!("  {place}  | {line}"));
        }
    }
}
