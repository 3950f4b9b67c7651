//! Reasons why a worker could not settle a job.

use latchwork_core::model::ids::{JobId, Operator};
use latchwork_core::storage::StoreError;

/// Reason why this worker could not settle a job.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// Another worker holds the job.
    #[error("job {0} is now held by another worker")]
    LeaseLost(JobId),
    /// The worker is stopping and has released the job.
    #[error("job {0} was released because this worker is stopping")]
    Released(JobId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stored data of the job is inconsistent, or the host violated its own rules.
    #[error("job {job_id}: {message}")]
    Broken {
        /// The job.
        job_id: JobId,
        /// Description of the inconsistency.
        message: String,
    },
    /// The plugin version that the job pinned is not available here. The job was released.
    #[error("job {job_id} needs the plugin version for {operator} that was installed when the job was accepted: {why}")]
    PluginMissing {
        /// The job.
        job_id: JobId,
        /// Operator served by the missing plugin.
        operator: Operator,
        /// Reason why the plugin is not available.
        why: String,
    },
    /// The job was parked without being loaded: too many processes in a row died before they recorded anything.
    #[error("job {job_id} is parked with ATTEMPTS_EXHAUSTED: {cause}")]
    ParkedUnloaded {
        /// The job.
        job_id: JobId,
        /// Cause recorded with the parked job.
        cause: String,
    },
    /// The effect store is unavailable, so the job could not be loaded. The job was released.
    #[error("job {job_id} cannot be loaded: {why}")]
    NotLoaded {
        /// The job.
        job_id: JobId,
        /// Error of the effect store.
        why: StoreError,
    },
    /// The job does not exist.
    #[error("job {0} does not exist")]
    NoJob(JobId),
}

impl WorkerError {
    /// Returns true if every further try by this worker would fail in the same way. Another worker may succeed if it
    /// has other plugins or another version of this program.
    pub fn is_worker_specific(&self) -> bool {
        matches!(self, Self::PluginMissing { .. } | Self::Broken { .. } | Self::Store(StoreError::Damaged(_)))
    }
}
