//! Loads a stored job.

use latchwork::builder::Stores;
use latchwork_core::model::error_docs;
use latchwork_core::model::ids::JobId;
use latchwork_core::state::Durable;
use latchwork_core::storage::{InboxRow, JobRow, StoreError};

use crate::error::CliError;

/// Returns the row of a job, or an error if there is no such job.
pub(crate) async fn require_row(stores: &Stores, job_id: &JobId) -> anyhow::Result<JobRow> {
    let row = stores.journal().job(job_id).await?;
    row.ok_or_else(|| no_such_job(job_id).into())
}

/// Loads everything that is stored about a job.
pub(crate) async fn load_job(stores: &Stores, job_id: &JobId) -> anyhow::Result<Durable> {
    Ok(load_with_inbox(stores, job_id).await?.0)
}

/// Loads everything that is stored about a job, and its unread inbox rows.
pub(crate) async fn load_with_inbox(stores: &Stores, job_id: &JobId) -> anyhow::Result<(Durable, Vec<InboxRow>)> {
    let record = stores.journal().load(job_id).await?.ok_or_else(|| no_such_job(job_id))?;
    let inbox = record.inbox.clone();
    let effects = stores.effects().effects(job_id).await?;
    let damaged = |error: latchwork_core::state::FoldError| StoreError::Damaged(format!("job {job_id}: {error}"));
    Ok((Durable::load(record, effects).map_err(damaged)?, inbox))
}

pub(crate) fn no_such_job(job_id: &JobId) -> CliError {
    CliError::input(error_docs::NO_SUCH_JOB, format!("there is no job {job_id}: see `latch job list`"))
}
