//! Turns drafts into batches. Batches are sealed and queued in order while the job's state is locked. Their
//! results are awaited without the lock.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tracing::Level;

use latchwork_core::event::Event;
use latchwork_core::model::effect::{Answer, Effect};
use latchwork_core::model::ids::{JobId, Operator, Slot};
use latchwork_core::response::notice;
use latchwork_core::state::Draft;
use latchwork_core::storage::{Batch, Flush, InboxError, InboxRequest, StoreError, WriteError};

use super::observe::Observer;
use super::run::{Run, RunAborted};
use crate::worker::deferred_writes::DeferredWrites;

/// Time for which the worker retries to record an answer if a user watches the job.
const RECORD_TIMEOUT_WATCHED: Duration = Duration::from_secs(20);
/// Time for which the worker retries to record an answer if no user watches the job.
const RECORD_TIMEOUT: Duration = Duration::from_secs(600);
/// First and longest pause between two tries to record an answer.
const RETRY_PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

pub(super) type PendingWrite = Pin<Box<dyn Future<Output = Result<(), WriteError>> + Send>>;

impl Run {
    /// Writes a draft. If the draft need not be durable immediately, returns as soon as the draft is queued. If a
    /// queued draft fails, every later write of the job fails too.
    pub(super) async fn write(self: &Arc<Self>, draft: Draft) -> Result<(), RunAborted> {
        if draft.is_empty() {
            return Ok(());
        }
        if self.worker.parts.settings.staged {
            return self.write_staged(draft).await;
        }
        self.write_batch(draft).await
    }

    pub(super) async fn write_batch(self: &Arc<Self>, draft: Draft) -> Result<(), RunAborted> {
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
        let result = match (&self.live_view, now) {
            (None, true) => written.await,
            // The writer commits this batch with the next flush. No caller waits for the commit.
            (None, false) => {
                self.deferred_writes.add(number, written);
                Ok(())
            }
            (Some(shown), now) => shown.forward(number, written, events, now).await,
        };
        if let Err(error) = result {
            return Err(self.deferred_writes.first_error_before(number).unwrap_or(error).into());
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

    /// Writes effect, events and ledger row as separate writes, each durable before the next. A barrier is one
    /// fenced write, because the permission for a call and its record must not be separated. A draft marked
    /// `atomic` is also one write.
    async fn write_staged(self: &Arc<Self>, draft: Draft) -> Result<(), RunAborted> {
        if draft.kind.starts_calls() {
            // If this try repeats a try in doubt, the draft may contain an effect that takes the place of the answer of
            // the try in doubt. In staged commit this effect cannot be part of the barrier's transaction. The effect is
            // therefore left out.
            //
            // An effect that is written alone would count as the answer if a person resolved the call later. Without
            // the effect, a late answer of the try in doubt is kept as evidence.
            return self.write_batch(Draft { effects: Vec::new(), flush_now: true, ..draft }).await;
        }
        if draft.atomic {
            // Store the effect of the verdict first, in place of the answer of the try in doubt. The effect
            // store accepts either the verdict or a late answer, never both.
            self.worker.parts.effects.put(&self.job_id, &draft.effects).await?;
            let effects = draft.effects.clone();
            self.state().durable.add_effects(&effects);
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

    /// Passes a log record of a guest to the observer, after the events that were written before the record.
    pub(super) fn log(&self, place: &str, level: Level, message: &str) {
        match &self.live_view {
            Some(shown) => shown.queue_log(place, level, message),
            None => self.observer.log(&self.job_id, place, level, message),
        }
    }

    /// Shows in the live view that a call begins. The barrier of a world-changing call is already durable.
    pub(super) fn announce_call(&self, slot: &Slot, operator: &Operator) {
        if let Some(shown) = &self.live_view {
            shown.queue_call(slot.clone(), operator.clone());
        }
    }

    /// Stores the answer of a call alone, after the write of the answer together with its events has failed.
    /// Notifies the new lease holder if another attempt has claimed the job meanwhile.
    pub(super) async fn persist_answer(&self, effect: &Effect) {
        if !effect.is_informative() {
            return;
        }
        let until_us = self.record_deadline_us();
        let put = self.store_effect(effect, until_us).await;
        if let Err(error) = &put {
            tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "gave up recording an answer");
        }
        // If another attempt claimed the job and read the effects before this write, that attempt has not seen the
        // answer. This is possible even if the write succeeded, because the write may have taken longer than the lease.
        if must_notify(effect, &put) && self.is_superseded(until_us).await {
            self.notify_late_answer(effect, until_us).await;
        }
    }

    /// Records the answer of a call whose job this worker has lost, and notifies the new lease holder.
    pub(super) async fn record_late_answer(&self, effect: &Effect) {
        if !effect.is_informative() {
            return;
        }
        let until_us = self.record_deadline_us();
        let put = self.store_effect(effect, until_us).await;
        if let Err(error) = &put {
            tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "gave up recording a late answer");
        }
        if must_notify(effect, &put) {
            self.notify_late_answer(effect, until_us).await;
        }
    }

    /// Returns the boot-clock time until which the worker retries to record an answer, in microseconds.
    fn record_deadline_us(&self) -> u64 {
        let patience = if self.observer.is_watching() { RECORD_TIMEOUT_WATCHED } else { RECORD_TIMEOUT };
        self.machine().boot_us() + patience.as_micros() as u64
    }

    /// Puts an answer into the effect store. This write requires no claim. Retries while the store is unavailable,
    /// because no other process has the answer.
    async fn store_effect(&self, effect: &Effect, until_us: u64) -> Result<(), WriteError> {
        let (mut again, mut pause) = (false, RETRY_PAUSES.0);
        loop {
            let put = self.worker.parts.effects.put(&self.job_id, std::slice::from_ref(effect)).await;
            match put {
                Err(error @ (WriteError::Unavailable(_) | WriteError::Unknown(_)))
                    if self.machine().boot_us() < until_us =>
                {
                    if !again {
                        tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "cannot record an answer now; keeping it and \
                            retrying");
                    }
                    again = true;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(RETRY_PAUSES.1);
                }
                ended => return ended,
            }
        }
    }

    /// Returns true if another attempt has claimed the job, or if the current attempt cannot be determined.
    async fn is_superseded(&self, until_us: u64) -> bool {
        loop {
            match self.worker.parts.journal.job(&self.job_id).await {
                Ok(row) => return row.is_none_or(|row| row.attempt != self.attempt),
                Err(StoreError::Unavailable(_)) if self.machine().boot_us() < until_us => {}
                Err(_) => return true,
            }
            tokio::time::sleep(RETRY_PAUSES.1).await;
        }
    }

    /// Puts a request about the late answer into the job's inbox.
    async fn notify_late_answer(&self, effect: &Effect, until_us: u64) {
        let parts = &self.worker.parts;
        let told = loop {
            let request = InboxRequest::LateEffect { slot: effect.slot.clone(), try_no: effect.try_no };
            let worker = &parts.owner.worker;
            match parts.journal.put_inbox(&self.job_id, worker, Some("late answer"), request).await {
                Err(InboxError::Store(StoreError::Unavailable(_))) if self.machine().boot_us() < until_us => {
                    tokio::time::sleep(RETRY_PAUSES.1).await;
                }
                told => break told,
            }
        };
        if let Err(error) = told {
            tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "cannot notify the job of a late answer");
            return;
        }
        // The lease holder processes the request. A finished job has no lease holder, so its inbox is drained
        // here.
        if let Err(error) =
            super::audit_finished_inbox(&*parts.journal, &*parts.effects, self.machine(), &self.job_id).await
        {
            tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "a late answer is in the inbox but not in the log");
        }
    }
}

