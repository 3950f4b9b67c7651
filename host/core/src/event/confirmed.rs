//! What became of looking at a recorded change when its job was resumed.

use serde::{Deserialize, Serialize};

use crate::effect::StateChange;

/// Which thing in the world a change is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Resource {
    /// `message`, `file`, `record`.
    pub resource_type: String,
    /// Which one.
    pub resource_id: String,
}

impl Resource {
    /// The thing that a change is about.
    pub fn of(change: &StateChange) -> Resource {
        Resource { resource_type: change.resource_type.clone(), resource_id: change.resource_id.clone() }
    }
}

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.resource_type, self.resource_id)
    }
}

/// Why a change is not confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unconfirmed {
    /// It is not as it was recorded.
    Mismatch,
    /// Its verifier could not tell.
    Unavailable,
}

impl Unconfirmed {
    /// The word of reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Unconfirmed::Mismatch => "mismatch",
            Unconfirmed::Unavailable => "unavailable",
        }
    }
}

/// What follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consequence {
    /// The job ends, and is not reopened.
    Ended,
    /// It is counted, and the job goes on.
    Warned,
    /// What builds on it waits for a person.
    Asked,
}
