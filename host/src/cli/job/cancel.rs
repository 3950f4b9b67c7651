//! `latch job cancel`.

use latchwork_core::storage::Request;

use crate::cli::args::JobCancelArgs;
use crate::cli::context::Context;
use crate::cli::error::Exit;
use crate::cli::{open, run, view};

/// The request is durable first; then the job is brought to its end here, unless another process
/// holds it and does so itself.
pub(super) async fn run(args: JobCancelArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    if let Some(path) = open::missing(&config)? {
        return Err(open::no_database(&path).into());
    }
    let host = open::host(config).await?;
    if host.journal.job(&args.job).await?.is_none() {
        return Err(super::no_such_job(&args.job).into());
    }
    let actor = ctx.actor(args.actor.as_deref());
    host.journal.put_inbox(&args.job, &actor, args.reason.as_deref(), Request::Cancel).await?;
    let response = run::attach(ctx, &host, &args.job).await?;
    let cancelled = response.state == latchwork_core::job::JobState::Cancelled;
    let exit = view::answer(ctx, &response);
    Ok(if cancelled { Exit::Done } else { exit })
}
