//! Drives claimed jobs.

use std::sync::Arc;

use latchwork_core::model::ids::JobId;
use latchwork_core::response::Response;
use latchwork_core::storage::Claim;

use super::run::Run;
use crate::runtime::worker::{Observer, Worker, WorkerError};

impl Worker {
    /// Drives a claimed job until it ends, waits, is parked or diverges.
    ///
    /// # Errors
    /// See [`WorkerError`]. Every acknowledged write is durable.
    pub async fn drive(self: &Arc<Self>, claim: Claim, observer: Arc<dyn Observer>) -> Result<Response, WorkerError> {
        let held = self.held.hold(&claim.row.job_id, claim.row.attempt);
        if let Some(cause) = self.park_unloaded(&claim, &*observer).await? {
            return Err(WorkerError::ParkedUnloaded { job_id: claim.row.job_id, cause });
        }
        let run = Run::load(self.clone(), claim, held.lease(), observer).await?;
        run.drive().await
    }

    /// Claims the job and drives it until it settles. Returns `None` if the job cannot be claimed now.
    ///
    /// # Errors
    /// See [`WorkerError`].
    pub async fn resume(
        self: &Arc<Self>,
        job_id: &JobId,
        observer: Arc<dyn Observer>,
    ) -> Result<Option<Response>, WorkerError> {
        match self.parts.journal.claim_job(job_id, &self.lease_request()).await? {
            Some(claim) => self.drive(claim, observer).await.map(Some),
            None => Ok(None),
        }
    }
}
