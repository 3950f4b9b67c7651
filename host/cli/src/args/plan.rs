//! Arguments of `latch plan`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Arguments of `latch plan`.
#[derive(Args, Debug)]
pub struct PlanArgs {
    /// The command to run.
    #[command(subcommand)]
    pub command: PlanCommand,
}

/// Commands of `latch plan`.
#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Check a plan and list every violation with its JSON pointer
    Check(PlanCheckArgs),
    /// Print the JSON Schema of plans
    Schema,
}

/// Arguments of `latch plan check`.
#[derive(Args, Debug)]
pub struct PlanCheckArgs {
    /// The plan: a JSON file, or - for stdin
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Skip the checks that need the plugins: unknown operators and undeclared effects
    #[arg(long)]
    pub no_plugins: bool,
    /// Print the normalized plan and list the fields that the plan leaves to their defaults
    #[arg(long)]
    pub explain: bool,
}
