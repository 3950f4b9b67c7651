//! Mode of a job, as an argument.

use clap::ValueEnum;

use latchwork_core::model::mode::Mode;

/// Modes of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ModeArg {
    /// Change nothing; show the calls that would be made
    DryRun,
    /// Do not write or send anything outside
    DraftOnly,
    /// Ask for approval before anything is written or sent outside
    HumanGated,
    /// Ask for approval only where the plan or the policy requires it
    AutoExec,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Mode {
        match mode {
            ModeArg::DryRun => Mode::DryRun,
            ModeArg::DraftOnly => Mode::DraftOnly,
            ModeArg::HumanGated => Mode::HumanGated,
            ModeArg::AutoExec => Mode::AutoExec,
        }
    }
}
