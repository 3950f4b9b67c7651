//! `latch job cancel`.

use latchwork_core::model::error_docs;
use latchwork_core::model::job::JobState;
use latchwork_core::storage::{InboxError, InboxRequest};

use crate::args::JobCancelArgs;
use crate::context::CommandContext;
use crate::error::{CliError, Exit};
use crate::execution::attach::attach;
use crate::execution::result::show_result;
use crate::open;
use crate::plugins::admission;
use crate::stored_job::load::no_such_job;

/// Stores the cancel request, then executes the job in this process. If another process claims the job, follows that
/// process.
pub(super) async fn run(args: JobCancelArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    if let Some(path) = open::missing_database(&config)? {
        return Err(open::no_database(&path).into());
    }
    let host = open::host(ctx.session(), config).await?;
    admission::warn_refused_plugins(ctx, host.registry());
    if host.journal().job(&args.job).await?.is_none() {
        return Err(no_such_job(&args.job).into());
    }
    let actor = ctx.actor(args.actor.as_deref());
    let asked = host.journal().put_inbox(&args.job, &actor, args.reason.as_deref(), InboxRequest::Cancel).await;
    if let Err(error @ InboxError::WrongState { state, .. }) = asked {
        let message = format!("{error}: only an open job can be cancelled");
        if state == JobState::Cancelled {
            return Err(CliError::input(error_docs::JOB_REFUSES, message).into());
        }
        let undo = ctx.with_project_flags(&format!("latch job undo {}", args.job));
        let message = message + "; to undo a finished job:";
        return Err(CliError::input(error_docs::JOB_REFUSES, message).with_next_command(undo).into());
    }
    asked?;
    let response = attach(ctx, &host, &args.job).await?;
    let cancelled = response.state == JobState::Cancelled;
    let exit = show_result(ctx, &host, response, false).await?;
    Ok(if cancelled { Exit::Done } else { exit })
}
