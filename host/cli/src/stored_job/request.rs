//! Writes requests to the inbox of a job.

use std::fmt::Display;

use latchwork::builder::Stores;
use latchwork_core::event::DecidedBy;
use latchwork_core::model::error_docs;
use latchwork_core::model::ids::JobId;
use latchwork_core::state::{Durable, pending};
use latchwork_core::storage::{InboxRequest, InboxRow};

use crate::context::CommandContext;
use crate::error::{CliError, Exit};
use crate::text::Text;

/// Returns the error of a request that the job does not accept. The message refers to the command that shows the job.
pub(crate) fn refused_by_job(why: impl Display, job_id: &JobId) -> CliError {
    CliError::input(error_docs::JOB_REFUSES, format!("{why}: see `latch job show {job_id}`"))
}

/// Refuses a request that contradicts an earlier, still unread request in the inbox. The later request would have no
/// effect or cause a conflict. Returns the unread inbox rows.
pub(crate) async fn refuse_contradiction(
    stores: &Stores,
    durable: &Durable,
    request: &InboxRequest,
) -> anyhow::Result<Vec<InboxRow>> {
    let job_id = &durable.job.header.job_id;
    let inbox = stores.journal().inbox(job_id).await?;
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
pub(crate) async fn put_request(
    ctx: &CommandContext<'_>,
    stores: &Stores,
    job_id: &JobId,
    actor: &str,
    reason: Option<&str>,
    request: InboxRequest,
    done: &str,
) -> anyhow::Result<Exit> {
    put_decision(ctx, stores, job_id, DecidedBy::claimed(actor, reason.map(str::to_owned)), request, done).await
}

/// Writes a request with the proof of its actor to the inbox of the job and prints the next command.
pub(crate) async fn put_decision(
    ctx: &CommandContext<'_>,
    stores: &Stores,
    job_id: &JobId,
    by: DecidedBy,
    request: InboxRequest,
    done: &str,
) -> anyhow::Result<Exit> {
    let id = stores.journal().put_decision(job_id, by, request).await?;
    // Records a request to a finished job as an event, because no worker reads the inbox of a finished job.
    let over = latchwork::runtime::audit_finished_inbox(
        &**stores.journal(),
        &**stores.effects(),
        ctx.session().machine(),
        job_id,
    )
    .await?;
    let next = ctx.with_project_flags(&format!("latch {} {job_id}", if over { "job show" } else { "resume" }));
    let document = serde_json::json!({ "job_id": job_id, "inbox_id": id, "next_actions": [next] });
    ctx.answer(&document, || Text::from(format!("{done}; next:")).with_command(&next));
    Ok(Exit::Done)
}
