//! `latch plugin`: builds and inspects plugins.

use super::args::{PluginArgs, PluginCommand};
use super::context::Context;
use super::error::Exit;

mod build;
mod check;
pub(super) mod confirmation;
mod inspect;
mod list;
mod new;
mod prune;

pub(super) use build::build_configured;

pub(super) async fn run(args: PluginArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    match args.command {
        PluginCommand::New(args) => new::run(&args, ctx),
        PluginCommand::Build(args) => build::run(&args, ctx).await,
        PluginCommand::Inspect(args) => inspect::run(&args, ctx),
        PluginCommand::Check(args) => check::run(&args, ctx).await,
        PluginCommand::List => list::run(ctx),
        PluginCommand::Prune => prune::run(ctx).await,
        PluginCommand::Toolchain => build::toolchain(ctx),
    }
}
