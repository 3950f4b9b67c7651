//! `latch worker`

use clap::Args;

/// `latch worker`
#[derive(Args, Debug)]
pub struct WorkerArgs {
    /// Jobs in hand at the same time; wins over `[worker] jobs`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub jobs: Option<u32>,
    /// End when nothing is in hand and nothing can be claimed
    #[arg(long)]
    pub until_idle: bool,
}
