//! Notices that are posted to a webhook when a job waits for a person or ends. A notice contains no arguments, no
//! results, no secrets and no data from a plugin.

use serde::Serialize;

use crate::event::{Body, Event, Header};
use crate::model::error::Code;
use crate::model::ids::{JobId, Slot};
use crate::model::step::StepState;
use crate::response::{key_argument, reason_argument};
use crate::state::Job;
use crate::storage::JobRow;

/// Version of the notice format.
pub const SCHEMA: &str = "latchwork.notice/1";

/// Type of the event that a notice reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// A call needs approval.
    GateRequested,
    /// The job is parked and waits for a person.
    JobParked,
    /// The code of a step no longer does what the log records.
    JobDiverged,
    /// The job ended, and every step succeeded.
    JobCompleted,
    /// The job ended, and only some steps succeeded.
    JobPartial,
    /// The job ended, and no step succeeded.
    JobFailed,
    /// The job was cancelled.
    JobCancelled,
}

impl NoticeKind {
    /// All types, in the order of the documentation.
    pub const ALL: [NoticeKind; 7] = [
        NoticeKind::GateRequested,
        NoticeKind::JobParked,
        NoticeKind::JobDiverged,
        NoticeKind::JobCompleted,
        NoticeKind::JobPartial,
        NoticeKind::JobFailed,
        NoticeKind::JobCancelled,
    ];

    /// Returns the name of the type, such as `job_parked`.
    pub fn as_str(self) -> &'static str {
        match self {
            NoticeKind::GateRequested => "gate_requested",
            NoticeKind::JobParked => "job_parked",
            NoticeKind::JobDiverged => "job_diverged",
            NoticeKind::JobCompleted => "job_completed",
            NoticeKind::JobPartial => "job_partial",
            NoticeKind::JobFailed => "job_failed",
            NoticeKind::JobCancelled => "job_cancelled",
        }
    }

    /// Returns the type with the name `text`.
    pub fn parse(text: &str) -> Option<NoticeKind> {
        NoticeKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A notice about one event of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// Version of the notice format: [`SCHEMA`].
    pub schema: &'static str,
    /// Id of the notice, the same in every delivery. Receivers use it to ignore duplicates.
    pub event_id: String,
    /// Type of the event, such as `gate_requested` or `job_completed`.
    #[serde(rename = "type")]
    pub kind: NoticeKind,
    /// Time of the event, microseconds since 1970 UTC.
    pub time_us: i64,
    /// Id of the job.
    pub job_id: JobId,
    /// Tenant that owns the job.
    pub tenant_id: String,
    /// Reason code for waiting or failing, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Code>,
    /// Slot of the call for which the job waits, or of the step that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<Slot>,
    /// Id of the gate to decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate_id: Option<String>,
    /// Command to run next.
    pub next_action: String,
}

/// Creates the notice for a parked job that could not be loaded. Returns `None` if `event` does not park the job.
pub fn unloaded_notice(row: &JobRow, event: &Event) -> Option<Notice> {
    let Body::JobParked { reason, .. } = &event.body else { return None };
    let job_id = &row.job_id;
    Some(Notice {
        schema: SCHEMA,
        event_id: event_id(job_id, event),
        kind: NoticeKind::JobParked,
        time_us: event.time_us,
        job_id: job_id.clone(),
        tenant_id: row.tenant_id.clone(),
        reason: Some(*reason),
        slot: None,
        gate_id: None,
        next_action: format!("latch job resolve {job_id} --continue"),
    })
}

/// Creates the notices for events that were just applied to the job.
pub fn notices(job: &Job, events: &[Event]) -> Vec<Notice> {
    events.iter().filter_map(|event| notice(job, event)).collect()
}

fn notice(job: &Job, event: &Event) -> Option<Notice> {
    let (kind, reason, slot) = match &event.body {
        // A closed gate needs no notice. An approval given with the submission may have closed the gate already.
        Body::GateRequested { slot, .. } if job.open_gate(slot).is_some() => {
            (NoticeKind::GateRequested, Some(Code::RequiresApproval), Some(slot.clone()))
        }
        Body::JobParked { reason, slot, .. } => (NoticeKind::JobParked, Some(*reason), slot.clone()),
        Body::JobDiverged { report } => {
            (NoticeKind::JobDiverged, Some(Code::Diverged), Some(Slot::of_step(&report.step())))
        }
        Body::JobCompleted {} => (NoticeKind::JobCompleted, None, None),
        Body::JobPartial {} => end_reason(job, NoticeKind::JobPartial, None),
        Body::JobFailed { code } => end_reason(job, NoticeKind::JobFailed, *code),
        Body::JobCancelled {} => (NoticeKind::JobCancelled, Some(Code::Cancelled), None),
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
            NoticeKind::JobCompleted => format!("latch job output {job_id}"),
            NoticeKind::GateRequested | NoticeKind::JobParked => next_action(&job.header, reason, slot.as_ref()),
            _ => format!("latch job show {job_id}"),
        },
        slot,
        job_id,
    })
}

/// Returns three values: `kind` unchanged, the reason why the job did not complete, and the slot of the first failed
/// step. The reason is `code`. If `code` is `None`, the reason is the code of the first failed step.
fn end_reason(job: &Job, kind: NoticeKind, code: Option<Code>) -> (NoticeKind, Option<Code>, Option<Slot>) {
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
        (Some(Code::RequiresApproval), Some(slot)) => {
            format!("latch job approve {job_id} {slot}{}{}", key_argument(header), reason_argument(header))
        }
        (Some(Code::ConfirmationRequired), Some(slot)) => format!("latch job confirm {job_id} {slot} --reason TEXT"),
        (Some(Code::IndeterminateEffect), Some(slot)) => format!("latch job resolve {job_id} {slot}"),
        (Some(Code::AttemptsExhausted), _) => format!("latch job resolve {job_id} --continue"),
        _ => format!("latch job show {job_id}"),
    }
}
