//! Arguments of `latch dev`.

use std::path::PathBuf;

use clap::Args;

use crate::args::parameters::ParameterArgs;

/// Arguments of `latch dev`.
#[derive(Args, Debug)]
pub struct DevArgs {
    /// The plan, or a whole request with intent and plan: a JSON file
    #[arg(value_name = "PLAN", default_value = "plan.json")]
    pub plan: PathBuf,
    /// Values of the plan's parameters.
    #[command(flatten)]
    pub parameters: ParameterArgs,
    /// Run one round instead of watching; exit code 1 if the round failed
    #[arg(long, conflicts_with = "live")]
    pub once: bool,
    /// After each successful round, ask whether to run the plan for real
    #[arg(long)]
    pub live: bool,
}
