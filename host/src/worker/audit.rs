//! What is said of a job after its end: its log takes it as audit events. Nobody claims the job for
//! that. Each write follows the end of the log, or is refused and decided again.

use latchwork_core::decide;
use latchwork_core::ids::JobId;
use latchwork_core::state::Durable;
use latchwork_core::storage::{EffectStore, Journal, StoreError, WriteError};

use crate::os::Machine;

/// Others that write at the same time are let through so many times.
const TRIES_MAX: u32 = 20;

/// Takes everything out of the inbox of a job that is over; nothing where the job goes on, because
/// then whoever holds it does. Whether the job is over.
///
/// # Errors
/// The store fails, or what it holds of the job is damaged. What was taken out before stays so.
pub async fn audit(
    journal: &dyn Journal,
    effects: &dyn EffectStore,
    machine: &dyn Machine,
    job_id: &JobId,
) -> Result<bool, StoreError> {
    for _ in 0..TRIES_MAX {
        // The row tells; the log is read only where there is something to add to it.
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
        for row in decide::in_order(inbox) {
            let draft = decide::audited(&durable, &row);
            let mut batch = durable.seal(draft, machine.now_us()).map_err(damaged)?;
            batch.audit = true;
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
            // Somebody else was faster, or reopened the job.
            Some(error) => tracing::debug!(%job_id, %error, "looking again at a job that is over"),
        }
    }
    Err(StoreError::Unavailable(format!("job {job_id} is over, and others keep writing to it")))
}
