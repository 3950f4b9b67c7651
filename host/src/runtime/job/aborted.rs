//! Reasons why a run is aborted.

use latchwork_core::model::ids::Operator;
use latchwork_core::state::FoldError;
use latchwork_core::storage::{StoreError, WriteError};

/// Reason why a try, or the driving of a job, was aborted.
#[derive(Debug)]
pub enum RunAborted {
    /// Another attempt holds the job.
    LeaseLost,
    /// The worker is stopping and releases the job.
    Stopping,
    /// The store contradicts the state in memory. The job must be loaded again.
    Reload(WriteError),
    /// The database is not usable.
    Store(StoreError),
    /// A plugin that the job pinned is not available. Nothing was recorded about the call that needs it.
    PluginMissing {
        /// Operator served by the plugin.
        operator: Operator,
        /// Reason why the plugin is not available.
        why: String,
    },
    /// The host violated its own rules.
    Broken(String),
}

impl From<FoldError> for RunAborted {
    fn from(error: FoldError) -> Self {
        RunAborted::Broken(error.to_string())
    }
}

impl From<StoreError> for RunAborted {
    fn from(error: StoreError) -> Self {
        RunAborted::Store(error)
    }
}

impl From<WriteError> for RunAborted {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Fenced { .. } | WriteError::LeaseExpired | WriteError::NotHeld { .. } => RunAborted::LeaseLost,
            WriteError::Unavailable(message) => RunAborted::Store(StoreError::Unavailable(message)),
            WriteError::Damaged(message) => RunAborted::Store(StoreError::Damaged(message)),
            WriteError::Restored(message) => RunAborted::Store(StoreError::Restored(message)),
            WriteError::Defect(message) => RunAborted::Broken(message),
            other => RunAborted::Reload(other),
        }
    }
}
