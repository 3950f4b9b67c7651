//! Types that several events share.

use serde::{Deserialize, Serialize};

use crate::model::ids::{Hash, JobId, Operator, Slot, StepId};
use crate::model::payload::PayloadRef;
use crate::model::person::{Assurance, Verification};

/// A call that the host refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCall {
    /// Operator that was called.
    pub operator: Operator,
    /// Arguments of the call.
    pub args: PayloadRef,
    /// Action key of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_key: Option<Hash>,
}

/// Call that holds the action key for which a step waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyHolder {
    /// The action key.
    pub action_key: Hash,
    /// Job that performs the action.
    pub job_id: JobId,
    /// Slot of the call in the job `job_id`.
    pub slot: Slot,
}

/// Origin of a result that may replace an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultOrigin {
    /// Job that made the result.
    pub job_id: JobId,
    /// Step that made the result.
    pub step_id: StepId,
    /// Time at which the result was made, microseconds since 1970 UTC.
    pub time_us: i64,
    /// Version of the plugin that made the result.
    pub version: String,
}

/// Actor that made a decision, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidedBy {
    /// The person or program that decided.
    pub actor: String,
    /// Reason for the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Proof that the person of this name decided. Without it, the name is claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verification>,
}

impl DecidedBy {
    /// Returns a decision under a claimed name.
    pub fn claimed(actor: impl Into<String>, reason: Option<String>) -> Self {
        Self { actor: actor.into(), reason, verified: None }
    }

    /// Returns the assurance of the actor's name.
    pub fn assurance(&self) -> Assurance {
        self.verified.as_ref().map_or(Assurance::Claimed, Verification::assurance)
    }
}

/// Purpose of reopening a finished job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReopenPurpose {
    /// The failed steps and calls are executed once more.
    #[default]
    Retry,
    /// The effects of the job are undone. Only compensations run.
    Undo,
}

impl ReopenPurpose {
    /// Returns true for a retry. A retry is the default, so events omit it.
    pub fn is_retry(&self) -> bool {
        *self == ReopenPurpose::Retry
    }
}

/// A verdict on a call in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The call took effect, and its result is recorded.
    Applied,
    /// The call certainly did not take effect. It may be executed again under the same external key.
    NotApplied,
    /// The outcome will never be known. The call's answer is `INVOCATION_LOST`.
    Lost,
    /// The call is in doubt, and no resolution step is left. A person must decide.
    Unknown,
    /// The call is executed again under its recorded external key.
    Repeat,
}

impl Verdict {
    /// Returns the verdict as text, such as `not applied`.
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

/// Period of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetPeriod {
    /// The whole life of a job.
    Job,
    /// A tenant's calendar month, UTC.
    Month,
}
