//! Reasons why a run is aborted.

use latchwork_core::model::ids::Operator;
use latchwork_core::state::FoldError;
use latchwork_core::storage::{StoreError, WriteError};

use super::in_flight::CallsClosed;
use super::live_view::LiveViewStopped;

/// Reason why a try, or the driving of a job, was aborted.
#[derive(Debug)]
pub enum RunAborted {
    /// Another attempt holds the job.
    LeaseLost,
    /// The worker is stopping and releases the job.
    Stopping,
    /// The store contradicts the state in memory. The job must be loaded again.
    Reload(ReloadCause),
    /// The database is not usable.
    Store(StoreError),
    /// A plugin that the job pinned is not available. Nothing was recorded about the call that needs the plugin.
    PluginMissing {
        /// Operator served by the plugin.
        operator: Operator,
        /// Reason why the plugin is not available.
        why: String,
    },
    /// The host violated its own rules.
    Broken(String),
}

/// Reason why the job must be loaded again.
#[derive(Debug, thiserror::Error)]
pub enum ReloadCause {
    /// The store refused a write, or the outcome of a write is unknown.
    #[error(transparent)]
    Write(WriteError),
    /// A try was dropped as cancelled, but the job in memory is not being cancelled. Without a reload, the step would
    /// start again from the state in memory.
    #[error("the job is being cancelled")]
    StepCancelled,
    /// The run accepts no new calls, because another part of the run has called `close_and_drain`. That part reports
    /// the reason why the run ends.
    #[error("the run accepts no new calls")]
    CallsClosed,
    /// A tool answered a reconcile request, but the call has no open try in memory.
    #[error("the store is broken: the call has no open try")]
    NoOpenTry,
}

impl From<CallsClosed> for RunAborted {
    fn from(_: CallsClosed) -> Self {
        RunAborted::Reload(ReloadCause::CallsClosed)
    }
}

impl From<LiveViewStopped> for RunAborted {
    fn from(_: LiveViewStopped) -> Self {
        RunAborted::Broken("the live view stopped".to_owned())
    }
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
            other => RunAborted::Reload(ReloadCause::Write(other)),
        }
    }
}
