//! Formats each event as one line of text for people.

use std::collections::BTreeMap;

use serde::Serialize;

use latchwork_core::event::{Body, Consequence, DecidedBy, Event, ReopenPurpose, Topic};
use latchwork_core::model::ids::{JobId, Operator, Slot, StepId};
use latchwork_core::model::keys;
use latchwork_core::response::{output_copied, receipt_returned, result_reused};

use crate::display::brief::{assurance_word, short_duration};
use crate::text::Tone;

/// An event as text. The text contains parts from plugins and people. The caller must escape the text before the text
/// is sent to a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventText {
    /// Style of the text.
    pub tone: Tone,
    /// Call or step of the event, or `None` if the event is about the whole job.
    pub slot: Option<Slot>,
    /// Text of the event.
    pub text: String,
}

fn job_text(tone: Tone, text: impl Into<String>) -> EventText {
    EventText { tone, slot: None, text: text.into() }
}

fn step_text(step: &StepId, tone: Tone, text: impl Into<String>) -> EventText {
    call_text(&Slot::of_step(step), tone, text)
}

fn call_text(slot: &Slot, tone: Tone, text: impl Into<String>) -> EventText {
    EventText { slot: Some(slot.clone()), ..job_text(tone, text) }
}

/// Operators of the steps and calls of a job, as named by its events.
#[derive(Debug, Default)]
pub(crate) struct Operators(BTreeMap<Slot, String>);

impl Operators {
    /// Records the operators that an event names. `plan_created` names the operators of all steps.
    pub(crate) fn record_event(&mut self, event: &Event) {
        let mut is = |slot: &Slot, operator: &Operator| drop(self.0.insert(slot.clone(), operator.to_string()));
        match &event.body {
            Body::PlanCreated { plan, .. } => {
                for step in plan["steps"].as_array().into_iter().flatten() {
                    if let (Some(id), Some(name)) = (step["step_id"].as_str(), step["name"].as_str()) {
                        is(&Slot::new(id), &Operator::new(name));
                    }
                }
            }
            Body::ToolInvocationStarted { slot, operator, .. }
            | Body::ActionReused { slot, operator, .. }
            | Body::GateRequested { slot, operator, .. } => is(slot, operator),
            Body::CompensationStarted { slot, operator, .. } => is(&slot.compensation(), operator),
            Body::ToolInvocationFinished { slot, refused: Some(refused), .. } => is(slot, &refused.operator),
            _ => {}
        }
    }

    /// Returns the operator of a slot.
    pub(crate) fn at(&self, slot: &Slot) -> Option<&str> {
        self.0.get(slot).map(String::as_str)
    }
}

/// Formats an event. `took` is the duration of an ended action, such as ` in 0.042 s`. `took` is empty if the duration
/// is unknown.
pub(crate) fn event_text(job_id: &JobId, event: &Event, took: &str) -> EventText {
    match event.body.topic() {
        Topic::Start | Topic::Job => job_event_text(event),
        Topic::Step => step_event_text(job_id, event, took),
        Topic::Call => call_event_text(event, took),
        Topic::Compensation => compensation_event_text(event, took),
        Topic::Confirmation => confirmation_event_text(event),
        Topic::Gate => gate_event_text(event),
        Topic::Wait => wait_event_text(event),
    }
}

/// Formats the time from an event until `time_us`.
///
/// The end time is computed shortly before the event gets its own time, so the difference is slightly too short. From
/// one minute on, the difference is rounded up to the next second. Otherwise one hour would appear as `59m`.
fn time_left(event: &Event, time_us: i64) -> String {
    match time_us - event.time_us {
        left_us @ ..60_000_000 => short_duration(left_us),
        left_us => short_duration(left_us + 999_999),
    }
}

