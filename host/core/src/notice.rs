//! What is posted to a webhook when a job waits for a person, or is over: no arguments, no results, no
//! secrets, and nothing that came from a plugin.

use serde::Serialize;

use crate::error::Code;
use crate::event::{Body, Event, Header};
use crate::ids::{JobId, Slot};
use crate::response::asked_why;
use crate::state::Job;
use crate::step::StepState;
use crate::storage::JobRow;

/// Version of the form.
pub const SCHEMA: &str = "latchwork.notice/1";

/// Which event a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A call needs approval.
    GateRequested,
    /// The job waits for a person.
    JobParked,
    /// The code no longer does what the log says.
    JobDiverged,
    /// Every step succeeded.
    JobCompleted,
    /// Some steps succeeded.
    JobPartial,
    /// No step succeeded.
    JobFailed,
    /// The job was cancelled.
    JobCancelled,
}

impl Kind {
    /// Each of them, in the order of the documentation.
    pub const ALL: [Kind; 7] = [
        Kind::GateRequested,
        Kind::JobParked,
        Kind::JobDiverged,
        Kind::JobCompleted,
        Kind::JobPartial,
        Kind::JobFailed,
        Kind::JobCancelled,
    ];

    /// The name of the event: `job_parked`.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::GateRequested => "gate_requested",
            Kind::JobParked => "job_parked",
            Kind::JobDiverged => "job_diverged",
            Kind::JobCompleted => "job_completed",
            Kind::JobPartial => "job_partial",
            Kind::JobFailed => "job_failed",
            Kind::JobCancelled => "job_cancelled",
        }
    }

    /// The kind of this name.
    pub fn parse(text: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// One thing to tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// [`SCHEMA`]
    pub schema: &'static str,
    /// The same whenever it is told: whoever hears it twice hears one thing.
    pub event_id: String,
    /// The event: `gate_requested`, `job_completed`.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// When it happened, microseconds since 1970 UTC.
    pub time_us: i64,
    /// The job.
    pub job_id: JobId,
    /// Whose house.
    pub tenant_id: String,
    /// What it waits for, or why it failed, where there is a code for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Code>,
    /// The call it waits for, or the step that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<Slot>,
    /// The gate to decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate_id: Option<String>,
    /// The command to type next.
    pub next_action: String,
}

/// What there is to tell of an event that parks a job which was not loaded.
pub fn unread(row: &JobRow, event: &Event) -> Option<Notice> {
    let Body::JobParked { reason, .. } = &event.body else { return None };
    let job_id = &row.job_id;
    Some(Notice {
        schema: SCHEMA,
        event_id: event_id(job_id, event),
        kind: Kind::JobParked,
        time_us: event.time_us,
        job_id: job_id.clone(),
        tenant_id: row.tenant_id.clone(),
        reason: Some(*reason),
        slot: None,
        gate_id: None,
        next_action: format!("latch job resolve {job_id} --continue"),
    })
}

/// What there is to tell of events that were just applied to the job.
pub fn notices(job: &Job, events: &[Event]) -> Vec<Notice> {
    events.iter().filter_map(|event| notice(job, event)).collect()
}

fn notice(job: &Job, event: &Event) -> Option<Notice> {
    let (kind, reason, slot) = match &event.body {
        // A gate that a standing approval decided at once waits for no one.
        Body::GateRequested { slot, .. } if job.undecided(slot).is_some() => {
            (Kind::GateRequested, Some(Code::RequiresApproval), Some(slot.clone()))
        }
        Body::JobParked { reason, slot, .. } => (Kind::JobParked, Some(*reason), slot.clone()),
        Body::JobDiverged { report } => (Kind::JobDiverged, Some(Code::Diverged), Some(Slot::of_step(&report.step()))),
        Body::JobCompleted {} => (Kind::JobCompleted, None, None),
        Body::JobPartial {} => ended(job, Kind::JobPartial, None),
        Body::JobFailed { code } => ended(job, Kind::JobFailed, *code),
        Body::JobCancelled {} => (Kind::JobCancelled, Some(Code::Cancelled), None),
        _ => return None,
    };
    let job_id = job.header.job_id.clone();
    let gate = slot.as_ref().filter(|_| reason == Some(Code::RequiresApproval));
    Some(Notice {
        schema: SCHEMA,
        event_id: event_id(&job_id, event),
        kind,
        time_us: event.time_us,
        tenant_id: job.header.tenant_id.clone(),
        reason,
        gate_id: gate.map(|slot| format!("gate-{slot}")),
        next_action: match kind {
            Kind::JobCompleted => format!("latch job output {job_id}"),
            Kind::GateRequested | Kind::JobParked => next_action(&job.header, reason, slot.as_ref()),
            _ => format!("latch job show {job_id}"),
        },
        slot,
        job_id,
    })
}

/// Why a job ended without completing: the code of its end, else that of the first step that failed.
fn ended(job: &Job, kind: Kind, code: Option<Code>) -> (Kind, Option<Code>, Option<Slot>) {
    let failed = job.steps.iter().find(|step| step.state == StepState::FailedFinal);
    let reason = code.or_else(|| Some(failed?.failure.as_ref()?.code));
    (kind, reason, failed.map(|step| Slot::of_step(&step.id)))
}

fn event_id(job_id: &JobId, event: &Event) -> String {
    format!("latch:{job_id}:n{}", event.seq)
}

fn next_action(header: &Header, reason: Option<Code>, slot: Option<&Slot>) -> String {
    let job_id = &header.job_id;
    match (reason, slot) {
        (Some(Code::RequiresApproval), Some(slot)) => format!("latch job approve {job_id} {slot}{}", asked_why(header)),
        (Some(Code::ConfirmationRequired), Some(slot)) => format!("latch job confirm {job_id} {slot} --reason TEXT"),
        (Some(Code::IndeterminateEffect), Some(slot)) => format!("latch job resolve {job_id} {slot}"),
        (Some(Code::AttemptsExhausted), _) => format!("latch job resolve {job_id} --continue"),
        _ => format!("latch job show {job_id}"),
    }
}