/// Returns true if the job must be notified of a late answer.
///
/// A stored answer is always reported. If an answer could not be stored, the effect store usually contains a verdict
/// about the call. A result may contradict the verdict that the call did not happen. The job must record this conflict.
/// An answer without a result contradicts no verdict.
fn must_notify(effect: &Effect, put: &Result<(), WriteError>) -> bool {
    put.is_ok() || matches!(effect.answer, Answer::Ok(_))
}

/// Shows events to the observer in order, once they are durable.
pub(super) struct LiveView {
    queue: mpsc::UnboundedSender<ViewItem>,
}

enum ViewItem {
    Events {
        number: u64,
        written: PendingWrite,
        events: Vec<Event>,
        done: Option<oneshot::Sender<Result<(), WriteError>>>,
    },
    Log {
        place: String,
        level: Level,
        message: String,
    },
    Call {
        slot: Slot,
        operator: Operator,
    },
}

impl LiveView {
    pub(super) fn start(job_id: JobId, observer: Arc<dyn Observer>, lingering: Arc<DeferredWrites>) -> Self {
        let (queue, mut pending) = mpsc::unbounded_channel::<ViewItem>();
        tokio::spawn(async move {
            while let Some(next) = pending.recv().await {
                let (number, written, events, done) = match next {
                    ViewItem::Events { number, written, events, done } => (number, written, events, done),
                    ViewItem::Log { place, level, message } => {
                        observer.log(&job_id, &place, level, &message);
                        continue;
                    }
                    ViewItem::Call { slot, operator } => {
                        observer.call(&job_id, &slot, &operator);
                        continue;
                    }
                };
                let result = written.await;
                if result.is_ok() {
                    for event in &events {
                        observer.event(&job_id, event);
                    }
                }
                match (done, result) {
                    // The waiting task may have been dropped. The result is then not needed.
                    (Some(done), result) => drop(done.send(result)),
                    (None, Err(error)) => lingering.note_failure(number, error),
                    (None, Ok(())) => {}
                }
            }
        });
        Self { queue }
    }

    /// Queues a guest's log record behind all earlier writes of the job.
    fn queue_log(&self, place: &str, level: Level, message: &str) {
        let record = ViewItem::Log { place: place.to_owned(), level, message: message.to_owned() };
        // If the live view has stopped, the record is discarded.
        let _ = self.queue.send(record);
    }

    /// Queues the start of a call for display, behind all earlier writes of the job. Everything that the call
    /// depends on is therefore durable when the start is shown.
    fn queue_call(&self, slot: Slot, operator: Operator) {
        // If the live view has stopped, the call is not shown.
        let _ = self.queue.send(ViewItem::Call { slot, operator });
    }

    async fn forward(
        &self,
        number: u64,
        written: PendingWrite,
        events: Vec<Event>,
        wait: bool,
    ) -> Result<(), WriteError> {
        let (done, waiting) = oneshot::channel();
        let pending = ViewItem::Events { number, written, events, done: wait.then_some(done) };
        if self.queue.send(pending).is_err() {
            return Err(WriteError::Defect("the live view stopped".to_owned()));
        }
        if !wait {
            return Ok(());
        }
        waiting.await.unwrap_or_else(|_| Err(WriteError::Defect("the live view stopped".to_owned())))
    }
}