fn job_event_text(event: &Event) -> EventText {
    use Tone::{Attention, Bad, Good, Quiet, Title};
    match &event.body {
        Body::IntentAccepted { header } => {
            job_text(Title, format!("accepted from {}, {}", header.actor_id, header.mode.as_str()))
        }
        Body::PlanCreated { plan, .. } => {
            let steps = plan["steps"].as_array().map_or(0, Vec::len);
            let id = plan["plan_id"].as_str().unwrap_or_default();
            job_text(Quiet, format!("plan {id}, {}", counted(steps, "step")))
        }
        Body::JobClaimed { worker, .. } => {
            job_text(Title, format!("attempt {} begins, worker {worker}", event.attempt))
        }
        Body::JobWaiting { until_us } => job_text(Attention, format!("waits {}", time_left(event, *until_us))),
        Body::JobParked { reason, slot, cause } => {
            let at = slot.as_ref().map(|slot| format!(" at {slot}")).unwrap_or_default();
            let cause = cause.as_ref().map(|cause| format!(", {cause}")).unwrap_or_default();
            job_text(Attention, format!("waits for a person{at}: {reason}{cause}"))
        }
        Body::JobUnparked { cause } => job_text(Quiet, format!("continues: {cause}")),
        Body::JobReleased { worker } => job_text(Quiet, format!("released by {worker}")),
        Body::JobDiverged { report } => job_text(Bad, format!("diverged: {report}")),
        Body::JobForked { origin, at, by, copied, .. } => {
            let steps = counted(copied.len(), "step");
            let copied = format!("{steps}: {}", output_copied(origin));
            job_text(Title, format!("forked at {at} by {}, {copied}", decider_with_reason(by)))
        }
        Body::JobReopened { by, purpose: ReopenPurpose::Undo, .. } => {
            job_text(Title, format!("reopened by {} to undo its effects", decider_with_reason(by)))
        }
        Body::JobReopened { steps, by, .. } => {
            let steps: Vec<_> = steps.iter().map(ToString::to_string).collect();
            let which = if steps.is_empty() { "it".to_owned() } else { steps.join(", ") };
            job_text(Title, format!("reopened by {} to retry {which}", decider_with_reason(by)))
        }
        Body::JobCancelRequested { by } => {
            job_text(Attention, format!("cancellation requested by {}", decider_with_reason(by)))
        }
        Body::JobCancelled {} => job_text(Bad, "cancelled"),
        Body::JobPartial {} => job_text(Attention, "ended: some steps succeeded"),
        Body::JobCompleted {} => job_text(Good, "completed"),
        Body::JobFailed { code } => {
            let code = code.map(|code| format!(": {code}")).unwrap_or_default();
            job_text(Bad, format!("failed{code}"))
        }
        _ => unreachable!("only events of the job itself come here"),
    }
}

fn step_event_text(job_id: &JobId, event: &Event, took: &str) -> EventText {
    use Tone::{Attention, Bad, Good, Quiet};
    match &event.body {
        Body::StepReady { step_id, .. } => step_text(step_id, Quiet, "ready"),
        Body::StepStarted { step_id } => step_text(step_id, Quiet, "started"),
        Body::StepSucceeded { step_id, .. } => step_text(step_id, Good, format!("succeeded{took}")),
        Body::StateCheckpointed { step_id, output } => {
            step_text(step_id, Quiet, format!("output recorded, {} bytes", output.len))
        }
        Body::StepFailed { step_id, failure, .. } => step_text(step_id, Bad, format!("failed{took}: {failure}")),
        Body::StepSkipped { step_id, reason, because, .. } => {
            let because = because.as_ref().map(|step| format!(" because of {step}")).unwrap_or_default();
            step_text(step_id, Attention, format!("skipped{because}: {reason}"))
        }
        Body::StepAborted { step_id, failure } => step_text(step_id, Attention, format!("try stopped: {failure}")),
        Body::StepCancelled { step_id } => step_text(step_id, Attention, "cancelled"),
        Body::StepBlocked { step_id, slot, reason, holder } => {
            let at = if slot.is_step() { String::new() } else { format!(" at {slot}") };
            let by = holder.as_ref().map(|holder| format!(", held by {} {}", holder.job_id, holder.slot));
            step_text(step_id, Attention, format!("waits{at}: {reason}{}", by.unwrap_or_default()))
        }
        Body::StepUnblocked { step_id } => step_text(step_id, Quiet, "continues"),
        Body::StepRetryScheduled { slot, code, not_before_us, .. } => {
            call_text(slot, Attention, format!("{code}: next try in {}", time_left(event, *not_before_us)))
        }
        Body::OutcomeRecorded { step_id, outcome_type, status, .. } => {
            step_text(step_id, Quiet, format!("outcome {outcome_type} ({status})"))
        }
        Body::ReuseDecided { step_id, reused: true, from, .. } => {
            step_text(step_id, Quiet, result_reused(&from.job_id, &from.step_id))
        }
        Body::ReuseDecided { step_id, reason, from, .. } => {
            let of = format!("{} {}", from.job_id, from.step_id);
            step_text(step_id, Quiet, format!("result of {of} not reused: {}", enum_words(reason)))
        }
        Body::AsyncEventEmitted { step_id, n, name, .. } => {
            let event_id = keys::event_id(job_id, step_id, *n);
            step_text(step_id, Quiet, format!("announced {name:?} as {event_id}"))
        }
        _ => unreachable!("only events of steps come here"),
    }
}

