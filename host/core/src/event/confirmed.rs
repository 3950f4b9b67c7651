//! Results of checking recorded changes when a job resumes.

use serde::{Deserialize, Serialize};

use crate::model::effect::StateChange;

/// A resource outside the host that was changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Resource {
    /// Type of the resource: `message`, `file`, `record`.
    pub resource_type: String,
    /// Id of the resource within its type.
    pub resource_id: String,
}

impl Resource {
    /// Returns the resource that was changed.
    pub fn of(change: &StateChange) -> Resource {
        Resource { resource_type: change.resource_type.clone(), resource_id: change.resource_id.clone() }
    }
}

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.resource_type, self.resource_id)
    }
}

/// Reason why a change is not confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnconfirmedReason {
    /// The resource differs from the record.
    Mismatch,
    /// The verifier gave no result.
    Unavailable,
}

impl UnconfirmedReason {
    /// Returns the reason as text for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            UnconfirmedReason::Mismatch => "mismatch",
            UnconfirmedReason::Unavailable => "unavailable",
        }
    }
}

/// Consequence of an unconfirmed change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consequence {
    /// The job ends and cannot be reopened.
    Ended,
    /// The mismatch is counted, and the job continues.
    Warned,
    /// Steps that depend on the change wait for a person's decision.
    Asked,
}
