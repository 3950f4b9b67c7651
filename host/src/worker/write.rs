//! Drafts become batches: sealed in order under the job's lock, queued at once, awaited outside.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use latchwork_core::effect::Answer;
use latchwork_core::event::Event;
use latchwork_core::ids::JobId;
use latchwork_core::notice;
use latchwork_core::state::Draft;
use latchwork_core::storage::{Batch, Flush, Request, WriteError};
use tokio::sync::{mpsc, oneshot};
use tracing::Level;

use super::lingering::Lingering;
use super::observe::Observer;
use super::run::{Dropped, Run};

pub(super) type Written = Pin<Box<dyn Future<Output = Result<(), WriteError>> + Send>>;

impl Run {
    /// Writes a draft. One that need not be durable at once returns as soon as it is queued;
    /// should it fail, every later write of the job fails too.
    pub(super) async fn write(self: &Arc<Self>, draft: Draft) -> Result<(), Dropped> {
        if draft.is_empty() {
            return Ok(());
        }
        if self.worker.parts.settings.staged {
            return self.write_staged(draft).await;
        }
        self.write_batch(draft).await
    }

    pub(super) async fn write_batch(self: &Arc<Self>, draft: Draft) -> Result<(), Dropped> {
        let notifier = self.worker.parts.notifier.as_ref();
        let (number, written, durable) = {
            let mut state = self.state();
            let batch = state.durable.seal(draft, self.machine().now_us())?;
            if batch.attempt != self.attempt {
                return Err(Dropped::Lost);
            }
            let notices = notifier.map(|_| notice::notices(&state.durable.job, &batch.events)).unwrap_or_default();
            // What somebody is told is durable first.
            let now = batch.flush == Flush::Now || !notices.is_empty();
            let events = if self.shown.is_some() { batch.events.clone() } else { Vec::new() };
            (self.lingering.number(), self.queue(batch), (now, events, notices))
        };
        let (now, events, notices) = durable;
        let result = match (&self.shown, now) {
            (None, true) => written.await,
            // The writer takes it along with the next flush; nobody waits.
            (None, false) => {
                self.lingering.add(number, written);
                Ok(())
            }
            (Some(shown), now) => shown.follow(number, written, events, now).await,
        };
        if let Err(error) = result {
            return Err(self.lingering.failure_before(number).unwrap_or(error).into());
        }
        if let Some(notifier) = notifier {
            notifier.tell(notices);
        }
        Ok(())
    }

