//! Replay: comparing what a step does now with what its log says it did.

use serde::{Deserialize, Serialize};

/// The first difference between a log and a replay of it, field by field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divergence {
    /// The step, or the slot inside it: `s3/2`.
    pub at: String,
    /// What kind of thing differs: `call`, `output`, `event`, `missing call`.
    pub what: String,
    /// The field that differs: `operator`, `args`, `hash`.
    pub field: String,
    /// What the log has.
    pub recorded: String,
    /// What the code did now.
    pub found: String,
}
