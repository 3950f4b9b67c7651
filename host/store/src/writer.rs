//! The queue of the group-commit writer, and the transaction that its work sees. The task that
//! empties the queue is in [`crate::commit`].

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use latchwork_core::storage::{Batch, Clock, StoreError, WriteError};
use sqlx::SqliteConnection;
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions};
use tokio::sync::{mpsc, oneshot};

use crate::commit::Task;
use crate::error::{Failure, Trouble};
use crate::script::Script;
use crate::statement::{Hand, Name, Rows};

/// Work other than a batch: some statements of a transaction.
#[async_trait]
pub(crate) trait Work: Send + Sync + 'static {
    /// Its outcome, refusals included.
    type Done: Send + 'static;
    /// Do it. May be called again if the transaction is repeated.
    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Done, Failure>;
}

/// The open transaction.
pub(crate) struct Tx<'a> {
    conn: &'a mut SqliteConnection,
    hand: &'a Hand,
    pub(crate) clock: &'a dyn Clock,
    begun: bool,
    /// Whether a COMMIT has been handed over: from then on a failure may hide a success.
    pub(crate) committing: bool,
    committed: bool,
    /// Whether what runs now is the last part, so that its last script can commit.
    pub(crate) is_last: bool,
}

impl<'a> Tx<'a> {
    pub(crate) fn new(conn: &'a mut SqliteConnection, hand: &'a Hand, clock: &'a dyn Clock) -> Self {
        Self { conn, hand, clock, begun: false, committing: false, committed: false, is_last: false }
    }

    /// Execute a script. The first one of a transaction begins it, in the same hand-over.
    pub(crate) async fn run(&mut self, name: Name, script: Script) -> Result<Rows, sqlx::Error> {
        self.run_to(name, script, false).await
    }

    /// Execute the last script of this part: if no other part follows, it commits as well.
    pub(crate) async fn run_last(&mut self, name: Name, script: Script) -> Result<Rows, sqlx::Error> {
        self.run_to(name, script, self.is_last).await
    }

    async fn run_to(&mut self, name: Name, script: Script, commits: bool) -> Result<Rows, sqlx::Error> {
        let Script { mut sql, args } = script;
        let begins = !self.begun;
        if begins {
            sql.insert_str(0, "BEGIN IMMEDIATE;");
        }
        if commits {
            if !sql.ends_with(';') {
                sql.push(';');
            }
            sql.push_str("COMMIT");
            self.committing = true;
        }
        // No text or name in a script has a semicolon.
        let before_last = sql.matches(';').count();
        let mut ended = 0;
        let ran = self.hand.run_counting(self.conn, name, sql, args, &mut ended).await;
        let mut rows = match ran {
            Ok(rows) => rows,
            Err(error) => {
                // Where SQLite itself says which statement failed, COMMIT was not reached.
                if commits && error.as_database_error().is_some() && ended < before_last {
                    self.committing = false;
                }
                return Err(error);
            }
        };
        if begins {
            self.begun = true;
            rows.remove(0);
        }
        if commits {
            self.committed = true;
            rows.pop();
        }
        Ok(rows)
    }

    /// Commit, unless the last part has.
    pub(crate) async fn commit(&mut self) -> Result<(), sqlx::Error> {
        if self.begun && !self.committed {
            self.committing = true;
            self.hand.run(self.conn, Name::COMMIT, "COMMIT".to_owned(), SqliteArguments::default()).await?;
            self.committed = true;
        }
        Ok(())
    }
}

/// The queue's end for callers.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::UnboundedSender<Part>,
}

/// A part of a group.
pub(crate) enum Part {
    /// A batch.
    Batch {
        /// What to write.
        batch: Box<Batch>,
        /// Whether it was admitted to the transaction.
        outcome: Option<Result<(), WriteError>>,
        /// Who waits.
        reply: oneshot::Sender<Result<(), WriteError>>,
    },
    /// Other work.
    Work(Box<dyn Ticket>),
    /// Write what came before, then end.
    Close(oneshot::Sender<()>),
}

/// A [`Work`] with the place for its outcome.
#[async_trait]
pub(crate) trait Ticket: Send + Sync {
    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure>;
    fn answer(self: Box<Self>, fate: &Fate);
}

struct Order<W: Work> {
    work: W,
    outcome: Mutex<Option<W::Done>>,
    reply: oneshot::Sender<Result<W::Done, Trouble>>,
}

#[async_trait]
impl<W: Work> Ticket for Order<W> {
    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        let done = self.work.run(tx).await?;
        *self.outcome.get_mut().expect("no holder of this lock panics") = Some(done);
        Ok(())
    }

    fn answer(self: Box<Self>, fate: &Fate) {
        let outcome = self.outcome.into_inner().expect("no holder of this lock panics");
        // Who asked may have gone: then nobody wants to know.
        let _ = self.reply.send(match (fate, outcome) {
            (Fate::Committed, Some(done)) => Ok(done),
            (Fate::Committed, None) => Err(Trouble::Unknown("the work was not run".to_owned())),
            (Fate::Failed(error), _) => Err(Trouble::Store(error.clone())),
            (Fate::Unknown(message), _) => Err(Trouble::Unknown(message.clone())),
        });
    }
}

/// What became of a transaction.
pub(crate) enum Fate {
    /// It is durable.
    Committed,
    /// Nothing of it was written.
    Failed(StoreError),
    /// The database failed while committing and could not tell afterwards.
    Unknown(String),
}

impl Writer {
    /// Start the task on this connection.
    pub(crate) fn start(
        conn: SqliteConnection,
        options: SqliteConnectOptions,
        hand: Hand,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let (queue, parts) = mpsc::unbounded_channel();
        tokio::spawn(Task::new(conn, options, hand, clock, parts).live());
        Self { queue }
    }

    /// Queue a batch. Its place is taken at the first poll, always: a bounded channel would make
    /// a task wait that has used up its share of time, and later batches would pass it. What a
    /// job can have queued is bounded by what its steps may announce and call.
    pub(crate) async fn batch(&self, batch: Batch) -> Result<(), WriteError> {
        let (reply, answer) = oneshot::channel();
        let part = Part::Batch { batch: Box::new(batch), outcome: None, reply };
        self.queue.send(part).map_err(|_| WriteError::from(closed()))?;
        answer.await.map_err(|_| WriteError::Unknown("the writer ended".to_owned()))?
    }

    /// Queue other work.
    pub(crate) async fn work<W: Work>(&self, work: W) -> Result<W::Done, Trouble> {
        let (reply, answer) = oneshot::channel();
        let order = Order { work, outcome: Mutex::new(None), reply };
        self.queue.send(Part::Work(Box::new(order))).map_err(|_| Trouble::Store(closed()))?;
        answer.await.map_err(|_| Trouble::Unknown("the writer ended".to_owned()))?
    }

    /// Write what is queued and close the connection.
    pub(crate) async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        if self.queue.send(Part::Close(reply)).is_ok() {
            let _ = closed.await;
        }
    }
}

/// What a closed store says.
pub(crate) fn closed() -> StoreError {
    StoreError::Unavailable("the store has been closed".to_owned())
}
