//! `latch job`: commands that inspect jobs and record decisions about them.

mod cancel;
mod confirm;
mod costs;
mod events;
mod export;
mod follow;
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

use latchwork_core::model::error_docs;
use latchwork_core::model::ids::JobId;
use latchwork_core::state::{Durable, pending};
use latchwork_core::storage::{InboxRequest, InboxRow, JobRow, StoreError};

use super::args::{JobArgs, JobCommand};
use super::context::Context;
use super::error::{CliError, Exit};
use super::output::Text;
use crate::host::Stores;
use crate::os::ThisMachine;

pub(super) async fn run(args: JobArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
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

/// Returns the row of a job, or an error if there is no such job.
async fn require_row(stores: &Stores, job_id: &JobId) -> anyhow::Result<JobRow> {
    let row = stores.journal.job(job_id).await?;
    row.ok_or_else(|| no_such_job(job_id).into())
}

/// Loads everything that is stored about a job.
async fn load_job(stores: &Stores, job_id: &JobId) -> anyhow::Result<Durable> {
    Ok(load_with_inbox(stores, job_id).await?.0)
}

/// Loads everything that is stored about a job, and its unread inbox rows.
async fn load_with_inbox(stores: &Stores, job_id: &JobId) -> anyhow::Result<(Durable, Vec<InboxRow>)> {
    let record = stores.journal.load(job_id).await?.ok_or_else(|| no_such_job(job_id))?;
    let inbox = record.inbox.clone();
    let effects = stores.effects.effects(job_id).await?;
    let damaged = |error: latchwork_core::state::FoldError| StoreError::Damaged(format!("job {job_id}: {error}"));
    Ok((Durable::load(record, effects).map_err(damaged)?, inbox))
}

/// Refuses a request that contradicts an earlier, still unread request in the inbox. Otherwise the later request would
/// have no effect or cause an unwanted conflict. Returns the unread inbox rows.
async fn refuse_contradiction(
    stores: &Stores,
    durable: &Durable,
    request: &InboxRequest,
) -> anyhow::Result<Vec<InboxRow>> {
    let job_id = &durable.job.header.job_id;
    let inbox = stores.journal.inbox(job_id).await?;
    let Some(row) = pending::contradicted_row(durable, &inbox, request) else { return Ok(inbox) };
    let what = pending::slot(request).map_or_else(|| format!("job {job_id}"), ToString::to_string);
    let done = pending::RequestKind::of(&row.request).map(pending::RequestKind::past_participle).unwrap_or_default();
    let why = row.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let by = &row.actor;
    let message = format!(
        "{what} is already {done} by {by}{why}, and the job applies that when it continues: `latch resume {job_id}`"
    );
    Err(CliError::input(error_docs::JOB_REFUSES, message).into())
}

/// Writes a request to the inbox of the job and prints the next command.
async fn put_request(
    ctx: &Context<'_>,
    stores: &Stores,
    job_id: &JobId,
    actor: &str,
    reason: Option<&str>,
    request: InboxRequest,
    done: &str,
) -> anyhow::Result<Exit> {
    let id = stores.journal.put_inbox(job_id, actor, reason, request).await?;
    // No worker reads the inbox of a finished job. A request to a finished job is therefore recorded as an event here.
    let over = crate::runtime::audit_finished_inbox(&*stores.journal, &*stores.effects, &ThisMachine, job_id).await?;
    let next = ctx.with_project_flags(&format!("latch {} {job_id}", if over { "job show" } else { "resume" }));
    let document = serde_json::json!({ "job_id": job_id, "inbox_id": id, "next_actions": [next] });
    ctx.answer(&document, || Text::from(format!("{done}; next:")).with_command(&next));
    Ok(Exit::Done)
}

fn no_such_job(job_id: &JobId) -> CliError {
    CliError::input(error_docs::NO_SUCH_JOB, format!("there is no job {job_id}: see `latch job list`"))
}
