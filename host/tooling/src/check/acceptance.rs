//! Reasons why a finding does not fail a check.

use serde::Serialize;

/// Reason why a finding does not fail a check.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Acceptance {
    /// The baseline has the finding.
    Baseline,
    /// The author of the plugin accepts the finding.
    Exception {
        /// The author's reason.
        reason: String,
    },
}
