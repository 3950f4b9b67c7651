//! Queue of the group-commit writer and the transaction seen by its work. The task that processes the queue is
//! in [`crate::commit`].

use std::sync::Mutex;

use async_trait::async_trait;
use latchwork_core::ids::JobId;
use latchwork_core::storage::{Batch, StoreError, WriteError};
use tokio::sync::{mpsc, oneshot};

use crate::clock::{Moment, Time};
use crate::commit::Task;
use crate::connection::Connection;
use crate::dialect::Dialect;
use crate::error::{Failure, Trouble};
use crate::high_water::Reached;
use crate::locks::Locks;
use crate::mark::Marked;
use crate::row::Stored;
use crate::script::Script;
use crate::server::Server;
use crate::statement::{Hand, Name, Rows};

/// Work other than a batch: some statements of a transaction.
#[async_trait]
pub(crate) trait Work: Send + Sync + 'static {
    /// Outcome of the work, including refusals.
    type Done: Send + 'static;
    /// Returns true if the work starts, claims or keeps work. Such work is refused if another database may be
    /// in the place of the one that was used (§5).
    fn starts(&self) -> bool;
    /// Returns the jobs whose rows the work writes, as far as they are known before it runs.
    fn jobs(&self) -> Vec<JobId> {
        Vec::new()
    }
    /// Returns true if the work becomes visible outside and no log row proves its commit. Its transaction then
    /// writes a commit marker.
    fn is_marked(&self) -> bool {
        false
    }
    /// Runs the work. Called again if the transaction is repeated.
    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Done, Failure>;
}

/// An open transaction.
pub(crate) struct Tx<'a> {
    conn: &'a mut Connection,
    hand: &'a Hand,
    time: &'a Time,
    pub(crate) dialect: Dialect,
    locks: Locks,
    /// Reason why no work may be started: another database may be in the place of the one that was used.
    pub(crate) restored: Option<StoreError>,
    begun: bool,
    moment: Option<Moment>,
    /// Commit marker written by this transaction, which later proves that it was committed.
    pub(crate) mark: Option<Marked>,
    /// PostgreSQL's number of this transaction.
    pub(crate) number: Option<String>,
    /// True if something outside the database relies on what this transaction writes.
    pub(crate) is_relied_on: bool,
    /// Position of the database after this transaction. Always set on PostgreSQL. On SQLite it is set only if
    /// `is_relied_on` is true.
    pub(crate) reached: Option<Reached>,
    server: &'a Server,
    /// True once COMMIT has been sent. A failure after that may hide a successful commit.
    pub(crate) committing: bool,
    committed: bool,
    /// True if the running part is the last one, so its last script may commit.
    pub(crate) is_last: bool,
}

impl<'a> Tx<'a> {
    pub(crate) fn new(
        conn: &'a mut Connection,
        hand: &'a Hand,
        time: &'a Time,
        server: &'a Server,
        locks: Locks,
    ) -> Self {
        let dialect = match conn {
            Connection::Sqlite(_) => Dialect::Sqlite,
            Connection::Postgres(_) => Dialect::Postgres,
        };
        Self {
            conn,
            hand,
            time,
            dialect,
            locks,
            restored: None,
            begun: false,
            moment: None,
            mark: None,
            number: None,
            is_relied_on: false,
            reached: None,
            server,
            committing: false,
            committed: false,
            is_last: false,
        }
    }

    /// Returns the time used by this transaction. On PostgreSQL the time is read after all locks are held, so
    /// this begins the transaction.
    pub(crate) async fn now(&mut self) -> Result<Moment, sqlx::Error> {
        if self.dialect == Dialect::Postgres {
            self.enter().await?;
        }
        let known = self.moment.clone().or_else(|| self.time.here());
        Ok(known.expect("a transaction of the database's time has begun"))
    }

    /// Returns true if no other worker can write this job's row until the transaction ends.
    pub(crate) fn holds(&self, job_id: &JobId) -> bool {
        self.dialect == Dialect::Sqlite || self.locks.jobs.contains(job_id)
    }

