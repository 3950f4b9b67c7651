//! Jobs that are released or parked without being loaded. One case is a crash loop: each process dies while it
//! loads the job, and each further claim would kill one more process. The other case is an unavailable effect
//! store.

use latchwork_core::decide;
use latchwork_core::decide::Context;
use latchwork_core::event::Event;
use latchwork_core::model::rules::Rules;
use latchwork_core::response::notice;
use latchwork_core::storage::{Claim, JobTail, StoreError, StoredJob};

use super::aborted::RunAborted;
use crate::runtime::worker::{Observer, Worker, WorkerError};

impl Worker {
    /// Parks the job before it is loaded if too many consecutive attempts died before they wrote their claim event.
    /// Returns the cause if the job was parked.
    pub(crate) async fn park_unloaded(
        &self,
        claim: &Claim,
        observer: &dyn Observer,
    ) -> Result<Option<String>, WorkerError> {
        let parts = &self.parts;
        let limit = parts.settings.max_attempts_without_progress;
        // The current attempt does not count as unrecorded. A job with at most `limit` attempts therefore has fewer
        // than `limit` unrecorded attempts, and is not parked. This check saves a query for most jobs.
        if claim.row.attempt <= limit {
            return Ok(None);
        }
        let outline = self.load_outline(claim).await?;
        if decide::unrecorded_attempts(claim.row.attempt, outline.end) < limit {
            return Ok(None);
        }
        let (batch, cause) = decide::park_unloaded(claim, &outline, &parts.owner.worker, parts.engine_profile);
        let events = batch.writes.events.clone();
        parts.journal.write(batch).await.map_err(|error| write_failed(claim, error.into()))?;
        self.show_events(claim, &events, observer);
        Ok(Some(cause))
    }

    /// Releases a claimed job whose effects are unavailable. The job can be claimed again, because nothing was executed
    /// and the effect store failed, not the job.
    pub(crate) async fn release_unloaded(&self, claim: &Claim, record: StoredJob, why: StoreError) -> WorkerError {
        match self.try_release_unloaded(claim, record).await {
            Ok(()) => WorkerError::NotLoaded { job_id: claim.row.job_id.clone(), why },
            Err(error) => error,
        }
    }

    async fn try_release_unloaded(&self, claim: &Claim, record: StoredJob) -> Result<(), WorkerError> {
        let parts = &self.parts;
        let outline = self.load_outline(claim).await?;
        let machine = &parts.machine;
        let context = Context {
            now_us: machine.now_us(),
            random: machine.random(),
            // The decision to release a job does not depend on the rules.
            rules: &Rules::default(),
            clock_margin_ms: parts.settings.clock_margin_ms,
        };
        let by = (parts.owner.worker.as_str(), parts.engine_profile);
        let batch = decide::release_unloaded(claim, &outline, record, by, &context)
            .map_err(|error| StoreError::Damaged(format!("job {}: {error}", claim.row.job_id)))?;
        parts.journal.write(batch).await.map_err(|error| write_failed(claim, error.into()))?;
        Ok(())
    }

    async fn load_outline(&self, claim: &Claim) -> Result<JobTail, WorkerError> {
        let job_id = &claim.row.job_id;
        self.parts.journal.job_tail(job_id).await?.ok_or_else(|| WorkerError::NoJob(job_id.clone()))
    }

    fn show_events(&self, claim: &Claim, events: &[Event], observer: &dyn Observer) {
        let job_id = &claim.row.job_id;
        if observer.is_watching() {
            events.iter().for_each(|event| observer.event(job_id, event));
        }
        if let Some(notifier) = &self.parts.notifier {
            notifier.enqueue(events.iter().filter_map(|event| notice::unloaded_notice(&claim.row, event)).collect());
        }
    }
}

fn write_failed(claim: &Claim, dropped: RunAborted) -> WorkerError {
    let job_id = claim.row.job_id.clone();
    match dropped {
        RunAborted::Store(error) => error.into(),
        RunAborted::Broken(message) => WorkerError::Broken { job_id, message },
        // The commit may or may not have succeeded. The next claim reads the outcome from the store.
        RunAborted::Reload(error) => StoreError::Unavailable(error.to_string()).into(),
        RunAborted::LeaseLost | RunAborted::Stopping | RunAborted::PluginMissing { .. } => {
            WorkerError::LeaseLost(job_id)
        }
    }
}
