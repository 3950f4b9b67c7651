//! Reasons why a call got no final answer in a try.

use latchwork_core::model::divergence::Divergence;

use super::aborted::RunAborted;

/// Reason why an invocation got no final answer in this try.
#[derive(Debug)]
pub(crate) enum CallStopped {
    /// The step waits, and the wait is recorded.
    Blocked,
    /// The step will be retried, and the retry is recorded.
    RetryLater,
    /// The step plugin made a call that differs from the event log.
    Diverged(Divergence),
    /// The job is cancelled.
    Cancelled,
    /// The try was aborted together with the run.
    Aborted(RunAborted),
}

impl<E: Into<RunAborted>> From<E> for CallStopped {
    fn from(error: E) -> Self {
        CallStopped::Aborted(error.into())
    }
}
