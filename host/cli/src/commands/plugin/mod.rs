//! `latch plugin`: builds and inspects plugins.

mod build;
mod check;
mod inspect;
mod list;
mod new;
mod prune;

use crate::args::{PluginArgs, PluginCommand};
use crate::context::CommandContext;
use crate::error::Exit;

pub(crate) async fn run(args: PluginArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
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
