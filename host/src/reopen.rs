//! Requests about finished jobs: to retry failed calls, and to undo effects.

use latchwork_core::decide;
use latchwork_core::decide::CallToUndo;
use latchwork_core::model::ids::JobId;
use latchwork_core::state::Durable;
use latchwork_core::storage::{InboxError, InboxRequest};
use latchwork_engine::PinnedComponents;

use crate::host::Host;
use crate::runtime::WorkerError;

/// Result of a request to undo a finished job.
#[derive(Debug)]
pub enum UndoSubmission {
    /// The request is durable. These calls are undone in this order.
    Accepted(Vec<CallToUndo>),
    /// The job is already being undone because of an earlier request.
    UnderWay,
}

/// Reasons why a finished job is not undone.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// The state of the job forbids the undo.
    #[error(transparent)]
    Refused(#[from] decide::UndoRefusal),
    /// The store refused the request because the job has changed in the meantime.
    #[error(transparent)]
    Inbox(#[from] InboxError),
    /// The job cannot be read, or a plugin that undoes its calls is not loaded.
    #[error(transparent)]
    Worker(#[from] WorkerError),
}

/// Reasons why a finished job is not retried.
#[derive(Debug, thiserror::Error)]
pub enum RetryError {
    /// The state of the job forbids the retry.
    #[error(transparent)]
    Refused(#[from] decide::RetryRefusal),
    /// The store refused the request because the job has changed in the meantime.
    #[error(transparent)]
    Inbox(#[from] InboxError),
    /// The job cannot be read.
    #[error(transparent)]
    Load(#[from] WorkerError),
}

impl Host {
    /// Requests a job retry: a finished job repeats its failed calls. Returns the id of the inbox row. The request is
    /// durable when this function returns. The next claim of the job processes the request first.
    ///
    /// # Errors
    /// See [`RetryError`]. Nothing was written.
    pub async fn retry(&self, job_id: &JobId, actor: &str, reason: Option<&str>) -> Result<i64, RetryError> {
        let durable = self.load(job_id).await?;
        decide::retry_round(&durable)?;
        Ok(self.journal().put_inbox(job_id, actor, reason, InboxRequest::Retry).await?)
    }

    /// Requests to undo a finished job. The request is durable when this function returns. The next claim of the job
    /// processes the request first. If `here` is true, this host must have loaded the plugins that undo the calls.
    ///
    /// # Errors
    /// See [`UndoError`]. Nothing was written.
    pub async fn undo(
        &self,
        job_id: &JobId,
        actor: &str,
        reason: Option<&str>,
        here: bool,
    ) -> Result<UndoSubmission, UndoError> {
        // A concurrent request may reopen the job before this request is written. The store then refuses this request,
        // and the second round decides again about the new state of the job.
        for is_last in [false, true] {
            let durable = self.load(job_id).await?;
            let is_open = !durable.job.state.is_terminal();
            let inbox = self.journal().inbox(job_id).await.map_err(WorkerError::from)?;
            let is_asked = inbox.iter().any(|row| row.request == InboxRequest::Undo);
            if is_asked || is_open && durable.job.undo.is_some() {
                return Ok(UndoSubmission::UnderWay);
            }
            let due = decide::calls_to_undo(&durable)?;
            if here {
                self.require_undo_plugins(&durable, &due)?;
            }
            match self.journal().put_inbox(job_id, actor, reason, InboxRequest::Undo).await {
                Err(InboxError::WrongState { .. }) if !is_last => {}
                Err(error) => return Err(error.into()),
                Ok(_) => return Ok(UndoSubmission::Accepted(due)),
            }
        }
        unreachable!("the second round returns")
    }

    /// Checks that the plugins which undo these calls are loaded. Otherwise the job would be reopened and would then
    /// wait for the missing plugin.
    fn require_undo_plugins(&self, durable: &Durable, due: &[CallToUndo]) -> Result<(), WorkerError> {
        for CallToUndo { by, .. } in due {
            let Some(pinned) = durable.job.pinned(by) else { continue };
            let found = self.registry().by_digest(pinned.digest, pinned.wasi);
            found.map_err(|why| WorkerError::PluginMissing {
                job_id: durable.job.header.job_id.clone(),
                operator: by.clone(),
                why,
            })?;
        }
        Ok(())
    }
}
