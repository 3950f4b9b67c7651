//! Begins an attempt, and ends an attempt whose job did not settle.

use crate::decide::common::single_event;
use crate::event::Body;
use crate::model::error::Code;
use crate::model::ids::Hash;
use crate::state::Durable;
use crate::storage::{AttemptEnd, BatchKind, Draft};

/// Returns the draft with the event of a claim.
pub fn claimed(worker: &str, engine_profile: Hash) -> Draft {
    single_event(Body::JobClaimed { worker: worker.to_owned(), engine_profile })
}

/// Releases the job because its worker is stopping. The attempt does not count as an attempt without progress. `before`
/// contains the writes of the attempt that are not queued yet, such as its claim.
pub fn released(before: Draft, worker: &str) -> Draft<BatchKind> {
    let released = single_event(Body::JobReleased { worker: worker.to_owned() });
    before.merge(released).with_kind(BatchKind::EndAttempt(AttemptEnd::Pending))
}

/// Parks the job before its inbox is read, if more than `limit` consecutive attempts wrote nothing after their claim.
/// The requests stay in the inbox.
///
/// If exactly `limit` attempts wrote nothing, this function does not park the job. The current attempt then reads the
/// inbox and calls [`park_crash_loop`]. If the current attempt crashes too, `limit` is exceeded, and the next attempt
/// parks the job by this function.
pub fn park_crash_loop_before_inbox(durable: &Durable, limit: u32) -> Option<Draft<BatchKind>> {
    let before = durable.job.claims_without_events.saturating_sub(1);
    if before <= limit {
        return None;
    }
    let cause = format!(
        "{before} attempts in a row were cut off before anything but their claims was recorded; what was asked of the job \
         meanwhile has not been read"
    );
    Some(parked(cause, BatchKind::ParkUnloaded))
}

/// Parks the job if `limit` consecutive attempts ended without recorded progress. The execution of the job may be the
/// cause, so the job is not executed again until a request arrives.
pub fn park_crash_loop(durable: &Durable, limit: u32) -> Option<Draft<BatchKind>> {
    let job = &durable.job;
    if job.attempts_without_progress < limit {
        return None;
    }
    let steps: Vec<_> = job.steps_without_progress.iter().map(ToString::to_string).collect();
    let ran = match steps.is_empty() {
        true => "no step was".to_owned(),
        false if steps.len() == 1 => format!("{} was", steps[0]),
        false => format!("{} were", steps.join(", ")),
    };
    let cause = format!(
        "{} consecutive attempts ended without progress; {ran} in flight when the last one ended",
        job.attempts_without_progress
    );
    Some(parked(cause, BatchKind::EndAttempt(AttemptEnd::Parked)))
}

fn parked(cause: String, kind: BatchKind) -> Draft<BatchKind> {
    single_event(Body::JobParked { reason: Code::AttemptsExhausted, slot: None, cause: Some(cause) }).with_kind(kind)
}
