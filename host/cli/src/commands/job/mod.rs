//! `latch job`: commands that inspect jobs and record decisions about them.

mod cancel;
mod confirm;
mod costs;
mod events;
mod export;
mod fork;
mod gate;
mod list;
mod output;
mod replay;
mod resolve;
mod retry;
mod show;
mod signal;
mod undo;
mod wait;

use crate::args::{JobArgs, JobCommand};
use crate::context::CommandContext;
use crate::error::Exit;

pub(crate) async fn run(args: JobArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    match args.command {
        JobCommand::List(args) => list::run(args, ctx).await,
        JobCommand::Show(args) => show::run(args, ctx).await,
        JobCommand::Output(args) => output::run(args, ctx).await,
        JobCommand::Wait(args) => wait::run(args, ctx).await,
        JobCommand::Events(args) => events::run(args, ctx).await,
        JobCommand::Costs(args) => costs::run(args, ctx).await,
        JobCommand::Replay(args) => replay::run(args, ctx).await,
        JobCommand::Export(args) => export::run(args, ctx).await,
        JobCommand::Resolve(args) => resolve::run(args, ctx).await,
        JobCommand::Cancel(args) => cancel::run(args, ctx).await,
        JobCommand::Retry(args) => retry::run(args, ctx).await,
        JobCommand::Undo(args) => undo::run(args, ctx).await,
        JobCommand::Fork(args) => fork::run(args, ctx).await,
        JobCommand::Approve(args) => gate::approve(args, ctx).await,
        JobCommand::Reject(args) => gate::reject(args, ctx).await,
        JobCommand::Confirm(args) => confirm::run(args, ctx).await,
        JobCommand::Signal(args) => signal::run(args, ctx).await,
    }
}
