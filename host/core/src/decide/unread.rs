//! A job whose processes end while they load it: it parks unread, because nobody can say what is in its log
//! without loading it once more.

use crate::error::Code;
use crate::event::{Body, Event};
use crate::ids::Hash;
use crate::job::JobState;
use crate::storage::{Batch, Claim, InboxRow, LogEnd, Request, StatusWrite};

/// Attempts in a row before this one that ended before even their claims were in the log.
pub fn silent_attempts(attempt: u32, end: LogEnd) -> u32 {
    attempt.saturating_sub(end.attempt).saturating_sub(1)
}

/// Ends the attempt of a claimed job that is not loaded any more, and says why. `inbox` are its undone rows; they wait
/// with it.
pub fn unread(claim: &Claim, end: LogEnd, inbox: &[InboxRow], worker: &str, engine_profile: Hash) -> (Batch, String) {
    let row = &claim.row;
    let silent = silent_attempts(row.attempt, end);
    let cause = format!("{silent} attempts in a row ended before they had loaded the job");
    let mut bodies = Vec::new();
    // A job that was over is open again, though nobody knows what of it: it is asked about once more when it goes on.
    if let Some(asked) = inbox.iter().find(|row| matches!(row.request, Request::Retry)) {
        bodies.push(Body::JobReopened { by: asked.decider(), steps: Vec::new(), calls: Vec::new() });
    }
    bodies.push(Body::JobClaimed { worker: worker.to_owned(), engine_profile });
    bodies.push(Body::JobParked { reason: Code::AttemptsExhausted, slot: None, cause: Some(cause.clone()) });
    let mut batch = Batch::new(row.job_id.clone(), row.attempt, row.next_seq, row.head);
    let time_us = claim.now_us.max(end.time_us);
    let mut head = row.head;
    for (seq, body) in (row.next_seq..).zip(bodies) {
        let event = Event::seal(seq, time_us, row.attempt, body, head);
        head = event.hash;
        batch.events.push(event);
    }
    batch.status = Some(StatusWrite { to: JobState::Parked, wake_at_us: None });
    batch.unread = true;
    (batch, cause)
}
