//! The queue of the group-commit writer, and the transaction that its work sees. The task that
//! empties the queue is in [`crate::commit`].

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
    /// Its outcome, refusals included.
    type Done: Send + 'static;
    /// Whether it starts work or holds on to some: refused where another database may be in the place of the
    /// one that was used (§5).
    fn starts(&self) -> bool;
    /// The jobs whose rows it writes, where they are known before it runs.
    fn jobs(&self) -> Vec<JobId> {
        Vec::new()
    }
    /// Whether somebody relies on it and no row of a log tells that it was committed.
    fn is_marked(&self) -> bool {
        false
    }
    /// Do it. May be called again if the transaction is repeated.
    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Done, Failure>;
}

/// The open transaction.
pub(crate) struct Tx<'a> {
    conn: &'a mut Connection,
    hand: &'a Hand,
    time: &'a Time,
    pub(crate) dialect: Dialect,
    locks: Locks,
    /// Why nothing may be started: another database may be in the place of the one that was used.
    pub(crate) restored: Option<StoreError>,
    begun: bool,
    moment: Option<Moment>,
    /// What it leaves behind, so that it can be told whether it was committed.
    pub(crate) mark: Option<Marked>,
    /// PostgreSQL's number of this transaction.
    pub(crate) number: Option<String>,
    /// Whether somebody outside relies on what it writes.
    pub(crate) is_relied_on: bool,
    /// How far the database has come with it: on PostgreSQL always, on SQLite where somebody relies on it.
    pub(crate) reached: Option<Reached>,
    server: &'a Server,
    /// Whether a COMMIT has been handed over: from then on a failure may hide a success.
    pub(crate) committing: bool,
    committed: bool,
    /// Whether what runs now is the last part, so that its last script can commit.
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

    /// The time that this transaction goes by. On PostgreSQL it is read once all locks are held, so
    /// it begins the transaction.
    pub(crate) async fn now(&mut self) -> Result<Moment, sqlx::Error> {
        if self.dialect == Dialect::Postgres {
            self.enter().await?;
        }
        let known = self.moment.clone().or_else(|| self.time.here());
        Ok(known.expect("a transaction of the database's time has begun"))
    }

    /// Whether no other worker can write the row of this job before the end of this transaction.
    pub(crate) fn holds(&self, job_id: &JobId) -> bool {
        self.dialect == Dialect::Sqlite || self.locks.jobs.contains(job_id)
    }

    /// Begin on PostgreSQL, where there are other writers: lock what the group touches, always in
    /// the same order, then read the clock.
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
                // Put back while the connection lasts.
                self.restored = self.restored.take().or_else(|| self.server.judge(&server).err());
                return Ok(());
            }
        }
        Err(sqlx::Error::RowNotFound)
    }

    /// Why nothing may be started in it, if so.
    pub(crate) async fn refusal(&mut self) -> Result<Option<StoreError>, sqlx::Error> {
        if self.dialect == Dialect::Postgres {
            self.enter().await?;
        }
        Ok(self.restored.clone())
    }

    /// Execute a script. The first one of a transaction begins it; on SQLite in the same hand-over.
    pub(crate) async fn run(&mut self, name: Name, script: Script) -> Result<Rows, sqlx::Error> {
        self.run_to(name, script, false).await
    }

    /// Execute the last script of this part: if no other part follows, it commits as well. Not on
    /// PostgreSQL: COMMIT is a hand-over of its own there anyhow, and what the script answered is
    /// known even where its answer is lost.
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

    /// Commit, unless the last part has.
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
/// SQLite does not number its transactions.
const COUNT: &str = "UPDATE meta SET high_water = high_water + 1 WHERE id = 1 RETURNING accepted, high_water";

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
        // Asked here, not before: the connection may have been made since it was looked where it leads.
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
        // Who asked may have gone: then nobody wants to know.
        let _ = self.reply.send(match (fate, outcome) {
            (Fate::Committed | Fate::Elsewhere(_), Some(Ok(done))) => Ok(done),
            (Fate::Committed | Fate::Elsewhere(_), None) => Err(Trouble::Unknown("the work was not run".to_owned())),
            (Fate::Failed(error) | Fate::Away(error), _) => Err(Trouble::Store(error.clone())),
            // What was refused is refused, whatever became of the others.
            (_, Some(Err(refusal))) => Err(Trouble::Store(refusal)),
            (Fate::Unknown(message), _) => Err(Trouble::Unknown(message.clone())),
        });
    }
}

impl Part {
    /// Whether somebody outside relies on it once it is durable: a call may begin, a job was accepted, a
    /// request taken in.
    pub(crate) fn is_relied_on(&self) -> bool {
        match self {
            Self::Batch { batch, .. } => batch.acquire,
            Self::Work(ticket) => ticket.is_marked(),
            Self::Close(_) => false,
        }
    }

    /// Whether it starts work or holds on to some.
    pub(crate) fn starts(&self) -> bool {
        match self {
            Self::Batch { batch, .. } => batch.acquire,
            Self::Work(ticket) => ticket.starts(),
            Self::Close(_) => false,
        }
    }
}

/// What became of a transaction.
#[derive(Clone)]
pub(crate) enum Fate {
    /// It is durable.
    Committed,
    /// It is durable, as a database says that nobody has accepted: what it starts is not gone on with.
    Elsewhere(String),
    /// Nothing of it was written.
    Failed(StoreError),
    /// Nothing of it was written, nor would be anything else: there is no database to write to.
    Away(StoreError),
    /// The database failed while committing and could not tell afterwards.
    Unknown(String),
}

impl Fate {
    /// What it means for this part.
    pub(crate) fn of(&self, part: &Part) -> Fate {
        match self {
            Self::Elsewhere(message) if part.starts() => Self::Unknown(message.clone()),
            fate => fate.clone(),
        }
    }
}

impl Writer {
    /// Start a task.
    pub(crate) fn start(make: impl FnOnce(mpsc::UnboundedReceiver<Part>) -> Task) -> Self {
        let (queue, parts) = mpsc::unbounded_channel();
        tokio::spawn(make(parts).live());
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
