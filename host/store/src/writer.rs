//! Queue of the group-commit writer, and the transaction in which queued work runs. The task that processes the
//! queue is in [`crate::commit`].

use std::sync::Mutex;

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};

use latchwork_core::model::ids::JobId;
use latchwork_core::storage::{Batch, StoreError, WriteError};

use crate::clock::{TimeSource, Timestamps};
use crate::commit::WriterTask;
use crate::commit_marker::CommitMarker;
use crate::connection::Connection;
use crate::dialect::Dialect;
use crate::error::{TransactionFailure, WriteFailure};
use crate::group_locks::GroupLocks;
use crate::high_water::DatabasePosition;
use crate::row::RowReader;
use crate::server::Server;
use crate::statement::{Rows, StatementExecutor, StatementName};
use crate::statement_batch::StatementBatch;

/// Work that is queued for the writer and is not a batch. Its statements are one part of a transaction.
#[async_trait]
pub(crate) trait Work: Send + Sync + 'static {
    /// Outcome of the work, including refusals.
    type Output: Send + 'static;
    /// Returns true if the work claims jobs, extends leases or fires timers. Such work is refused if the
    /// database may not be the one last used here (§5).
    fn starts_work(&self) -> bool;
    /// Returns the jobs whose rows the work writes, as far as these jobs are known before the work runs.
    fn jobs(&self) -> Vec<JobId> {
        Vec::new()
    }
    /// Returns true if the work becomes visible outside and no log row proves its commit. The transaction of the work
    /// then writes a commit marker.
    fn needs_marker(&self) -> bool {
        false
    }
    /// Runs the work. Called again if the transaction is repeated.
    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Output, TransactionFailure>;
}

/// An open transaction.
pub(crate) struct Tx<'a> {
    conn: &'a mut Connection,
    executor: &'a StatementExecutor,
    time: &'a TimeSource,
    pub(crate) dialect: Dialect,
    locks: GroupLocks,
    /// Reason why no call may be started and no job claimed: the database may not be the one last used here.
    pub(crate) restored: Option<StoreError>,
    begun: bool,
    timestamps: Option<Timestamps>,
    /// Commit marker that this transaction writes. The stored marker later proves that the transaction was committed.
    pub(crate) marker: Option<CommitMarker>,
    /// PostgreSQL's number of this transaction.
    pub(crate) number: Option<String>,
    /// True if something outside the database relies on what this transaction writes.
    pub(crate) is_externally_visible: bool,
    /// Position of the database after this transaction. Always set on PostgreSQL. On SQLite it is set only if
    /// `is_externally_visible` is true.
    pub(crate) position: Option<DatabasePosition>,
    server: &'a Server,
    /// True once COMMIT has been sent. A failure after that may hide a successful commit.
    pub(crate) committing: bool,
    committed: bool,
    /// True while the last part of the transaction is executed. A part is one piece of queued work, or consecutive
    /// batches. On SQLite the last script of the last part then also contains COMMIT.
    pub(crate) is_last: bool,
}

impl<'a> Tx<'a> {
    pub(crate) fn new(
        conn: &'a mut Connection,
        hand: &'a StatementExecutor,
        time: &'a TimeSource,
        server: &'a Server,
        locks: GroupLocks,
    ) -> Self {
        let dialect = match conn {
            Connection::Sqlite(_) => Dialect::Sqlite,
            Connection::Postgres(_) => Dialect::Postgres,
        };
        Self {
            conn,
            executor: hand,
            time,
            dialect,
            locks,
            restored: None,
            begun: false,
            timestamps: None,
            marker: None,
            number: None,
            is_externally_visible: false,
            position: None,
            server,
            committing: false,
            committed: false,
            is_last: false,
        }
    }

    /// Returns the time used by this transaction. On PostgreSQL the time is read after all locks are held, so
    /// this function begins the transaction there.
    pub(crate) async fn now(&mut self) -> Result<Timestamps, sqlx::Error> {
        if self.dialect == Dialect::Postgres {
            self.begin_group().await?;
        }
        let known = self.timestamps.clone().or_else(|| self.time.local_now());
        Ok(known.expect("a transaction of the database's time has begun"))
    }