    /// Begins the transaction on PostgreSQL, which has other writers. Locks everything the group touches,
    /// always in the same order, then reads the clock.
    async fn enter(&mut self) -> Result<(), sqlx::Error> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        let mut script = Script::new(self.dialect.opening());
        let waiting = self.locks.ask(&mut script);
        if waiting {
            let rows = self.hand.run(self.conn, Name::BEGIN, script).await?;
            self.locks.found(&rows[1..]);
            script = Script::default();
        }
        self.locks.take(&mut script);
        match &self.mark {
            Some(mark) => mark.beside(&mut script),
            None => {
                script.push(&Dialect::moment());
            }
        }
        let rows = self.hand.run(self.conn, Name::BEGIN, script).await?;
        if let Some(row) = rows.last().and_then(|rows| rows.first()) {
            let mut row = Stored::new(row, "the clock");
            if let (Ok(now_us), Ok(number), Ok(server), Ok(accepted)) = (row.int(), row.text(), row.text(), row.int()) {
                self.moment = Some(self.time.at(now_us));
                self.reached = number.parse().ok().map(|number| Reached { accepted, number });
                self.number = Some(number);
                // Detects a backup that was restored during the lifetime of the connection.
                self.restored = self.restored.take().or_else(|| self.server.judge(&server).err());
                return Ok(());
            }
        }
        Err(sqlx::Error::RowNotFound)
    }

    /// Returns the reason why no work may be started in this transaction, if there is one.
    pub(crate) async fn refusal(&mut self) -> Result<Option<StoreError>, sqlx::Error> {
        if self.dialect == Dialect::Postgres {
            self.enter().await?;
        }
        Ok(self.restored.clone())
    }

    /// Runs a script. The first script of a transaction also begins it, on SQLite in the same call.
    pub(crate) async fn run(&mut self, name: Name, script: Script) -> Result<Rows, sqlx::Error> {
        self.run_to(name, script, false).await
    }

    /// Runs the last script of this part. On SQLite the script also commits if no other part follows. On
    /// PostgreSQL COMMIT is a separate call, so the results of the script are known even if the answer to
    /// COMMIT is lost.
    pub(crate) async fn run_last(&mut self, name: Name, script: Script) -> Result<Rows, sqlx::Error> {
        self.run_to(name, script, self.is_last && self.dialect == Dialect::Sqlite).await
    }

    async fn run_to(&mut self, name: Name, mut script: Script, commits: bool) -> Result<Rows, sqlx::Error> {
        if self.dialect == Dialect::Postgres {
            self.enter().await?;
        }
        let begins = !self.begun;
        let counts = begins && self.is_relied_on && self.dialect == Dialect::Sqlite;
        if counts {
            script.push_first(COUNT);
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
        let ran = self.hand.run_counting(self.conn, name, script, &mut ended).await;
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
            let mut row = Stored::new(row, "meta");
            if let (Ok(accepted), Ok(number)) = (row.int(), row.int()) {
                self.reached = Some(Reached { accepted, number });
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
            self.hand.run(self.conn, Name::COMMIT, Script::new(COMMIT)).await?;
            self.committed = true;
        }
        Ok(())
    }
}

const COMMIT: &str = "COMMIT";
/// Increments the transaction counter in `meta`, because SQLite does not number its transactions.
const COUNT: &str = "UPDATE meta SET high_water = high_water + 1 WHERE id = 1 RETURNING accepted, high_water";

/// Sending side of the writer's queue.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::UnboundedSender<Part>,
}

/// One part of a group.
pub(crate) enum Part {
    /// A batch.
    Batch {
        /// The batch to write.
        batch: Box<Batch>,
        /// Result of the admission: whether the batch is part of the transaction. `None` until the batch was
        /// decided.
        outcome: Option<Result<(), WriteError>>,
        /// Channel to the caller.
        reply: oneshot::Sender<Result<(), WriteError>>,
    },
    /// Work other than a batch.
    Work(Box<dyn Ticket>),
    /// Request to write everything queued before, then end.
    Close(oneshot::Sender<()>),
}

/// A [`Work`] together with its outcome and the channel to its caller.
#[async_trait]
pub(crate) trait Ticket: Send + Sync {
    fn starts(&self) -> bool;
    fn jobs(&self) -> Vec<JobId>;
    fn is_marked(&self) -> bool;
    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure>;
    fn answer(self: Box<Self>, fate: &Fate);
}

struct Order<W: Work> {
    work: W,
    outcome: Mutex<Option<Result<W::Done, StoreError>>>,
    reply: oneshot::Sender<Result<W::Done, Trouble>>,
}

#[async_trait]
impl<W: Work> Ticket for Order<W> {
    fn starts(&self) -> bool {
        self.work.starts()
    }

    fn jobs(&self) -> Vec<JobId> {
        self.work.jobs()
    }

