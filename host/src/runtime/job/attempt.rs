//! Begin of an attempt: records the claim, and reopens or parks the job if necessary.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use latchwork_core::decide;
use latchwork_core::model::job::JobState;
use latchwork_core::response::{Response, response};
use latchwork_core::storage::Draft;

use super::aborted::RunAborted;
use super::run::Run;

impl Run {
    /// Records the claim, drains the inbox and confirms recorded changes. If the job exceeds the limit of
    /// attempts without progress, parks the job and returns its response.
    pub(crate) async fn begin_attempt(self: &Arc<Self>) -> Result<Option<Response>, RunAborted> {
        let (known, over, was_running) = {
            let state = self.state();
            let job = &state.durable.job;
            (job.attempt, job.state.is_terminal(), job.state == JobState::Running)
        };
        // If the log contains a higher attempt, another worker has claimed the job after this worker did. This happens
        // if this worker was suspended between claiming and loading the job.
        if known > self.attempt {
            return Err(RunAborted::LeaseLost);
        }
        let claimed = known < self.attempt;
        if claimed {
            let was_interrupted = was_running || known + 1 < self.attempt;
            self.flush_every_write.store(was_interrupted, Ordering::Relaxed);
            let parts = &self.worker.parts;
            let claim = decide::claimed(&parts.owner.worker, parts.engine_profile);
            if over {
                self.reopen(claim).await?;
            } else {
                let receipts = decide::withdraw_receipts_after_unloaded_reopen(&self.state().durable);
                self.write(claim.merge(receipts)).await?;
            }
        }
        let limit = self.worker.parts.settings.max_attempts_without_progress;
        let mut exhausted = decide::park_crash_loop_before_inbox(&self.state().durable, limit);
        if exhausted.is_none() {
            self.drain_inbox().await?;
            exhausted = decide::park_crash_loop(&self.state().durable, limit);
        }
        let Some(parked) = exhausted else {
            self.confirm().await?;
            return Ok(None);
        };
        self.write(parked).await?;
        Ok(Some(response(&self.state().durable)))
    }

    /// Reopens a finished job for a retry or an undo, and records the claim.
    async fn reopen(self: &Arc<Self>, claim: Draft) -> Result<(), RunAborted> {
        let journal = &self.worker.parts.journal;
        let inbox = journal.inbox(&self.job_id).await?;
        let asked = inbox.iter().find(|row| row.request.reopens());
        let Some(row) = asked else {
            // The lease may have expired since the job was loaded. A later attempt may then have processed the request.
            if journal.job(&self.job_id).await?.is_some_and(|row| row.attempt != self.attempt) {
                return Err(RunAborted::LeaseLost);
            }
            return Err(RunAborted::Broken(
                "a finished job was claimed without a request to retry or undo it".to_owned(),
            ));
        };
        let draft = decide::reopen_job(&self.state().durable, row, &self.context());
        self.write(draft.merge(claim)).await
    }
}
