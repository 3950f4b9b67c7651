//! Execution mode of a job.

use serde::{Deserialize, Serialize};

/// Execution mode of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Mode {
    /// The job only computes. It changes nothing outside the host.
    DryRun,
    /// External writes and sends are forbidden.
    DraftOnly,
    /// A person must approve external writes and sends.
    #[default]
    HumanGated,
    /// The mode requires approval for an external write or send if the actor is not trusted with the operator. Gates
    /// of the plan and of the policy also apply.
    AutoExec,
}

impl Mode {
    /// All modes.
    pub const ALL: [Mode; 4] = [Mode::DryRun, Mode::DraftOnly, Mode::HumanGated, Mode::AutoExec];

    /// Returns the name of the mode in requests and responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::DryRun => "DRY_RUN",
            Mode::DraftOnly => "DRAFT_ONLY",
            Mode::HumanGated => "HUMAN_GATED",
            Mode::AutoExec => "AUTO_EXEC",
        }
    }
}