    /// Returns true if no other worker can write this job's row until the transaction ends.
    pub(crate) fn has_locked(&self, job_id: &JobId) -> bool {
        self.dialect == Dialect::Sqlite || self.locks.jobs.contains(job_id)
    }

    /// Begins the transaction on PostgreSQL. Locks everything that the group touches, always in the same order, because
    /// PostgreSQL has other writers. Then reads the clock.
    async fn begin_group(&mut self) -> Result<(), sqlx::Error> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        let mut script = StatementBatch::new(self.dialect.opening());
        let waiting = self.locks.push_waiter_queries(&mut script);
        if waiting {
            let rows = self.executor.run(self.conn, StatementName::BEGIN, script).await?;
            self.locks.add_waiters(&rows[1..]);
            script = StatementBatch::default();
        }
        self.locks.push_locks(&mut script);
        match &self.marker {
            Some(mark) => mark.push_with_clock(&mut script),
            None => {
                script.push(&Dialect::clock_query());
            }
        }
        let rows = self.executor.run(self.conn, StatementName::BEGIN, script).await?;
        if let Some(row) = rows.last().and_then(|rows| rows.first()) {
            let mut row = RowReader::new(row, "the clock");
            if let (Ok(now_us), Ok(number), Ok(server), Ok(accepted)) = (row.int(), row.text(), row.text(), row.int()) {
                self.timestamps = Some(self.time.at_server_time(now_us));
                self.position = number.parse().ok().map(|number| DatabasePosition { accepted, number });
                self.number = Some(number);
                // Detects a backup that was restored during the lifetime of the connection.
                self.restored = self.restored.take().or_else(|| self.server.check_identity(&server).err());
                return Ok(());
            }
        }
        Err(sqlx::Error::RowNotFound)
    }

    /// Returns the reason why no work may be started in this transaction, if there is one.
    pub(crate) async fn refusal(&mut self) -> Result<Option<StoreError>, sqlx::Error> {
        if self.dialect == Dialect::Postgres {
            self.begin_group().await?;
        }
        Ok(self.restored.clone())
    }

    /// Runs a script. The first script of a transaction also begins the transaction, on SQLite in the same
    /// call.
    pub(crate) async fn run(&mut self, name: StatementName, script: StatementBatch) -> Result<Rows, sqlx::Error> {
        self.run_to(name, script, false).await
    }

    /// Runs the last script of this part. On SQLite the script also commits if no other part follows. On
    /// PostgreSQL COMMIT is a separate call, so the results of the script are known even if the answer to
    /// COMMIT is lost.
    pub(crate) async fn run_last(&mut self, name: StatementName, script: StatementBatch) -> Result<Rows, sqlx::Error> {
        self.run_to(name, script, self.is_last && self.dialect == Dialect::Sqlite).await
    }

    async fn run_to(
        &mut self,
        name: StatementName,
        mut script: StatementBatch,
        commits: bool,
    ) -> Result<Rows, sqlx::Error> {
        if self.dialect == Dialect::Postgres {
            self.begin_group().await?;
        }
        let begins = !self.begun;
        let counts = begins && self.is_externally_visible && self.dialect == Dialect::Sqlite;
        if counts {
            script.push_first(COUNT_TRANSACTION);
        }
        if begins {
            script.push_first(self.dialect.opening());
        }
        if commits {
            script.push(COMMIT);
            self.committing = true;
        }
        let before_last = script.len() - 1;
        let mut ended = 0;
        let ran = self.executor.run_counting(self.conn, name, script, &mut ended).await;
        let mut rows = match ran {
            Ok(rows) => rows,
            Err(error) => {
                // If SQLite reports an earlier statement as failed, COMMIT was not reached.
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
        if counts && let Some(row) = rows.remove(0).first() {
            let mut row = RowReader::new(row, "meta");
            if let (Ok(accepted), Ok(number)) = (row.int(), row.int()) {
                self.position = Some(DatabasePosition { accepted, number });
            }
        }
        if commits {
            self.committed = true;
            rows.pop();
        }
        Ok(rows)
    }

    /// Commits, unless the last part has committed already.
    pub(crate) async fn commit(&mut self) -> Result<(), sqlx::Error> {
        if self.begun && !self.committed {
            self.committing = true;
            self.executor.run(self.conn, StatementName::COMMIT, StatementBatch::new(COMMIT)).await?;
            self.committed = true;
        }
        Ok(())
    }
}

const COMMIT: &str = "COMMIT";
/// Increments the transaction counter in `meta`, because SQLite does not number its transactions.
const COUNT_TRANSACTION: &str =
    "UPDATE meta SET high_water = high_water + 1 WHERE id = 1 RETURNING accepted, high_water";

/// Sending side of the writer's queue.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::UnboundedSender<QueuedPart>,
}

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

