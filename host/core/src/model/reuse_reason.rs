//! Reason for reusing or not reusing an earlier result.

use serde::{Deserialize, Serialize};

/// Reason for reusing or not reusing an earlier result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReuseReason {
    /// Every rule of safe reuse holds.
    Safe,
    /// Every rule holds, and the result is not older than the plan allows.
    WithinTtl,
    /// The result changed the world, or the step could change it.
    WorldChanging,
    /// The outcome type of the step is not reusable, or differs from the outcome type of the result.
    OutcomeType,
    /// The result and the step have different sensitivities.
    Sensitivity,
    /// The policy's decision about the step differs from its decision when the result was made.
    Policy,
    /// The result was made from an input that differs from the input of the step.
    Input,
    /// The plugin version that made the result is outside the allowed range.
    PluginVersion,
    /// The result is older than the plan allows.
    TooOld,
    /// The result can become outdated, and the plan states no time to live.
    NoTtl,
    /// The result can become outdated and was not verified.
    Unverified,
    /// The result is a person's decision and not an answer from the outside world.
    Provenance,
    /// The step itself needs approval.
    Gated,
    /// The stored output is missing or differs from the record.
    Output,
}
