//! Arguments of `latch worker`.

use clap::Args;

/// Arguments of `latch worker`.
#[derive(Args, Debug)]
pub struct WorkerArgs {
    /// Maximum number of jobs held at the same time; overrides `[worker] jobs`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub jobs: Option<u32>,
    /// Exit when no job is held and no job can be claimed
    #[arg(long)]
    pub until_idle: bool,
}
