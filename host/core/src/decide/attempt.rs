//! How an attempt begins, and how one ends that did not come to rest.

use crate::error::Code;
use crate::event::Body;
use crate::ids::Hash;
use crate::job::JobState;
use crate::state::{Draft, Durable};
use crate::storage::StatusWrite;

/// The claim's own event.
pub fn claimed(attempt: u32, worker: &str, engine_profile: Hash) -> Draft {
    let body = Body::JobClaimed { worker: worker.to_owned(), engine_profile };
    Draft { events: vec![body], attempt: Some(attempt), ..Draft::default() }
}

/// A worker that stops gives the job back, with whatever was brought forward. The attempt does not count
/// as one that got nowhere.
pub fn released(worker: &str) -> Draft {
    let events = vec![Body::JobReleased { worker: worker.to_owned() }];
    let status = Some(StatusWrite { to: JobState::Pending, wake_at_us: None });
    Draft { events, status, flush_now: true, ..Draft::default() }
}

/// The job parks before its inbox is read, where more attempts in a row than may be were cut off behind their claims:
/// the last of them was to read the inbox, and to park it. What was asked of it waits with it.
pub fn exhausted_unread(durable: &Durable, limit: u32) -> Option<Draft> {
    let before = durable.job.bare_claims.saturating_sub(1);
    if before <= limit {
        return None;
    }
    let cause = format!(
        "{before} attempts in a row were cut off before anything but their claims was recorded; what was asked of the job \
         meanwhile has not been read"
    );
    Some(Draft { unread: true, ..parked(cause) })
}

/// The job parks, where so many attempts in a row were cut off and brought nothing forward: its process
/// may die of it.
pub fn exhausted(durable: &Durable, limit: u32) -> Option<Draft> {
    let job = &durable.job;
    if job.barren_attempts < limit {
        return None;
    }
    let steps: Vec<_> = job.barren_in.iter().map(ToString::to_string).collect();
    let ran = match steps.is_empty() {
        true => "no step was".to_owned(),
        false if steps.len() == 1 => format!("{} was", steps[0]),
        false => format!("{} were", steps.join(", ")),
    };
    let cause = format!(
        "{} attempts in a row were cut off and brought nothing forward; {ran} under way when the last one ended",
        job.barren_attempts
    );
    Some(parked(cause))
}

fn parked(cause: String) -> Draft {
    let events = vec![Body::JobParked { reason: Code::AttemptsExhausted, slot: None, cause: Some(cause) }];
    let status = Some(StatusWrite { to: JobState::Parked, wake_at_us: None });
    Draft { events, status, flush_now: true, ..Draft::default() }
}