    /// Takes the batch's place in the writer's queue before anything else of this job can.
    fn queue(&self, batch: Batch) -> Written {
        let journal = self.worker.parts.journal.clone();
        let mut written: Written = Box::pin(async move { journal.write(batch).await });
        match written.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => Box::pin(std::future::ready(result)),
            Poll::Pending => written,
        }
    }

    /// Effect, then events, then ledger row: each durable before the next. A barrier stays one
    /// fenced write, because permission and record of it must not come apart; so does what says it must.
    async fn write_staged(self: &Arc<Self>, draft: Draft) -> Result<(), Dropped> {
        if draft.acquire {
            // A repeat claims the doubtful try's effect only together with its barrier: a claim that
            // stood alone would be taken for the answer of a person's later word. Here it cannot, so a
            // late answer of the repeated try is kept as evidence beside it.
            return self.write_batch(Draft { effects: Vec::new(), flush_now: true, ..draft }).await;
        }
        if draft.whole {
            // A verdict claims the doubtful try's effect first: only one of verdict and late answer wins.
            self.worker.parts.effects.put(&self.job_id, &draft.effects).await?;
            let effects = draft.effects.clone();
            self.state().durable.take_effects(&effects);
            return self.write_batch(Draft { effects: Vec::new(), flush_now: true, ..draft }).await;
        }
        let Draft { effects, ledger, actions, .. } = draft.clone();
        if !effects.is_empty() {
            self.worker.parts.effects.put(&self.job_id, &effects).await?;
            self.state().durable.take_effects(&effects);
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

    /// A step's log record: shown in its place among the events.
    pub(super) fn log(&self, place: &str, level: Level, message: &str) {
        match &self.shown {
            Some(shown) => shown.log(place, level, message),
            None => self.observer.log(&self.job_id, place, level, message),
        }
    }

    /// The answer of a call, where it could not be recorded together with its events.
    pub(super) async fn keep(&self, effect: &latchwork_core::effect::Effect) {
        if !effect.is_news() {
            return;
        }
        let put = self.worker.parts.effects.put(&self.job_id, std::slice::from_ref(effect)).await;
        if let Err(error) = put {
            tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "an answer could not be recorded");
        }
    }

    /// The answer of a call whose job this worker has lost: recorded all the same, and told to
    /// whoever holds the job now.
    pub(super) async fn record_late(&self, effect: &latchwork_core::effect::Effect) {
        if !effect.is_news() {
            return;
        }
        let parts = &self.worker.parts;
        let put = parts.effects.put(&self.job_id, std::slice::from_ref(effect)).await;
        if let Err(error) = put {
            tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "a late answer could not be recorded");
            // Somebody has decided meanwhile. A result contradicts that the call did not happen, and the
            // job has to hear of it; that nothing was done contradicts nothing.
            if !matches!(effect.answer, Answer::Ok(_)) {
                return;
            }
        }
        let request = Request::LateEffect { slot: effect.slot.clone(), try_no: effect.try_no };
        let told = parts.journal.put_inbox(&self.job_id, &parts.owner.worker, Some("late answer"), request).await;
        if let Err(error) = told {
            tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "nobody could be told of a late answer");
            return;
        }
        // Whoever holds the job hears of it; where it is over, nobody does.
        if let Err(error) = super::audit(&*parts.journal, &*parts.effects, self.machine(), &self.job_id).await {
            tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "a late answer is in the inbox alone");
        }
    }
}

/// Shows events once they are durable, in their order.
pub(super) struct Shown {
    queue: mpsc::UnboundedSender<Pending>,
}

enum Pending {
    Events { number: u64, written: Written, events: Vec<Event>, done: Option<oneshot::Sender<Result<(), WriteError>>> },
    Log { place: String, level: Level, message: String },
}

impl Shown {
    pub(super) fn start(job_id: JobId, observer: Arc<dyn Observer>, lingering: Arc<Lingering>) -> Self {
        let (queue, mut pending) = mpsc::unbounded_channel::<Pending>();
        tokio::spawn(async move {
            while let Some(next) = pending.recv().await {
                let (number, written, events, done) = match next {
                    Pending::Events { number, written, events, done } => (number, written, events, done),
                    Pending::Log { place, level, message } => {
                        observer.log(&job_id, &place, level, &message);
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
                    // The one who waited may be gone; nothing is lost by that.
                    (Some(done), result) => drop(done.send(result)),
                    (None, Err(error)) => lingering.failed(number, error),
                    (None, Ok(())) => {}
                }
            }
        });
        Self { queue }
    }

    /// A guest's log record, behind everything that was written before it.
    fn log(&self, place: &str, level: Level, message: &str) {
        let record = Pending::Log { place: place.to_owned(), level, message: message.to_owned() };
        // Where the view has stopped, nobody reads.
        let _ = self.queue.send(record);
    }

    async fn follow(&self, number: u64, written: Written, events: Vec<Event>, wait: bool) -> Result<(), WriteError> {
        let (done, waiting) = oneshot::channel();
        let pending = Pending::Events { number, written, events, done: wait.then_some(done) };
        if self.queue.send(pending).is_err() {
            return Err(WriteError::Broken("the live view stopped".to_owned()));
        }
        if !wait {
            return Ok(());
        }
        waiting.await.unwrap_or_else(|_| Err(WriteError::Broken("the live view stopped".to_owned())))
    }
}
