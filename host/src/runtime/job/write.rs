//! Turns drafts into batches. Batches are sealed and queued in order while the job's state is locked. Their
//! results are awaited without the lock.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use latchwork_core::response::notice;
use latchwork_core::storage::{Batch, BatchKind, Draft, Record};

use super::aborted::RunAborted;
use super::deferred_writes::PendingWrite;
use super::run::Run;

impl Run {
    /// Writes a draft. If the draft need not be durable immediately, returns as soon as the draft is queued. If a
    /// queued draft fails, every later write of the job fails too.
    pub(crate) async fn write(self: &Arc<Self>, draft: impl Into<Draft<BatchKind>>) -> Result<(), RunAborted> {
        let draft = draft.into();
        if draft.is_empty() && matches!(draft.kind, BatchKind::Record(_)) {
            return Ok(());
        }
        if self.worker.parts.settings.staged {
            return self.write_staged(draft).await;
        }
        self.write_batch(draft).await
    }

    async fn write_batch(self: &Arc<Self>, draft: Draft<BatchKind>) -> Result<(), RunAborted> {
        let notifier = self.worker.parts.notifier.as_ref();
        let (number, written, durable) = {
            let mut state = self.state();
            // A later attempt has written to the log.
            if state.durable.job.attempt > self.attempt {
                return Err(RunAborted::LeaseLost);
            }
            let mut batch = state.durable.seal(self.attempt, draft, self.machine().now_us())?;
            if self.flush_every_write.load(Ordering::Relaxed) {
                batch.writes.kind.flush();
                // A batch that completes a step or a call shows that this attempt has passed the point at
                // which the previous attempt died.
                let ends = batch.writes.events.iter().any(|event| event.body.is_completion());
                self.flush_every_write.store(!ends, Ordering::Relaxed);
            }
            let notices =
                notifier.map(|_| notice::notices(&state.durable.job, &batch.writes.events)).unwrap_or_default();
            // Events must be durable before a notification about them is sent.
            let now = !batch.writes.lingers() || !notices.is_empty();
            let events = if self.live_view.is_some() { batch.writes.events.clone() } else { Vec::new() };
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
            (Some(live_view), now) => match live_view.forward(number, written, events, now).await {
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

    /// Writes a draft without lingering. If the draft is a record that may be divided, its effects, its events and its
    /// ledger rows are separate writes. Each of these writes is durable before the next write. A barrier is one fenced
    /// write, because the permission for a call and the record of the permission must not be separated.
    async fn write_staged(self: &Arc<Self>, mut draft: Draft<BatchKind>) -> Result<(), RunAborted> {
        draft.kind.flush();
        let effects = std::mem::take(&mut draft.effects);
        // If this try repeats a try in doubt, the barrier may contain an effect that takes the place of the answer of
        // the try in doubt. In staged commit this effect cannot be part of the barrier's transaction. The effect is
        // therefore left out.
        //
        // An effect that is written alone would count as the answer if a person resolved the call later. Without
        // the effect, a late answer of the try in doubt is kept as evidence.
        if !effects.is_empty() && !draft.kind.starts_calls() {
            // The effect of a verdict is also stored before the verdict itself is written. This effect takes the place
            // of the answer of the try in doubt. The effect store accepts either the effect of the verdict or a late
            // answer, never both.
            self.worker.parts.effects.put(&self.job_id, &effects).await?;
            self.state().durable.add_effects(&effects);
        }
        // A draft that may not be divided, or that has no events, is one write.
        if !draft.kind.divides() || draft.events.is_empty() {
            return self.write_batch(draft).await;
        }
        let (ledger, actions) = (std::mem::take(&mut draft.ledger), std::mem::take(&mut draft.actions));
        self.write_batch(draft).await?;
        if ledger.is_empty() && actions.is_empty() {
            return Ok(());
        }
        self.write_batch(Draft { ledger, actions, kind: BatchKind::Record(Record::Flush), ..Draft::default() }).await
    }
}
