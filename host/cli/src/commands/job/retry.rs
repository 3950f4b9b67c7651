//! `latch job retry`.

use latchwork::reopen::RetryError;
use latchwork::runtime::WorkerError;
use latchwork_core::model::error_docs;
use latchwork_core::storage::InboxError;

use crate::args::JobRetryArgs;
use crate::context::CommandContext;
use crate::error::{CliError, Exit};
use crate::execution::attach::attach;
use crate::execution::result::show_result;
use crate::execution::settle::until_settled;
use crate::open;
use crate::plugins::admission;
use crate::stored_job::load::no_such_job;

/// Stores the retry request, then executes the job in this process. If another process claims the job, follows that
/// process.
pub(super) async fn run(args: JobRetryArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let config = ctx.config(None)?;
    if let Some(path) = open::missing_database(&config)? {
        return Err(open::no_database(&path).into());
    }
    let host = open::host(ctx.session(), config).await?;
    admission::warn_refused_plugins(ctx, host.registry());
    let actor = ctx.actor(args.actor.as_deref());
    match host.retry(&args.job, &actor, args.reason.as_deref()).await {
        Ok(_) => {}
        Err(RetryError::Load(WorkerError::NoJob(_)) | RetryError::Inbox(InboxError::NoJob(_))) => {
            return Err(no_such_job(&args.job).into());
        }
        Err(error @ (RetryError::Refused(_) | RetryError::Inbox(InboxError::WrongState { .. }))) => {
            return Err(CliError::input(error_docs::JOB_REFUSES, error.to_string()).into());
        }
        Err(RetryError::Inbox(error)) => return Err(error.into()),
        Err(RetryError::Load(error)) => return Err(error.into()),
    }
    let response = attach(ctx, &host, &args.job).await?;
    let response = until_settled(ctx, &host, response, &actor).await?;
    show_result(ctx, &host, response, true).await
}
