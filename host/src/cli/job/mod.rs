//! `latch job`: looking at jobs and deciding about them.

use latchwork_core::ids::JobId;
use latchwork_core::pages;
use latchwork_core::storage::{InboxError, JobRow, Request, StoreError};

use super::args::{JobArgs, JobCommand};
use super::context::Context;
use super::error::{CliError, Exit};
use crate::host::Stores;

mod cancel;
mod confirm;
mod costs;
mod events;
mod export;
mod fork;
mod gate;
mod list;
mod replay;
mod resolve;
mod retry;
mod show;
mod signal;

pub(super) async fn run(args: JobArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    match args.command {
        JobCommand::List(args) => list::run(args, ctx).await,
        JobCommand::Show(args) => show::run(args, ctx).await,
        JobCommand::Events(args) => events::run(args, ctx).await,
        JobCommand::Costs(args) => costs::run(args, ctx).await,
        JobCommand::Replay(args) => replay::run(args, ctx).await,
        JobCommand::Export(args) => export::run(args, ctx).await,
        JobCommand::Resolve(args) => resolve::run(args, ctx).await,
        JobCommand::Cancel(args) => cancel::run(args, ctx).await,
        JobCommand::Retry(args) => retry::run(args, ctx).await,
        JobCommand::Fork(args) => fork::run(args, ctx).await,
        JobCommand::Approve(args) => gate::approve(args, ctx).await,
        JobCommand::Reject(args) => gate::reject(args, ctx).await,
        JobCommand::Confirm(args) => confirm::run(args, ctx).await,
        JobCommand::Signal(args) => signal::run(args, ctx).await,
    }
}

/// The row of a job, or an error that says there is none.
async fn row(stores: &Stores, job_id: &JobId) -> anyhow::Result<JobRow> {
    let row = stores.journal.job(job_id).await?;
    row.ok_or_else(|| no_such_job(job_id).into())
}

/// Everything stored of a job.
async fn durable(stores: &Stores, job_id: &JobId) -> anyhow::Result<latchwork_core::state::Durable> {
    let record = stores.journal.load(job_id).await?.ok_or_else(|| no_such_job(job_id))?;
    let effects = stores.effects.effects(job_id).await?;
    let damaged = |error: latchwork_core::state::FoldError| StoreError::Damaged(format!("job {job_id}: {error}"));
    Ok(latchwork_core::state::Durable::load(record, effects).map_err(damaged)?)
}

/// Puts a request into the job's inbox and says what happens next.
async fn ask(
    ctx: &Context<'_>,
    stores: &Stores,
    job_id: &JobId,
    actor: &str,
    reason: Option<&str>,
    request: Request,
    done: &str,
) -> anyhow::Result<Exit> {
    let id = match stores.journal.put_inbox(job_id, actor, reason, request).await {
        Ok(id) => id,
        Err(error @ InboxError::NoJob(_)) => return Err(CliError::input(pages::NO_SUCH_JOB, error.to_string()).into()),
        // It is what was asked for that does not fit, whether the job is over or the wait.
        Err(error @ InboxError::Over { .. }) => {
            return Err(CliError::input(pages::JOB_REFUSES, error.to_string()).into());
        }
        Err(error) => return Err(error.into()),
    };
    // Nobody claims a job that is over: what is said of it becomes an event here.
    let over = crate::worker::audit(&*stores.journal, &*stores.effects, job_id).await?;
    let next = ctx.command(&format!("latch {} {job_id}", if over { "job show" } else { "resume" }));
    let document = serde_json::json!({ "job_id": job_id, "inbox_id": id, "next_actions": [next] });
    ctx.answer(&document, || format!("{done}; next: {next}"));
    Ok(Exit::Done)
}

fn no_such_job(job_id: &JobId) -> CliError {
    CliError::input(pages::NO_SUCH_JOB, format!("there is no job {job_id}: see `latch job list`"))
}
