//! Queued parts of a group, and the outcome of their transaction.

use std::sync::Mutex;

use async_trait::async_trait;
use tokio::sync::oneshot;

use latchwork_core::model::ids::JobId;
use latchwork_core::storage::{Batch, StoreError, WriteError};

use crate::sql::error::{TransactionFailure, WriteFailure};
use crate::transaction::tx::Tx;
use crate::transaction::work::TransactionPart;

/// One queued part of a group. A group is the work that the writer commits in one transaction.
pub(crate) enum QueuedPart {
    /// A batch.
    Batch {
        /// The batch to write.
        batch: Box<Batch>,
        /// Result of the admission: `Ok` if the batch is part of the transaction, and an error if the batch was
        /// refused. `None` until the batch was decided.
        outcome: Option<Result<(), WriteError>>,
        /// Channel to the caller.
        reply: oneshot::Sender<Result<(), WriteError>>,
    },
    /// Work other than a batch.
    Work(Box<dyn QueuedWork>),
    /// Request to write everything queued before, then end.
    Close(oneshot::Sender<()>),
}

impl QueuedPart {
    /// Returns true if something outside the database happens once this part is durable. Either a call begins, or a
    /// caller gets the confirmation that its job or its request is stored.
    pub(crate) fn is_externally_visible(&self) -> bool {
        match self {
            Self::Batch { batch, .. } => batch.writes.kind.starts_calls(),
            Self::Work(ticket) => ticket.needs_marker(),
            Self::Close(_) => false,
        }
    }

    /// Returns true if the event logs alone do not prove that this part was committed. Its transaction then also writes
    /// a commit marker as proof.
    pub(crate) fn needs_marker(&self) -> bool {
        match self {
            Self::Batch { batch, .. } => batch.writes.events.is_empty(),
            Self::Work(ticket) => ticket.needs_marker(),
            Self::Close(_) => false,
        }
    }

    /// Returns true if the part starts a call, claims jobs, extends leases or fires timers.
    pub(crate) fn starts_work(&self) -> bool {
        match self {
            Self::Batch { batch, .. } => batch.writes.kind.starts_calls(),
            Self::Work(ticket) => ticket.starts_work(),
            Self::Close(_) => false,
        }
    }
}

/// A [`TransactionPart`] together with its outcome and the channel to its caller.
#[async_trait]
pub(crate) trait QueuedWork: Send + Sync {
    fn starts_work(&self) -> bool;
    fn jobs(&self) -> Vec<JobId>;
    fn lock_numbers(&self) -> Vec<i64>;
    fn needs_marker(&self) -> bool;
    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), TransactionFailure>;
    fn answer(self: Box<Self>, fate: &TransactionOutcome);
}

/// Work with its outcome and the channel to its caller.
pub(crate) struct WorkTicket<W: TransactionPart> {
    pub(crate) work: W,
    pub(crate) outcome: Mutex<Option<Result<W::Output, StoreError>>>,
    pub(crate) reply: oneshot::Sender<Result<W::Output, WriteFailure>>,
}

#[async_trait]
impl<W: TransactionPart> QueuedWork for WorkTicket<W> {
    fn starts_work(&self) -> bool {
        self.work.starts_work()
    }

    fn jobs(&self) -> Vec<JobId> {
        self.work.jobs()
    }

    fn lock_numbers(&self) -> Vec<i64> {
        self.work.lock_numbers()
    }

    fn needs_marker(&self) -> bool {
        self.work.needs_marker()
    }

    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), TransactionFailure> {
        // The database is checked here, immediately before the work. The connection may have been replaced since the
        // last check, and the new connection may lead to another server.
        let refusal = if self.starts_work() { tx.refusal().await? } else { None };
        let done = match refusal {
            Some(restored) => Err(restored),
            None => Ok(self.work.run(tx).await?),
        };
        *self.outcome.get_mut().expect("no holder of this lock panics") = Some(done);
        Ok(())
    }

    fn answer(self: Box<Self>, fate: &TransactionOutcome) {
        let outcome = self.outcome.into_inner().expect("no holder of this lock panics");
        // The caller may have stopped waiting. The result is then not needed.
        let _ = self.reply.send(match (fate, outcome) {
            (TransactionOutcome::Committed | TransactionOutcome::CommittedElsewhere(_), Some(Ok(done))) => Ok(done),
            (TransactionOutcome::Committed | TransactionOutcome::CommittedElsewhere(_), None) => {
                Err(WriteFailure::Unknown("the work was not run".to_owned()))
            }
            (TransactionOutcome::Failed(error) | TransactionOutcome::Unavailable(error), _) => {
                Err(WriteFailure::Store(error.clone()))
            }
            // A refused part wrote nothing, so its caller gets the refusal even if the outcome of the transaction is
            // unknown.
            (_, Some(Err(refusal))) => Err(WriteFailure::Store(refusal)),
            (TransactionOutcome::Unknown(message), _) => Err(WriteFailure::Unknown(message.clone())),
        });
    }
}

/// Outcome of a transaction.
#[derive(Clone)]
pub(crate) enum TransactionOutcome {
    /// The transaction is durable.
    Committed,
    /// The transaction is durable, but another database than the accepted one answered. A part that starts work, such
    /// as a call or a claim, therefore gets the outcome [`Unknown`](Self::Unknown).
    CommittedElsewhere(String),
    /// Nothing was written.
    Failed(StoreError),
    /// Nothing was written because the database is unavailable. Later transactions would fail too.
    Unavailable(StoreError),
    /// The database failed while committing, and the outcome could not be determined afterwards.
    Unknown(String),
}

impl TransactionOutcome {
    /// Returns the outcome for one part of the transaction.
    pub(crate) fn for_part(&self, part: &QueuedPart) -> TransactionOutcome {
        match self {
            Self::CommittedElsewhere(message) if part.starts_work() => Self::Unknown(message.clone()),
            fate => fate.clone(),
        }
    }
}
