//! `latch dev`

use std::path::PathBuf;

use clap::Args;

use super::ParameterArgs;

/// `latch dev`
#[derive(Args, Debug)]
pub struct DevArgs {
    /// The plan, or a whole request: a JSON file
    #[arg(value_name = "PLAN", default_value = "plan.json")]
    pub plan: PathBuf,
    /// Values of the plan's parameters.
    #[command(flatten)]
    pub parameters: ParameterArgs,
    /// One round instead of watching: exit 1 if it failed
    #[arg(long, conflicts_with = "live")]
    pub once: bool,
    /// After each round that succeeds, ask whether to run the plan for real
    #[arg(long)]
    pub live: bool,
}
