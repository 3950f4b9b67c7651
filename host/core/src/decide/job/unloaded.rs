//! Jobs that are parked or released without being loaded. A job is parked if its workers died while loading it.
//! Parking uses only the job's row and the end of its log. A job is released if its effects are unavailable.

use crate::decide::Context;
use crate::decide::job::attempt::{claimed, released};
use crate::decide::job::reopen::{purpose, reopen_job};
use crate::event::{Body, Event};
use crate::model::error::Code;
use crate::model::ids::Hash;
use crate::state::{Durable, FoldError};
use crate::storage::{AttemptEnd, Batch, BatchKind, Claim, JobTail, LogEnd, StoredJob};

/// Returns the number of consecutive attempts before `attempt` that died before writing their claim event.
pub fn unrecorded_attempts(attempt: u32, end: LogEnd) -> u32 {
    attempt.saturating_sub(end.attempt).saturating_sub(1)
}

/// Parks a claimed job without loading it, and returns the cause. Of the inbox, handles only a request that reopens the
/// job: a retry or an undo. A retry reopens the job but no steps, because the failed steps are unknown without the log.
/// An undo reopens the job as usual.
pub fn park_unloaded(claim: &Claim, outline: &JobTail, worker: &str, engine_profile: Hash) -> (Batch, String) {
    let silent = unrecorded_attempts(claim.row.attempt, outline.end);
    let cause = format!("{silent} attempts in a row ended before anything of them was recorded");
    let mut bodies = Vec::new();
    if let Some(asked) = &outline.reopen {
        let purpose = purpose(asked);
        bodies.push(Body::JobReopened { by: asked.decider(), steps: Vec::new(), calls: Vec::new(), purpose });
    }
    bodies.push(Body::JobClaimed { worker: worker.to_owned(), engine_profile });
    bodies.push(Body::JobParked { reason: Code::AttemptsExhausted, slot: None, cause: Some(cause.clone()) });
    let mut batch = attempt_end_batch(claim, outline.end, bodies, BatchKind::ParkUnloaded);
    batch.writes.inbox_done = outline.reopen.iter().map(|row| row.id).collect();
    (batch, cause)
}

/// Releases a claimed job whose effects are unavailable. The attempt does not count as an attempt without
/// progress. If a retry or an undo of the finished job was requested, the job is reopened first. Reopening
/// requires the job's events, but not its effects.
///
/// # Errors
/// Fails if the recorded events are not a valid log.
pub fn release_unloaded(
    claim: &Claim,
    outline: &JobTail,
    record: StoredJob,
    (worker, engine_profile): (&str, Hash),
    context: &Context<'_>,
) -> Result<Batch, FoldError> {
    if let Some(asked) = &outline.reopen {
        let mut durable = Durable::without_effects(record)?;
        let again = reopen_job(&durable, asked, context).merge(claimed(worker, engine_profile));
        return durable.seal(claim.row.attempt, released(again, worker), context.now_us);
    }
    let worker = worker.to_owned();
    let bodies = vec![Body::JobClaimed { worker: worker.clone(), engine_profile }, Body::JobReleased { worker }];
    Ok(attempt_end_batch(claim, outline.end, bodies, BatchKind::EndAttempt(AttemptEnd::Pending)))
}

/// Returns the batch that appends the last events of an attempt.
fn attempt_end_batch(claim: &Claim, end: LogEnd, bodies: Vec<Body>, kind: BatchKind) -> Batch {
    let row = &claim.row;
    let mut batch = Batch::new(row.job_id.clone(), row.attempt, row.next_seq, row.head);
    let time_us = claim.now_us.max(end.time_us);
    let mut head = row.head;
    for (seq, body) in (row.next_seq..).zip(bodies) {
        let event = Event::seal(seq, time_us, row.attempt, body, head);
        head = event.hash;
        batch.writes.events.push(event);
    }
    batch.writes.kind = kind;
    batch
}
