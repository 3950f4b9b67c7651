//! Type of a step's result.

use serde::{Deserialize, Serialize};

/// Effect of a finished step on the outside world, and whether the step succeeded (§7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultType {
    /// The step called no tool.
    Pure,
    /// The step called tools, and none of them was world-changing.
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
