//! Live view of a job: shows events, log records and calls to the observer, in order, once they are durable.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tracing::Level;

use latchwork_core::event::Event;
use latchwork_core::model::ids::{JobId, Operator, Slot};
use latchwork_core::storage::WriteError;

use super::deferred_writes::{DeferredWrites, PendingWrite};
use crate::runtime::worker::Observer;

/// Shows events to the observer in order, once they are durable.
pub(crate) struct LiveView {
    queue: mpsc::UnboundedSender<ViewItem>,
}

/// The task of the live view has ended.
#[derive(Debug)]
pub(crate) struct LiveViewStopped;

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
    pub(crate) fn start(job_id: JobId, observer: Arc<dyn Observer>, lingering: Arc<DeferredWrites>) -> Self {
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
                    // The task that waited for this result may have been dropped. The result is then not needed.
                    (Some(done), result) => drop(done.send(result)),
                    (None, Err(error)) => lingering.note_failure(number, error),
                    (None, Ok(())) => {}
                }
            }
        });
        Self { queue }
    }

    /// Queues a guest's log record behind all earlier writes of the job.
    pub(crate) fn queue_log(&self, place: &str, level: Level, message: &str) {
        let record = ViewItem::Log { place: place.to_owned(), level, message: message.to_owned() };
        // If the live view has stopped, the record is discarded.
        let _ = self.queue.send(record);
    }

    /// Queues the start of a call for display, behind all earlier writes of the job. The live view therefore shows the
    /// start only when everything that the call depends on is durable.
    pub(crate) fn queue_call(&self, slot: Slot, operator: Operator) {
        // If the live view has stopped, the call is not shown.
        let _ = self.queue.send(ViewItem::Call { slot, operator });
    }

    /// Queues the events of a write behind all earlier writes of the job. If `wait` is true, waits for the write and
    /// returns its result.
    pub(crate) async fn forward(
        &self,
        number: u64,
        written: PendingWrite,
        events: Vec<Event>,
        wait: bool,
    ) -> Result<Result<(), WriteError>, LiveViewStopped> {
        let (done, waiting) = oneshot::channel();
        let pending = ViewItem::Events { number, written, events, done: wait.then_some(done) };
        if self.queue.send(pending).is_err() {
            return Err(LiveViewStopped);
        }
        if !wait {
            return Ok(Ok(()));
        }
        waiting.await.map_err(|_| LiveViewStopped)
    }
}
