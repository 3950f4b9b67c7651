//! Sending side of the queue of the group-commit writer. The task that processes the queue is in
//! [`crate::write::commit`].

use std::sync::Mutex;

use tokio::sync::{mpsc, oneshot};

use latchwork_core::storage::{Batch, WriteError};

use crate::sql::error::{WriteFailure, closed_error};
use crate::transaction::work::TransactionPart;
use crate::write::commit::WriterTask;
use crate::write::queue::{QueuedPart, WorkTicket};

/// Sending side of the writer's queue.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::UnboundedSender<QueuedPart>,
}

impl Writer {
    /// Starts the writer's task.
    pub(crate) fn start(make: impl FnOnce(mpsc::UnboundedReceiver<QueuedPart>) -> WriterTask) -> Self {
        let (queue, parts) = mpsc::unbounded_channel();
        tokio::spawn(make(parts).run());
        Self { queue }
    }

    /// Queues a batch and waits for its result.
    ///
    /// The channel is unbounded, so the batch enters the queue at the first poll. In a bounded channel, a task that has
    /// used up its cooperative budget of Tokio would have to wait. Batches of later polls would then overtake its
    /// batch. The channel needs no bound, because the events and calls of a job's steps are limited.
    pub(crate) async fn batch(&self, batch: Batch) -> Result<(), WriteError> {
        let (reply, answer) = oneshot::channel();
        let part = QueuedPart::Batch { batch: Box::new(batch), outcome: None, reply };
        self.queue.send(part).map_err(|_| WriteError::from(closed_error()))?;
        answer.await.map_err(|_| WriteError::Unknown("the writer ended".to_owned()))?
    }

    /// Queues other work.
    pub(crate) async fn work<W: TransactionPart>(&self, work: W) -> Result<W::Output, WriteFailure> {
        let (reply, answer) = oneshot::channel();
        let order = WorkTicket { work, outcome: Mutex::new(None), reply };
        self.queue.send(QueuedPart::Work(Box::new(order))).map_err(|_| WriteFailure::Store(closed_error()))?;
        answer.await.map_err(|_| WriteFailure::Unknown("the writer ended".to_owned()))?
    }

    /// Writes everything that is queued and closes the connection.
    pub(crate) async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        if self.queue.send(QueuedPart::Close(reply)).is_ok() {
            let _ = closed.await;
        }
    }
}
