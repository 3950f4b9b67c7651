//! What is told to somebody outside when a job waits for a person: no arguments, no results, no
//! secrets, and nothing that came from a plugin.

use serde::Serialize;

use crate::error::Code;
use crate::event::{Body, Event, Header};
use crate::ids::{JobId, Slot};
use crate::response::asked_why;
use crate::state::Job;
use crate::storage::JobRow;

/// Version of the form.
pub const SCHEMA: &str = "latchwork.notice/1";

/// The kind of those that tell of a parked job.
const PARKED: &str = "job_parked";

/// One thing to tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// [`SCHEMA`]
    pub schema: &'static str,
    /// The same whenever it is told: whoever hears it twice hears one thing.
    pub event_id: String,
    /// The event: `gate_requested`, `job_parked`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// When it happened, microseconds since 1970 UTC.
    pub time_us: i64,
    /// The job.
    pub job_id: JobId,
    /// Whose house.
    pub tenant_id: String,
    /// What it waits for.
    pub reason: Code,
    /// The call it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<Slot>,
    /// The gate to decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate_id: Option<String>,
    /// What to type to see what is asked, and to answer.
    pub next_action: String,
}

/// What there is to tell of an event that parks a job which was not loaded.
pub fn unread(row: &JobRow, event: &Event) -> Option<Notice> {
    let Body::JobParked { reason, .. } = &event.body else { return None };
    let job_id = &row.job_id;
    Some(Notice {
        schema: SCHEMA,
        event_id: event_id(job_id, event),
        kind: PARKED,
        time_us: event.time_us,
        job_id: job_id.clone(),
        tenant_id: row.tenant_id.clone(),
        reason: *reason,
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
        // One that a standing approval decided at once waits for nobody.
        Body::GateRequested { slot, .. } if job.undecided(slot).is_some() => {
            ("gate_requested", Code::RequiresApproval, Some(slot.clone()))
        }
        Body::JobParked { reason, slot, .. } => (PARKED, *reason, slot.clone()),
        _ => return None,
    };
    let job_id = job.header.job_id.clone();
    let gate = slot.as_ref().filter(|_| reason == Code::RequiresApproval);
    Some(Notice {
        schema: SCHEMA,
        event_id: event_id(&job_id, event),
        kind,
        time_us: event.time_us,
        tenant_id: job.header.tenant_id.clone(),
        reason,
        gate_id: gate.map(|slot| format!("gate-{slot}")),
        next_action: next_action(&job.header, reason, slot.as_ref()),
        slot,
        job_id,
    })
}

fn event_id(job_id: &JobId, event: &Event) -> String {
    format!("latch:{job_id}:n{}", event.seq)
}

fn next_action(header: &Header, reason: Code, slot: Option<&Slot>) -> String {
    let job_id = &header.job_id;
    match (reason, slot) {
        (Code::RequiresApproval, Some(slot)) => format!("latch job approve {job_id} {slot}{}", asked_why(header)),
        (Code::ConfirmationRequired, Some(slot)) => format!("latch job confirm {job_id} {slot} --reason TEXT"),
        (Code::IndeterminateEffect, Some(slot)) => format!("latch job resolve {job_id} {slot}"),
        (Code::AttemptsExhausted, _) => format!("latch job resolve {job_id} --continue"),
        _ => format!("latch job show {job_id}"),
    }
}
