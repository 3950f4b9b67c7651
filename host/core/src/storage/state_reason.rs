//! Reasons for the states of jobs, derived from the few events that record them. A store can list jobs with these
//! reasons and does not have to load the jobs.

use serde::{Deserialize, Serialize};

use crate::event::{Body, Consequence, ReopenPurpose};
use crate::model::error::Code;
use crate::model::ids::Slot;
use crate::model::job::JobState;

/// Reason for a job's state, and the time at which the job entered the state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StateReason {
    /// Reason why the job waits or did not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<Code>,
    /// Slot of the call for which the job waits, or of the step that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<Slot>,
    /// Actor that cancelled the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// True if an undo of the finished job was requested and its effects are being undone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
    /// Time at which the job entered the state, microseconds since 1970 UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_us: Option<i64>,
}

/// Returns search texts for the events that give the reason for `state`. The result is empty if no event gives the
/// reason.
///
/// An event matches if its canonical text contains one of the search texts. The store reads only the newest matching
/// events, at most as many as there are search texts.
///
/// `is_given_up` is true if a cancellation or an undo was requested.
pub fn reason_event_markers(state: JobState, is_given_up: bool) -> &'static [&'static str] {
    // Only a `confirmation_failed` event that ended the job contains this text.
    const ENDED: &str = r#""consequence":"ended""#;
    const FAILED: &str = r#""type":"step_failed""#;
    match state {
        // `is_given_up` stands for a cancellation of an open job or an undo of a finished job. The newest event that
        // ended or reopened the job distinguishes the two: see `is_undone`.
        JobState::Pending | JobState::Running if is_given_up => &[
            r#""type":"job_completed""#,
            r#""type":"job_partial""#,
            r#""type":"job_failed""#,
            r#""type":"job_reopened""#,
        ],
        JobState::Pending | JobState::Running => &[],
        JobState::Waiting => &[r#""type":"job_waiting""#],
        JobState::Parked => &[r#""type":"job_parked""#],
        JobState::Diverged => &[r#""type":"job_diverged""#],
        JobState::Completed => &[r#""type":"job_completed""#],
        JobState::Partial => &[r#""type":"job_partial""#, ENDED, FAILED],
        JobState::Failed => &[r#""type":"job_failed""#, ENDED, FAILED],
        JobState::Cancelled => &[r#""type":"job_cancelled""#, r#""type":"job_cancel_requested""#],
    }
}

#[derive(Deserialize)]
struct TimedBody {
    time_us: i64,
    #[serde(flatten)]
    body: Body,
}

/// Returns true if the request is an undo of a finished job, and false if it is a cancellation of an open job. Call
/// this function only if an undo or a cancellation was requested and the job is `PENDING` or `RUNNING`.
///
/// `texts` contains the earlier events that ended or reopened the job, newest first. Only the newest event is read. The
/// request is an undo if this event ended the job or reopened it for an undo.
fn is_undone<'t>(texts: impl Iterator<Item = &'t str>) -> bool {
    let mut bodies = texts.filter_map(|text| serde_json::from_str::<TimedBody>(text).ok()).map(|timed| timed.body);
    match bodies.next() {
        Some(Body::JobReopened { purpose, .. }) => purpose == ReopenPurpose::Undo,
        Some(Body::JobCompleted {} | Body::JobPartial {} | Body::JobFailed { .. }) => true,
        _ => false,
    }
}

/// Returns the reason for `state`. `events` contains canonical texts of the job's events, newest first. Unreadable
/// events are skipped, because loading the job reports them.
///
/// `is_given_up` is true if a cancellation or an undo was requested.
pub fn state_reason<'t>(state: JobState, is_given_up: bool, events: impl IntoIterator<Item = &'t str>) -> StateReason {
    let mut why = StateReason::default();
    let wanted = reason_event_markers(state, is_given_up);
    if matches!(state, JobState::Pending | JobState::Running) {
        let selected = events.into_iter().filter(|text| wanted.iter().any(|part| text.contains(part)));
        return StateReason { undone: is_undone(selected), ..why };
    }
    for text in events.into_iter().filter(|text| wanted.iter().any(|part| text.contains(part))) {
        let Ok(TimedBody { time_us, body }) = serde_json::from_str(text) else { continue };
        let (code, slot) = match body {
            Body::JobParked { reason, slot, .. } => (Some(reason), slot),
            Body::JobDiverged { report } => (Some(Code::Diverged), Some(Slot::of_step(&report.step()))),
            Body::JobFailed { code } => (code, None),
            Body::StepFailed { step_id, failure, .. } => (Some(failure.code), Some(Slot::of_step(&step_id))),
            Body::ConfirmationFailed { slot, consequence: Consequence::Ended, .. } => {
                (Some(Code::ConfirmationMismatch), Some(slot))
            }
            Body::JobCancelRequested { by } => {
                why.by.get_or_insert(by.actor);
                (None, None)
            }
            _ => (None, None),
        };
        why.since_us.get_or_insert(time_us);
        if why.reason_code.is_none() {
            (why.reason_code, why.slot) = (code, slot);
        } else if why.slot.is_none() && why.reason_code == code {
            why.slot = slot;
        }
    }
    why
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{DecidedBy, Event};
    use crate::model::error::Failure;
    use crate::model::ids::{Hash, StepId};
    use crate::model::result_type::ResultType;

    fn text(seq: u64, body: Body) -> String {
        String::from_utf8(Event::seal(seq, 1_000 + seq as i64, 1, body, Hash::default()).bytes).unwrap()
    }

    fn failed(step: &str, code: Code) -> Body {
        let failure = Failure::new(code, "no");
        Body::StepFailed { step_id: StepId::new(step), result_type: ResultType::PermanentFailure, failure }
    }

    #[test]
    fn newest_matching_event_gives_the_reason() {
        let parked = |slot: &str, reason| Body::JobParked { reason, slot: Some(Slot::new(slot)), cause: None };
        let old = text(3, parked("a", Code::RequiresSignal));
        let new = text(9, parked("b", Code::RequiresApproval));
        let found =
            state_reason(JobState::Parked, false, [new.as_str(), old.as_str(), "not an event \"type\":\"job_parked\""]);
        let expected = (Some(Code::RequiresApproval), Some(Slot::new("b")), Some(1_009));
        assert_eq!((found.reason_code, found.slot, found.since_us), expected);
    }

    #[test]
    fn ended_job_has_the_time_of_its_end_and_the_code_of_its_failure() {
        let events = [
            text(9, Body::JobPartial {}),
            text(8, failed("s2", Code::RateLimit)),
            text(5, failed("s1", Code::InvalidInput)),
        ];
        let found = state_reason(JobState::Partial, false, events.iter().map(String::as_str));
        let expected = (Some(Code::RateLimit), Some(Slot::new("s2")), Some(1_009));
        assert_eq!((found.reason_code, found.slot, found.since_us), expected);
        let own =
            [text(9, Body::JobFailed { code: Some(Code::AttemptsExhausted) }), text(8, failed("s2", Code::RateLimit))];
        let found = state_reason(JobState::Failed, false, own.iter().map(String::as_str));
        assert_eq!((found.reason_code, found.slot), (Some(Code::AttemptsExhausted), None));
    }

    #[test]
    fn end_request_means_undo_for_a_finished_job() {
        let by = DecidedBy::claimed("bob", None);
        let reopened = |purpose| Body::JobReopened { steps: Vec::new(), calls: Vec::new(), by: by.clone(), purpose };
        let (end, undo, retry) = (Body::JobCompleted {}, reopened(ReopenPurpose::Undo), reopened(ReopenPurpose::Retry));
        let cases: [(&[&Body], bool); 4] =
            [(&[], false), (&[&end], true), (&[&end, &undo], true), (&[&end, &retry], false)];
        for state in [JobState::Pending, JobState::Running] {
            for (bodies, undone) in cases {
                let texts: Vec<String> = bodies.iter().zip(3..).map(|(body, seq)| text(seq, (*body).clone())).collect();
                let found = state_reason(state, true, texts.iter().rev().map(String::as_str));
                assert_eq!(found, StateReason { undone, ..StateReason::default() }, "{texts:?}");
            }
        }
    }

    #[test]
    fn cancelled_job_names_the_requesting_actor() {
        let by = DecidedBy::claimed("bob", None);
        let events = [text(9, Body::JobCancelled {}), text(4, Body::JobCancelRequested { by })];
        let found = state_reason(JobState::Cancelled, false, events.iter().map(String::as_str));
        assert_eq!((found.by.as_deref(), found.since_us, found.reason_code), (Some("bob"), Some(1_009), None));
    }
}
