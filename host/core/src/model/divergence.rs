//! The first difference between a log and its replay.

use serde::{Deserialize, Serialize};

use crate::model::differences::{Difference, differences};
use crate::model::ids::StepId;

/// The first difference between a log and its replay, with the field that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divergence {
    /// The step, or the slot of a call inside the step, such as `s3/2`.
    pub at: String,
    /// Kind of the differing item, such as `call`, `output`, `event` or `missing call`.
    pub what: String,
    /// Differing field, such as `operator`, `payload` or `hash`.
    pub field: String,
    /// Value recorded in the log.
    pub recorded: String,
    /// Value found in the replay.
    pub found: String,
    /// Values that differ within the field, if both sides are JSON objects or arrays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Difference>,
}

impl Divergence {
    /// Creates a divergence at a location of the log.
    pub fn new(at: impl ToString, what: &str, field: &str, recorded: impl ToString, found: impl ToString) -> Self {
        Self {
            at: at.to_string(),
            what: what.to_owned(),
            field: field.to_owned(),
            recorded: recorded.to_string(),
            found: found.to_string(),
            values: Vec::new(),
        }
        .with_differences()
    }

    /// Returns the step in which the divergence occurred.
    pub fn step(&self) -> StepId {
        let end = self.at.find(['/', ':', '~']).unwrap_or(self.at.len());
        StepId::new(&self.at[..end])
    }

    fn with_differences(self) -> Self {
        let values = differences(&self.recorded, &self.found);
        Self { values, ..self }
    }
}

impl std::fmt::Display for Divergence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}: {} recorded {}, found {}", self.what, self.at, self.field, self.recorded, self.found)
    }
}