/// A [`Work`] together with its outcome and the channel to its caller.
#[async_trait]
pub(crate) trait QueuedWork: Send + Sync {
    fn starts_work(&self) -> bool;
    fn jobs(&self) -> Vec<JobId>;
    fn needs_marker(&self) -> bool;
    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), TransactionFailure>;
    fn answer(self: Box<Self>, fate: &TransactionOutcome);
}

struct WorkTicket<W: Work> {
    work: W,
    outcome: Mutex<Option<Result<W::Output, StoreError>>>,
    reply: oneshot::Sender<Result<W::Output, WriteFailure>>,
}

#[async_trait]
impl<W: Work> QueuedWork for WorkTicket<W> {
    fn starts_work(&self) -> bool {
        self.work.starts_work()
    }

    fn jobs(&self) -> Vec<JobId> {
        self.work.jobs()
    }

    fn needs_marker(&self) -> bool {
        self.work.needs_marker()
    }

    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), TransactionFailure> {
        // Check here and not earlier: the connection may have been replaced since the last check and may lead
        // to another server.
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
            // A refused part stays refused for every outcome of the transaction.
            (_, Some(Err(refusal))) => Err(WriteFailure::Store(refusal)),
            (TransactionOutcome::Unknown(message), _) => Err(WriteFailure::Unknown(message.clone())),
        });
    }
}

impl QueuedPart {
    /// Returns true if something outside relies on this part once it is durable: a call that may begin, an
    /// accepted job or an acknowledged request.
    pub(crate) fn is_externally_visible(&self) -> bool {
        match self {
            Self::Batch { batch, .. } => batch.kind.starts_calls(),
            Self::Work(ticket) => ticket.needs_marker(),
            Self::Close(_) => false,
        }
    }

    /// Returns true if the part starts a call, claims jobs, extends leases or fires timers.
    pub(crate) fn starts_work(&self) -> bool {
        match self {
            Self::Batch { batch, .. } => batch.kind.starts_calls(),
            Self::Work(ticket) => ticket.starts_work(),
            Self::Close(_) => false,
        }
    }
}

/// Outcome of a transaction.
#[derive(Clone)]
pub(crate) enum TransactionOutcome {
    /// The transaction is durable.
    Committed,
    /// The transaction is durable in a database that was not accepted. The calls and claims that it contains
    /// must not be acted on.
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
    /// used up its cooperative budget of Tokio would have to wait. Later batches would then overtake its batch. The
    /// channel needs no bound, because the events and calls of a job's steps are limited.
    pub(crate) async fn batch(&self, batch: Batch) -> Result<(), WriteError> {
        let (reply, answer) = oneshot::channel();
        let part = QueuedPart::Batch { batch: Box::new(batch), outcome: None, reply };
        self.queue.send(part).map_err(|_| WriteError::from(closed_error()))?;
        answer.await.map_err(|_| WriteError::Unknown("the writer ended".to_owned()))?
    }

    /// Queues other work.
    pub(crate) async fn work<W: Work>(&self, work: W) -> Result<W::Output, WriteFailure> {
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

/// Returns the error of a closed store.
pub(crate) fn closed_error() -> StoreError {
    StoreError::Unavailable("the store has been closed".to_owned())
}
