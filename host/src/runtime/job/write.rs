//! Turns drafts into batches. Batches are sealed and queued in order while the job's state is locked. Their
//! results are awaited without the lock.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use latchwork_core::response::notice;
use latchwork_core::state::Draft;
use latchwork_core::storage::{Batch, Flush};

use super::aborted::RunAborted;
use super::deferred_writes::PendingWrite;
use super::run::Run;

impl Run {
    /// Writes a draft. If the draft need not be durable immediately, returns as soon as the draft is queued. If a
    /// queued draft fails, every later write of the job fails too.
    pub(crate) async fn write(self: &Arc<Self>, draft: Draft) -> Result<(), RunAborted> {
        if draft.is_empty() {
            return Ok(());
        }
        if self.worker.parts.settings.staged {
            return self.write_staged(draft).await;
        }
        self.write_batch(draft).await
    }

    pub(crate) async fn write_batch(self: &Arc<Self>, draft: Draft) -> Result<(), RunAborted> {
        let notifier = self.worker.parts.notifier.as_ref();
        let (number, written, durable) = {
            let mut state = self.state();
            let mut batch = state.durable.seal(draft, self.machine().now_us())?;
            if self.flush_every_write.load(Ordering::Relaxed) {
                batch.flush = Flush::Now;
                // A batch that completes a step or a call shows that this attempt has passed the point at
                // which the previous attempt died.
                let ends = batch.events.iter().any(|event| event.body.is_completion());
                self.flush_every_write.store(!ends, Ordering::Relaxed);
            }
            if batch.attempt != self.attempt {
                return Err(RunAborted::LeaseLost);
            }
            let notices = notifier.map(|_| notice::notices(&state.durable.job, &batch.events)).unwrap_or_default();
            // Events must be durable before a notification about them is sent.
            let now = batch.flush == Flush::Now || !notices.is_empty();
            let events = if self.live_view.is_some() { batch.events.clone() } else { Vec::new() };
            (self.deferred_writes.next_number(), self.enqueue(batch), (now, events, notices))
        };
        let (now, events, notices) = durable;
        let result: Result<(), RunAborted> = match (&self.live_view, now) {
            (None, true) => written.await.map_err(Into::into),
            // The writer commits this batch with the next flush. No caller waits for the commit.
            (None, false) => {
                self.deferred_writes.add(number, written);
                Ok(())
            }
            (Some(shown), now) => match shown.forward(number, written, events, now).await {
                Ok(result) => result.map_err(Into::into),
                Err(stopped) => Err(stopped.into()),
            },
        };
        if let Err(aborted) = result {
            return Err(self.deferred_writes.first_error_before(number).map_or(aborted, Into::into));
        }
        if let Some(notifier) = notifier {
            notifier.enqueue(notices);
        }
        Ok(())
    }

    /// Sends the batch to the store and returns the pending result. The first poll places the batch in the
    /// store's queue, before any later write of this job.
    fn enqueue(&self, batch: Batch) -> PendingWrite {
        let journal = self.worker.parts.journal.clone();
        let mut written: PendingWrite = Box::pin(async move { journal.write(batch).await });
        match written.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => Box::pin(std::future::ready(result)),
            Poll::Pending => written,
        }
    }

    /// Writes effect, events and ledger row as separate writes, each durable before the next. Two kinds of draft are a
    /// single write: a draft marked `atomic`, and a barrier. The barrier permits a call and records it, and a crash
    /// must not separate the permission from the record.
    async fn write_staged(self: &Arc<Self>, draft: Draft) -> Result<(), RunAborted> {
        if draft.kind.starts_calls() {
            // The effects of the draft are left out. Such an effect exists only if this try repeats a try in doubt. The
            // effect would take the place of the answer of the try in doubt. In staged commit, the effect cannot be
            // part of the barrier's transaction.
            //
            // An effect that is written alone would count as the answer when a person resolves the call later. Without
            // the effect, a late answer of the try in doubt is kept as evidence.
            return self.write_batch(Draft { effects: Vec::new(), flush_now: true, ..draft }).await;
        }
        if draft.atomic {
            // The effect of the verdict takes the place of the answer of the try in doubt, so it is stored first. The
            // effect store accepts either the verdict or a late answer, never both.
            if !draft.effects.is_empty() {
                self.worker.parts.effects.put(&self.job_id, &draft.effects).await?;
                self.state().durable.add_effects(&draft.effects);
            }
            return self.write_batch(Draft { effects: Vec::new(), flush_now: true, ..draft }).await;
        }
        let Draft { effects, ledger, actions, .. } = draft.clone();
        if !effects.is_empty() {
            self.worker.parts.effects.put(&self.job_id, &effects).await?;
            self.state().durable.add_effects(&effects);
        }
        let rows_change_alone = draft.events.is_empty();
        let first = if rows_change_alone {
            Draft { effects: Vec::new(), flush_now: true, ..draft }
        } else {
            Draft { effects: Vec::new(), ledger: Vec::new(), actions: Vec::new(), flush_now: true, ..draft }
        };
        self.write_batch(first).await?;
        let rows_follow = !(ledger.is_empty() && actions.is_empty());
        if rows_follow && !rows_change_alone {
            self.write_batch(Draft { ledger, actions, flush_now: true, ..Draft::default() }).await?;
        }
        Ok(())
    }
}