fn call_event_text(event: &Event, took: &str) -> EventText {
    use Tone::{Attention, Bad, Quiet};
    match &event.body {
        Body::ToolInvocationStarted { slot, try_no, .. } => {
            let again = if *try_no > 1 { format!(", try {try_no}") } else { String::new() };
            call_text(slot, Quiet, format!("called{again}"))
        }
        Body::ToolInvocationFinished { slot, ok: true, provenance, .. } => {
            let how = match provenance.is_executed() {
                true => format!("answered{took}"),
                false => format!("answered ({})", enum_words(provenance)),
            };
            call_text(slot, Quiet, how)
        }
        Body::ToolInvocationFinished { slot, code, .. } => call_text(
            slot,
            Attention,
            code.map_or_else(|| format!("failed{took}"), |code| format!("failed{took}: {code}")),
        ),
        Body::CommandCommitted { slot } => call_text(slot, Quiet, "answer is final"),
        Body::InvocationResolved { slot, verdict, by, reason, .. } => {
            call_text(slot, Attention, format!("in doubt, resolved by {by}: {}{}", verdict.as_str(), because(reason)))
        }
        Body::ResolutionConflict { slot, message, .. } => {
            call_text(slot, Bad, format!("evidence contradicts the decision: {message}"))
        }
        Body::BudgetExceeded { slot, period, .. } => {
            call_text(slot, Attention, format!("refused: the budget of the {} does not cover it", enum_words(period)))
        }
        Body::ActionReused { slot, job_id, from_slot, .. } => {
            call_text(slot, Attention, receipt_returned(job_id, from_slot))
        }
        _ => unreachable!("only events of calls come here"),
    }
}

fn compensation_event_text(event: &Event, took: &str) -> EventText {
    use Tone::{Attention, Bad, Good, Title};
    match &event.body {
        Body::CompensationStarted { slot, operator, .. } => {
            call_text(slot, Title, format!("being undone by {operator}"))
        }
        Body::CompensationFinished { slot } => call_text(slot, Good, format!("compensated{took}")),
        Body::CompensationFailed { slot, code } => call_text(slot, Bad, format!("could not be compensated: {code}")),
        Body::CompensationReopened { slot, by } => {
            call_text(slot, Attention, format!("compensation resumed by {}", decider_with_reason(by)))
        }
        Body::CompensationLeft { slot, by } => {
            call_text(slot, Attention, format!("left uncompensated by {}", decider_with_reason(by)))
        }
        _ => unreachable!("only events of compensations come here"),
    }
}

