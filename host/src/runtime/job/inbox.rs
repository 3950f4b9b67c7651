//! Turns requests in the inbox of a held job into events.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use latchwork_core::decide;
use latchwork_core::state::pending::RequestKind;
use latchwork_core::storage::{InboxRequest, InboxRow};

use super::aborted::RunAborted;
use super::run::Run;
use crate::evidence::check_proof;

impl Run {
    /// Fires the timers that are due, and turns new inbox rows into events.
    pub(crate) async fn poll_inbox(self: &Arc<Self>) -> Result<(), RunAborted> {
        // Read the revision before the inbox. A change after this point then causes another read.
        self.seen_revision.store(self.worker.parts.journal.watermark(), Ordering::Release);
        let now_us = self.machine().now_us();
        let due = self.state().durable.job.timers().into_values().any(|due_us| due_us <= now_us);
        if due {
            self.worker.parts.journal.fire_timers().await?;
        }
        self.drain_inbox_if_pending().await
    }

    pub(crate) async fn drain_inbox_if_pending(self: &Arc<Self>) -> Result<(), RunAborted> {
        let row = self.worker.parts.journal.job(&self.job_id).await?;
        match row {
            Some(row) if row.attempt != self.attempt => Err(RunAborted::LeaseLost),
            Some(row) if row.inbox_pending => self.drain_inbox().await,
            _ => Ok(()),
        }
    }

    pub(crate) async fn drain_inbox(self: &Arc<Self>) -> Result<(), RunAborted> {
        let rows = self.worker.parts.journal.inbox(&self.job_id).await?;
        let times = rows.iter().filter(|row| matches!(row.request, InboxRequest::Timer { .. }));
        self.state().durable.compatible_inbox_ids = times.map(|row| row.id).collect();
        for row in decide::in_application_order(rows) {
            if matches!(row.request, InboxRequest::LateEffect { .. }) {
                let effects = self.worker.parts.effects.effects(&self.job_id).await?;
                self.state().durable.add_effects(&effects);
            }
            if self.discard_without_proof(&row).await? {
                continue;
            }
            let mut is_done = false;
            while !is_done {
                let mut draft = decide::apply_request(&self.state().durable, &row, &self.context());
                is_done = draft.inbox_done.contains(&row.id);
                if is_done
                    && draft.has_no_writes()
                    && let Some(asked) = RequestKind::of(&row.request)
                {
                    // The request was acknowledged when it was submitted, but now it has no effect. Either the request
                    // no longer applies, or the current policy forbids it. The warning below reports this.
                    let (job_id, by) = (&self.job_id, &row.actor);
                    tracing::warn!(%job_id, inbox_id = row.id, %by, "request without effect ({}): it no longer applies \
                        or the policy forbids it", asked.past_participle());
                }
                draft.kind.flush();
                self.write(draft).await?;
            }
        }
        Ok(())
    }

    /// Removes a request whose proof is not valid. Returns true if the request was removed.
    ///
    /// The command that made the request has checked the proof, but a program that writes to the database can skip that
    /// check.
    async fn discard_without_proof(self: &Arc<Self>, row: &InboxRow) -> Result<bool, RunAborted> {
        let people = &self.worker.parts.settings.people;
        let by = row.verified_decider();
        let checked = check_proof(people, &self.state().durable, &by, &row.request);
        let Err(error) = checked else { return Ok(false) };
        let (job_id, by) = (&self.job_id, &row.actor);
        tracing::warn!(%job_id, inbox_id = row.id, %by, "request without effect: {error}");
        let mut draft = decide::discard_request(row);
        draft.kind.flush();
        self.write(draft).await?;
        Ok(true)
    }
}
