//! Processes requests to a finished job without claiming the job. The requests are recorded in the event log as audit
//! events. Each write must follow the current end of the log. If another writer appended first, the store refuses the
//! write, and this worker decides about the requests again.

use latchwork_core::decide;
use latchwork_core::model::ids::JobId;
use latchwork_core::state::Durable;
use latchwork_core::storage::{EffectStore, Journal, StoreError, WriteError};
use latchwork_engine::os::Machine;

/// Maximum number of passes over the inbox. A pass is repeated if another writer appended to the log during the pass.
const TRIES_MAX: u32 = 20;

/// Drains the inbox of a finished job and returns true. If the job is open, returns false and drains nothing, because
/// only the lease holder drains the inbox of an open job.
///
/// # Errors
/// The store fails, the stored data of the job is damaged, or other writers keep changing the job. Requests that were
/// already processed stay processed.
pub async fn audit_finished_inbox(
    journal: &dyn Journal,
    effects: &dyn EffectStore,
    machine: &Machine,
    job_id: &JobId,
) -> Result<bool, StoreError> {
    for _ in 0..TRIES_MAX {
        // Read the job row first. The log is loaded only if the inbox has requests.
        let Some(row) = journal.job(job_id).await? else { return Ok(false) };
        let over = row.state.is_terminal();
        if !over || !row.inbox_pending {
            return Ok(over);
        }
        let Some(record) = journal.load(job_id).await? else { return Ok(false) };
        let inbox = record.inbox.clone();
        if !record.row.state.is_terminal() {
            return Ok(false);
        }
        let damaged = |error| StoreError::Damaged(format!("job {job_id}: {error}"));
        let mut durable = Durable::load(record, effects.effects(job_id).await?).map_err(damaged)?;
        let mut refused = None;
        for row in decide::in_application_order(inbox) {
            let draft = decide::apply_audit_request(&durable, &row);
            let batch = durable.seal(durable.job.attempt, draft, machine.now_us()).map_err(damaged)?;
            if let Err(error) = journal.write(batch).await {
                refused = Some(error);
                break;
            }
        }
        match refused {
            None => return Ok(true),
            Some(WriteError::Unavailable(message) | WriteError::Unknown(message)) => {
                return Err(StoreError::Unavailable(message));
            }
            Some(WriteError::Damaged(message)) => return Err(StoreError::Damaged(message)),
            Some(WriteError::Restored(message)) => return Err(StoreError::Restored(message)),
            // Another writer appended to the log first, or reopened the job. The next pass decides again.
            Some(error) => tracing::debug!(%job_id, %error, "retrying to record requests to a finished job"),
        }
    }
    Err(StoreError::Unavailable(format!(
        "job {job_id} is finished, but other writers keep changing it; try again later"
    )))
}