    fn is_marked(&self) -> bool {
        self.work.is_marked()
    }

    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        // Check here and not earlier: the connection may have been replaced since the last check and may lead
        // to another server.
        let refusal = if self.starts() { tx.refusal().await? } else { None };
        let done = match refusal {
            Some(restored) => Err(restored),
            None => Ok(self.work.run(tx).await?),
        };
        *self.outcome.get_mut().expect("no holder of this lock panics") = Some(done);
        Ok(())
    }

    fn answer(self: Box<Self>, fate: &Fate) {
        let outcome = self.outcome.into_inner().expect("no holder of this lock panics");
        // The caller may have stopped waiting. The result is then not needed.
        let _ = self.reply.send(match (fate, outcome) {
            (Fate::Committed | Fate::Elsewhere(_), Some(Ok(done))) => Ok(done),
            (Fate::Committed | Fate::Elsewhere(_), None) => Err(Trouble::Unknown("the work was not run".to_owned())),
            (Fate::Failed(error) | Fate::Away(error), _) => Err(Trouble::Store(error.clone())),
            // A refusal is final, whatever happened to the other parts.
            (_, Some(Err(refusal))) => Err(Trouble::Store(refusal)),
            (Fate::Unknown(message), _) => Err(Trouble::Unknown(message.clone())),
        });
    }
}

impl Part {
    /// Returns true if something outside relies on this part once it is durable: a call that may begin, an
    /// accepted job or an acknowledged request.
    pub(crate) fn is_relied_on(&self) -> bool {
        match self {
            Self::Batch { batch, .. } => batch.acquire,
            Self::Work(ticket) => ticket.is_marked(),
            Self::Close(_) => false,
        }
    }

    /// Returns true if the part starts, claims or keeps work.
    pub(crate) fn starts(&self) -> bool {
        match self {
            Self::Batch { batch, .. } => batch.acquire,
            Self::Work(ticket) => ticket.starts(),
            Self::Close(_) => false,
        }
    }
}

/// Outcome of a transaction.
#[derive(Clone)]
pub(crate) enum Fate {
    /// The transaction is durable.
    Committed,
    /// The transaction is durable in a database that was not accepted. Nothing that it starts may continue.
    Elsewhere(String),
    /// Nothing was written.
    Failed(StoreError),
    /// Nothing was written because the database is unavailable. Later transactions would fail too.
    Away(StoreError),
    /// The database failed while committing and could not determine the outcome afterwards.
    Unknown(String),
}

impl Fate {
    /// Returns the outcome for one part of the transaction.
    pub(crate) fn of(&self, part: &Part) -> Fate {
        match self {
            Self::Elsewhere(message) if part.starts() => Self::Unknown(message.clone()),
            fate => fate.clone(),
        }
    }
}

impl Writer {
    /// Starts the writer's task.
    pub(crate) fn start(make: impl FnOnce(mpsc::UnboundedReceiver<Part>) -> Task) -> Self {
        let (queue, parts) = mpsc::unbounded_channel();
        tokio::spawn(make(parts).live());
        Self { queue }
    }

    /// Queues a batch. The batch always gets its place in the queue at the first poll. A bounded channel would
    /// make a task wait after its cooperative budget is used up, and later batches would overtake the batch.
    /// The queue length per job is limited by what its steps may announce and call.
    pub(crate) async fn batch(&self, batch: Batch) -> Result<(), WriteError> {
        let (reply, answer) = oneshot::channel();
        let part = Part::Batch { batch: Box::new(batch), outcome: None, reply };
        self.queue.send(part).map_err(|_| WriteError::from(closed()))?;
        answer.await.map_err(|_| WriteError::Unknown("the writer ended".to_owned()))?
    }

    /// Queues other work.
    pub(crate) async fn work<W: Work>(&self, work: W) -> Result<W::Done, Trouble> {
        let (reply, answer) = oneshot::channel();
        let order = Order { work, outcome: Mutex::new(None), reply };
        self.queue.send(Part::Work(Box::new(order))).map_err(|_| Trouble::Store(closed()))?;
        answer.await.map_err(|_| Trouble::Unknown("the writer ended".to_owned()))?
    }

    /// Writes everything that is queued and closes the connection.
    pub(crate) async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        if self.queue.send(Part::Close(reply)).is_ok() {
            let _ = closed.await;
        }
    }
}

/// Returns the error of a closed store.
pub(crate) fn closed() -> StoreError {
    StoreError::Unavailable("the store has been closed".to_owned())
}
