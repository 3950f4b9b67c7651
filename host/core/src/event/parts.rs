//! What several events are made of.

use serde::{Deserialize, Serialize};

use super::PayloadRef;
use crate::ids::{Hash, JobId, Operator, Slot, StepId};

/// A call that the host refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// What was called.
    pub operator: Operator,
    /// With what.
    pub args: PayloadRef,
    /// Under which action key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_key: Option<Hash>,
}

/// Who holds the action key that a step waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The key.
    pub action_key: Hash,
    /// The job that performs the action.
    pub job_id: JobId,
    /// Its call.
    pub slot: Slot,
}

/// Where a result comes from that may stand in for an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The job that made it.
    pub job_id: JobId,
    /// The step that made it.
    pub step_id: StepId,
    /// When, microseconds since 1970 UTC.
    pub time_us: i64,
    /// The version of the plugin that made it.
    pub version: String,
}

/// Who decided, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decider {
    /// The person or program.
    pub actor: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a finished job is opened again for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Another round of what failed.
    #[default]
    Retry,
    /// Undoing of what the job did: only compensations run.
    Undo,
}

impl Purpose {
    /// Returns true for a retry, which events do not name.
    pub fn is_retry(&self) -> bool {
        *self == Purpose::Retry
    }
}

/// A verdict on a call in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It happened; the result is recorded as that of the call.
    Applied,
    /// It certainly did not: the call may be executed again under the same key.
    NotApplied,
    /// Nobody will find out: `INVOCATION_LOST` is its answer.
    Lost,
    /// It is in doubt, and the ladder has no further rung: a person decides.
    Unknown,
    /// It is executed again under its recorded external key.
    Repeat,
}

impl Verdict {
    /// The word for it: `not applied`.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Applied => "applied",
            Verdict::NotApplied => "not applied",
            Verdict::Lost => "lost",
            Verdict::Unknown => "unknown",
            Verdict::Repeat => "to be repeated",
        }
    }
}

/// What a budget is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// The whole life of a job.
    Job,
    /// A tenant's calendar month, UTC.
    Month,
}

/// World semantics of a finished step (§7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultType {
    /// Called no tool.
    Pure,
    /// Called tools, none of them world-changing.
    Success,
    /// The world changed.
    SideEffectCommitted,
    /// May be tried again.
    RetryableFailure,
    /// Failed for good, the world as it was.
    PermanentFailure,
    /// Failed after a committed effect.
    CompensatableFailure,
    /// Rolled back.
    Compensated,
}
