//! Arguments of `latch doctor`.

use clap::Args;

/// Arguments of `latch doctor`.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Recompute every stored hash: jobs, effects, payloads, components and compiled code
    #[arg(long)]
    pub deep: bool,
    /// Print the limits that no plugin can pass, and check nothing
    #[arg(long, conflicts_with_all = ["deep", "accept_restore"])]
    pub limits: bool,
    /// Accept a restored or cloned database as the one to use from now on
    #[arg(long)]
    pub accept_restore: bool,
}
