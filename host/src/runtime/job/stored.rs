//! Loads the stored data of a job.

use latchwork_core::model::effect::Effect;
use latchwork_core::model::ids::JobId;
use latchwork_core::state::Durable;
use latchwork_core::storage::{StoreError, StoredJob};

use crate::runtime::worker::{Worker, WorkerError};

/// Loads everything stored about a job, including its effects.
pub(crate) async fn load_durable(worker: &Worker, job_id: &JobId) -> Result<Durable, WorkerError> {
    let record = load_stored(worker, job_id).await?;
    let effects = worker.parts.effects.effects(job_id).await?;
    fold_stored(worker, job_id, record, effects)
}

/// Loads the stored rows of a job.
pub(crate) async fn load_stored(worker: &Worker, job_id: &JobId) -> Result<StoredJob, WorkerError> {
    worker.parts.journal.load(job_id).await?.ok_or_else(|| WorkerError::NoJob(job_id.clone()))
}

/// Computes the state of a job from its stored rows.
pub(crate) fn fold_stored(
    worker: &Worker,
    job_id: &JobId,
    record: StoredJob,
    effects: Vec<Effect>,
) -> Result<Durable, WorkerError> {
    let durable =
        Durable::load(record, effects).map_err(|error| StoreError::Damaged(format!("job {job_id}: {error}")))?;
    worker.parts.trace_ids.remember(job_id, &durable.job.header.trace_id);
    Ok(durable)
}
