//! The state machine of jobs (§7): one table, every other pair refused.

use serde::{Deserialize, Serialize};

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum JobState {
    /// Nobody works on it; it may be claimed.
    Pending,
    /// A worker holds it.
    Running,
    /// It waits for a time.
    Waiting,
    /// It waits for somebody.
    Parked,
    /// Its code no longer does what its log says.
    Diverged,
    /// Every step succeeded.
    Completed,
    /// Some steps succeeded.
    Partial,
    /// No step succeeded.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
}

/// What moves a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobInput {
    /// A worker claimed it.
    Claimed,
    /// Its worker's lease was lost, or given back.
    Released,
    /// It waits for a time.
    Wait,
    /// It waits for somebody.
    Park,
    /// Its code diverged.
    Diverge,
    /// A time has come, or the inbox has something for it.
    Wake,
    /// Every step succeeded (or a dry run skipped it).
    Complete,
    /// Some steps succeeded.
    EndPartial,
    /// No step succeeded.
    Fail,
    /// It is cancelled.
    Cancel,
}

/// A pair that the table does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("illegal transition of a job: {from:?} on {input:?}")]
pub struct IllegalJobTransition {
    /// Where it stood.
    pub from: JobState,
    /// What came.
    pub input: JobInput,
}

impl JobState {
    /// Every state.
    pub const ALL: [JobState; 9] = [
        JobState::Pending,
        JobState::Running,
        JobState::Waiting,
        JobState::Parked,
        JobState::Diverged,
        JobState::Completed,
        JobState::Partial,
        JobState::Failed,
        JobState::Cancelled,
    ];

    /// Whether it is over.
    pub fn is_terminal(self) -> bool {
        matches!(self, JobState::Completed | JobState::Partial | JobState::Failed | JobState::Cancelled)
    }

    /// The word that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            JobState::Pending => "PENDING",
            JobState::Running => "RUNNING",
            JobState::Waiting => "WAITING",
            JobState::Parked => "PARKED",
            JobState::Diverged => "DIVERGED",
            JobState::Completed => "COMPLETED",
            JobState::Partial => "PARTIAL",
            JobState::Failed => "FAILED",
            JobState::Cancelled => "CANCELLED",
        }
    }

    /// The state named `text`.
    pub fn parse(text: &str) -> Option<JobState> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// The table.
    pub fn next(self, input: JobInput) -> Result<JobState, IllegalJobTransition> {
        use JobInput as I;
        use JobState as S;
        Ok(match (self, input) {
            // A lost lease is noticed by the next claim, so RUNNING may be claimed too.
            (S::Pending | S::Running | S::Waiting, I::Claimed) => S::Running,
            (S::Running, I::Released) => S::Pending,
            (S::Running, I::Wait) => S::Waiting,
            (S::Running, I::Park) => S::Parked,
            (S::Running, I::Diverge) => S::Diverged,
            (S::Waiting | S::Parked | S::Diverged, I::Wake) => S::Pending,
            (S::Running, I::Complete) => S::Completed,
            (S::Running, I::EndPartial) => S::Partial,
            (S::Running, I::Fail) => S::Failed,
            (S::Pending | S::Running | S::Waiting | S::Parked | S::Diverged, I::Cancel) => S::Cancelled,
            (from, input) => return Err(IllegalJobTransition { from, input }),
        })
    }
}
