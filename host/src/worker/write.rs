//! Drafts become batches: sealed in order under the job's lock, queued at once, awaited outside.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use latchwork_core::effect::{Answer, Effect};
use latchwork_core::event::Event;
use latchwork_core::ids::{JobId, Operator, Slot};
use latchwork_core::notice;
use latchwork_core::state::Draft;
use latchwork_core::storage::{Batch, Flush, InboxError, Request, StoreError, WriteError};
use tokio::sync::{mpsc, oneshot};
use tracing::Level;

use super::lingering::Lingering;
use super::observe::Observer;
use super::run::{Dropped, Run};

/// How long an answer that cannot be recorded is kept where a person waits for the job.
const PATIENCE_WATCHED: Duration = Duration::from_secs(20);
/// The same of a worker that nobody waits for.
const PATIENCE: Duration = Duration::from_secs(600);
/// The first and the longest pause between two tries.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

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
            let mut batch = state.durable.seal(draft, self.machine().now_us())?;
            if self.is_careful.load(Ordering::Relaxed) {
                batch.flush = Flush::Now;
                // It has come further than what may have ended the one before.
                let ends = batch.events.iter().any(|event| event.body.ends_something());
                self.is_careful.store(!ends, Ordering::Relaxed);
            }
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

    /// Announces a call that begins. The barrier of one that may change the world is durable before.
    pub(super) fn announce_call(&self, slot: &Slot, operator: &Operator) {
        if let Some(shown) = &self.shown {
            shown.call(slot.clone(), operator.clone());
        }
    }

    /// The answer of a call, where it could not be recorded together with its events. Others may have gone on with the
    /// job meanwhile: they are told.
    pub(super) async fn keep(&self, effect: &Effect) {
        if !effect.is_news() {
            return;
        }
        let until_us = self.patient_until_us();
        let put = self.put_away(effect, until_us).await;
        if let Err(error) = &put {
            tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "an answer could not be recorded");
        }
        // Who claims the job from here on finds the answer; who did before, and looked for it, does not. However short
        // it seemed, the writes may have taken longer than the lease.
        if is_to_be_told(effect, &put) && self.is_overtaken(until_us).await {
            self.tell_late(effect, until_us).await;
        }
    }

    /// The answer of a call whose job this worker has lost: recorded all the same, and told to
    /// whoever holds the job now.
    pub(super) async fn record_late(&self, effect: &Effect) {
        if !effect.is_news() {
            return;
        }
        let until_us = self.patient_until_us();
        let put = self.put_away(effect, until_us).await;
        if let Err(error) = &put {
            tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "a late answer could not be recorded");
        }
        if is_to_be_told(effect, &put) {
            self.tell_late(effect, until_us).await;
        }
    }

    /// How long an answer in hand is worth waiting for, on the boot-time clock.
    fn patient_until_us(&self) -> u64 {
        let patience = if self.observer.watches() { PATIENCE_WATCHED } else { PATIENCE };
        self.machine().boot_us() + patience.as_micros() as u64
    }

    /// Puts an answer into the effect store, which asks for no claim; one that cannot be written to now is tried again,
    /// because no other process has the answer.
    async fn put_away(&self, effect: &Effect, until_us: u64) -> Result<(), WriteError> {
        let (mut again, mut pause) = (false, AGAIN.0);
        loop {
            let put = self.worker.parts.effects.put(&self.job_id, std::slice::from_ref(effect)).await;
            match put {
                Err(error @ (WriteError::Unavailable(_) | WriteError::Unknown(_)))
                    if self.machine().boot_us() < until_us =>
                {
                    if !again {
                        tracing::warn!(job_id = %self.job_id, slot = %effect.slot, %error, "an answer cannot be recorded now; it \
                            is kept, and tried again");
                    }
                    again = true;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(AGAIN.1);
                }
                ended => return ended,
            }
        }
    }

    /// Whether another attempt has the job; where that cannot be found out, it may.
    async fn is_overtaken(&self, until_us: u64) -> bool {
        loop {
            match self.worker.parts.journal.job(&self.job_id).await {
                Ok(row) => return row.is_none_or(|row| row.attempt != self.attempt),
                Err(StoreError::Unavailable(_)) if self.machine().boot_us() < until_us => {}
                Err(_) => return true,
            }
            tokio::time::sleep(AGAIN.1).await;
        }
    }

    /// Tells whoever has the job that an answer is there.
    async fn tell_late(&self, effect: &Effect, until_us: u64) {
        let parts = &self.worker.parts;
        let told = loop {
            let request = Request::LateEffect { slot: effect.slot.clone(), try_no: effect.try_no };
            let worker = &parts.owner.worker;
            match parts.journal.put_inbox(&self.job_id, worker, Some("late answer"), request).await {
                Err(InboxError::Store(StoreError::Unavailable(_))) if self.machine().boot_us() < until_us => {
                    tokio::time::sleep(AGAIN.1).await;
                }
                told => break told,
            }
        };
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

/// Whether an answer that came late says something. Where it could not be put away, somebody has decided meanwhile: a
/// result contradicts that the call did not happen, and the job has to hear of it; that nothing was done contradicts
/// nothing.
fn is_to_be_told(effect: &Effect, put: &Result<(), WriteError>) -> bool {
    put.is_ok() || matches!(effect.answer, Answer::Ok(_))
}

/// Shows events once they are durable, in their order.
pub(super) struct Shown {
    queue: mpsc::UnboundedSender<Pending>,
}

enum Pending {
    Events { number: u64, written: Written, events: Vec<Event>, done: Option<oneshot::Sender<Result<(), WriteError>>> },
    Log { place: String, level: Level, message: String },
    Call { slot: Slot, operator: Operator },
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
                    Pending::Call { slot, operator } => {
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

    /// A call that begins, behind everything that was written before it: what it depends on is durable when it is
    /// shown.
    fn call(&self, slot: Slot, operator: Operator) {
        // Where the view has stopped, there is no reader.
        let _ = self.queue.send(Pending::Call { slot, operator });
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
