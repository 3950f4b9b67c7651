//! Jobs that are not loaded: those whose processes end while they load them, where each claim after the limit would
//! take one more along; and those of which a part cannot be had now.

use latchwork_core::decide::{self, Context};
use latchwork_core::event::Event;
use latchwork_core::notice;
use latchwork_core::policy::Rules;
use latchwork_core::storage::{Claim, Outline, Record, StoreError};

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
        let outline = self.outline(claim).await?;
        if decide::silent_attempts(claim.row.attempt, outline.end) < limit {
            return Ok(());
        }
        let (batch, cause) = decide::park_unread(claim, &outline, &parts.owner.worker, parts.engine_profile);
        let events = batch.events.clone();
        parts.journal.write(batch).await.map_err(|error| not_written(claim, error.into()))?;
        self.tell(claim, &events, observer);
        Err(WorkerError::Unread { job_id: claim.row.job_id.clone(), cause })
    }

    /// Gives a claimed job back whose effects cannot be had: that is no fault of the job, and nothing was done.
    pub(super) async fn give_back_unread(&self, claim: &Claim, record: Record, why: StoreError) -> WorkerError {
        match self.try_to_give_back(claim, record).await {
            Ok(()) => WorkerError::NotLoaded { job_id: claim.row.job_id.clone(), why },
            Err(error) => error,
        }
    }

    async fn try_to_give_back(&self, claim: &Claim, record: Record) -> Result<(), WorkerError> {
        let parts = &self.parts;
        let outline = self.outline(claim).await?;
        let machine = &*parts.machine;
        let context = Context {
            now_us: machine.now_us(),
            random: machine.random(),
            // Nothing is decided by them here.
            rules: &Rules::default(),
            clock_margin_ms: parts.settings.clock_margin_ms,
        };
        let by = (parts.owner.worker.as_str(), parts.engine_profile);
        let batch = decide::give_back_unread(claim, &outline, record, by, &context)
            .map_err(|error| StoreError::Damaged(format!("job {}: {error}", claim.row.job_id)))?;
        parts.journal.write(batch).await.map_err(|error| not_written(claim, error.into()))?;
        Ok(())
    }

    async fn outline(&self, claim: &Claim) -> Result<Outline, WorkerError> {
        let job_id = &claim.row.job_id;
        self.parts.journal.outline(job_id).await?.ok_or_else(|| WorkerError::NoJob(job_id.clone()))
    }

    fn tell(&self, claim: &Claim, events: &[Event], observer: &dyn Observer) {
        let job_id = &claim.row.job_id;
        if observer.watches() {
            events.iter().for_each(|event| observer.event(job_id, event));
        }
        if let Some(notifier) = &self.parts.notifier {
            notifier.tell(events.iter().filter_map(|event| notice::unread(&claim.row, event)).collect());
        }
    }
}

fn not_written(claim: &Claim, dropped: Dropped) -> WorkerError {
    let job_id = claim.row.job_id.clone();
    match dropped {
        Dropped::Store(error) => error.into(),
        Dropped::Broken(message) => WorkerError::Broken { job_id, message },
        // Whether it was written is not known: the next claim finds out.
        Dropped::Reload(error) => StoreError::Unavailable(error.to_string()).into(),
        Dropped::Lost | Dropped::Stopping | Dropped::PluginMissing { .. } => WorkerError::Lost(job_id),
    }
}
