//! Type of a step's result.

use serde::{Deserialize, Serialize};

/// Effect of a finished step on the outside world, and the success or failure of the step (§7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultType {
    /// The step called no tool.
    Pure,
    /// The step called tools, but no world-changing tool.
    Success,
    /// The step changed the world.
    SideEffectCommitted,
    /// The step may be tried again.
    RetryableFailure,
    /// The step failed finally and did not change the world.
    PermanentFailure,
    /// The step failed after a committed effect.
    CompensatableFailure,
    /// The step's effects were undone.
    Compensated,
}
