//! Jobs whose processes end while they load them: each claim after the limit would take one more along.

use latchwork_core::decide;
use latchwork_core::event::Event;
use latchwork_core::notice;
use latchwork_core::storage::{Claim, StoreError};

use super::observe::Observer;
use super::run::Dropped;
use super::{Worker, WorkerError};

impl Worker {
    /// Parks a claimed job before it is loaded, where as many attempts in a row as may be have not come as far as to
    /// tell of their claims.
    pub(super) async fn park_unread(&self, claim: &Claim, observer: &dyn Observer) -> Result<(), WorkerError> {
        let parts = &self.parts;
        let limit = parts.settings.max_attempts_without_progress;
        // Most jobs are claimed seldom, and are not looked at.
        if claim.row.attempt <= limit {
            return Ok(());
        }
        let job_id = &claim.row.job_id;
        let Some(end) = parts.journal.log_end(job_id).await? else { return Err(WorkerError::NoJob(job_id.clone())) };
        if decide::silent_attempts(claim.row.attempt, end) < limit {
            return Ok(());
        }
        let inbox = parts.journal.inbox(job_id).await?;
        let (batch, cause) = decide::unread(claim, end, &inbox, &parts.owner.worker, parts.engine_profile);
        let events = batch.events.clone();
        parts.journal.write(batch).await.map_err(|error| not_parked(claim, error.into()))?;
        self.tell_parked(claim, &events, observer);
        Err(WorkerError::Unread { job_id: job_id.clone(), cause })
    }

    fn tell_parked(&self, claim: &Claim, events: &[Event], observer: &dyn Observer) {
        let job_id = &claim.row.job_id;
        if observer.watches() {
            events.iter().for_each(|event| observer.event(job_id, event));
        }
        if let Some(notifier) = &self.parts.notifier {
            notifier.tell(events.iter().filter_map(|event| notice::unread(&claim.row, event)).collect());
        }
    }
}

fn not_parked(claim: &Claim, dropped: Dropped) -> WorkerError {
    let job_id = claim.row.job_id.clone();
    match dropped {
        Dropped::Store(error) => error.into(),
        Dropped::Broken(message) => WorkerError::Broken { job_id, message },
        // Whether it was written is not known: the next claim finds it parked, or parks it.
        Dropped::Reload(error) => StoreError::Unavailable(error.to_string()).into(),
        Dropped::Lost | Dropped::Stopping | Dropped::PluginMissing { .. } => WorkerError::Lost(job_id),
    }
}
