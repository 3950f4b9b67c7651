//! Errors of the fold.

use crate::event::Event;
use crate::model::ids::StepId;
use crate::model::job::IllegalJobTransition;
use crate::model::step::IllegalStepTransition;

/// Reason why a log is not a valid log of a job.
#[derive(Debug, thiserror::Error)]
pub enum FoldError {
    /// The log does not begin with `intent_accepted` and `plan_created`.
    #[error("event {seq}: expected intent_accepted and plan_created at the start of the log, found {found}")]
    BadStart {
        /// Sequence number of the event.
        seq: u64,
        /// Name of the event found there, or `missing`.
        found: String,
    },
    /// The plan in the log cannot be read.
    #[error("event 1: the plan cannot be read: {0}")]
    Plan(String),
    /// A payload or effect named by an event is not stored.
    #[error("event {seq}: {label} is missing")]
    Missing {
        /// Sequence number of the event.
        seq: u64,
        /// Label of the payload or effect.
        label: String,
    },
    /// A payload or effect named by an event is stored with other bytes.
    #[error("event {seq}: stored {label} differs from the recorded hash")]
    Altered {
        /// Sequence number of the event.
        seq: u64,
        /// Label of the payload or effect.
        label: String,
    },
    /// Events are missing or out of order, or the chain is broken.
    #[error("event {found}: broken chain: expected event {expected} with the hash of its predecessor")]
    BrokenChain {
        /// Sequence number that the reader expected.
        expected: u64,
        /// Sequence number of the event found.
        found: u64,
    },
    /// The event is not allowed in the current state of the job.
    #[error("event {seq}: {source}")]
    Job {
        /// Sequence number of the event.
        seq: u64,
        /// The refused transition.
        source: IllegalJobTransition,
    },
    /// The event is not allowed in the current state of the step.
    #[error("event {seq}: step {step}: {source}")]
    Step {
        /// Sequence number of the event.
        seq: u64,
        /// The step.
        step: StepId,
        /// The refused transition.
        source: IllegalStepTransition,
    },
    /// The event names a step, call or gate that does not exist or is in the wrong state.
    #[error("event {seq}: {message}")]
    Invalid {
        /// Sequence number of the event.
        seq: u64,
        /// Description of the error.
        message: String,
    },
}

pub(super) fn invalid_event(event: &Event, message: impl Into<String>) -> FoldError {
    FoldError::Invalid { seq: event.seq, message: message.into() }
}