fn confirmation_event_text(event: &Event) -> EventText {
    use Tone::{Attention, Bad, Good, Quiet};
    match &event.body {
        Body::StateChanged { slot, change } => {
            let what = format!("{} {} {}", change.operation, change.resource_type, change.resource_id);
            call_text(slot, Quiet, format!("changed the world: {what}"))
        }
        Body::ConfirmationFailed { slot, resource, outcome, found, consequence } => {
            let tone = if *consequence == Consequence::Ended { Bad } else { Attention };
            call_text(slot, tone, format!("not confirmed, {}: {resource}: {found}", outcome.as_str()))
        }
        Body::ConfirmationAccepted { slot, by, gone, .. } => {
            let what = if *gone { "recorded as lost by" } else { "confirmed by" };
            call_text(slot, Good, format!("{what} {}", decider_with_reason(by)))
        }
        _ => unreachable!("only events of confirmations come here"),
    }
}

fn gate_event_text(event: &Event) -> EventText {
    use Tone::{Attention, Bad, Good};
    match &event.body {
        Body::GateRequested { slot, quorum, expires_us, approvals, .. } => {
            let signed = if approvals.is_claimed() { "" } else { ", signed" };
            let many = if *quorum > 1 { format!(" by {quorum} people{signed}") } else { signed.to_owned() };
            let expires =
                expires_us.map(|time_us| format!(", expires in {}", time_left(event, time_us))).unwrap_or_default();
            call_text(slot, Attention, format!("needs approval{many}{expires}"))
        }
        // A standing approval is given in advance with `--approve` and has no reason.
        Body::GateApproved { slot, by, standing: true, .. } => call_text(
            slot,
            Good,
            format!(
                "approved with the submission by {}",
                approver_with_reason(&DecidedBy { reason: None, ..by.clone() })
            ),
        ),
        Body::GateApproved { slot, by, .. } => {
            call_text(slot, Good, format!("approved by {}", approver_with_reason(by)))
        }
        Body::GateRejected { slot, by, .. } => {
            call_text(slot, Bad, format!("rejected by {}", approver_with_reason(by)))
        }
        Body::GateExpired { slot, .. } => call_text(slot, Bad, "the gate expired without a decision"),
        _ => unreachable!("only events of gates come here"),
    }
}

fn wait_event_text(event: &Event) -> EventText {
    use Tone::{Attention, Good, Quiet};
    match &event.body {
        Body::WaitStarted { step_id, correlation_key: Some(key), until_us, .. } => {
            let until = until_us.map(|time_us| format!(", at most {}", time_left(event, time_us))).unwrap_or_default();
            step_text(step_id, Attention, format!("waits for the signal {key:?}{until}"))
        }
        Body::WaitStarted { step_id, until_us, .. } => {
            let left_us = until_us.map_or(0, |until_us| until_us - event.time_us);
            step_text(step_id, Quiet, format!("waits {}", short_duration(left_us)))
        }
        Body::SignalKept { correlation_key, by, .. } => {
            job_text(Quiet, format!("early signal {correlation_key:?} from {by} stored"))
        }
        Body::WaitCompleted { step_id, by: Some(by), .. } => step_text(step_id, Good, format!("signal from {by}")),
        Body::WaitCompleted { step_id, .. } => step_text(step_id, Quiet, "the time is reached"),
        Body::WaitTimedOut { step_id } => step_text(step_id, Attention, "no signal in time"),
        Body::TimerFired { timer, .. } => job_text(Quiet, format!("timer {timer} fired")),
        _ => unreachable!("only events of waits come here"),
    }
}

/// Formats the actor of a decision about a gate, with the assurance of the name and the reason.
fn approver_with_reason(by: &DecidedBy) -> String {
    let reason = by.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{} ({}){reason}", by.actor, assurance_word(by))
}

/// Formats the actor of a decision, with the reason.
fn decider_with_reason(by: &DecidedBy) -> String {
    format!("{}{}", by.actor, because(&by.reason))
}

fn because(reason: &Option<String>) -> String {
    reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default()
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Returns the serialized name of an enum value, with blanks instead of underscores.
fn enum_words(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().replace('_', " ")
}
