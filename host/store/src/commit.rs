//! Group commit: one task owns the writing connection, takes everything that is queued, and
//! writes it in one transaction.
//!
//! The order of the queue is the order of effect. Whatever fails without having been refused
//! (a full disk, an oversized value) fails the transaction; its parts are then tried one by one,
//! so that only the culprit fails. What another worker was in the way of is repeated whole, and so
//! is what was lost with its connection before COMMIT. A failed COMMIT is taken neither for a
//! commit nor for none: the database is asked, on a new connection, what became of it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use latchwork_core::storage::{Flush, StoreError, WriteError};
use tokio::sync::mpsc;

use crate::clock::Time;
use crate::connection::{Connect, Connection, Patience};
use crate::dialect::Dialect;
use crate::error::{Failure, is_again, is_lost, is_read_only, store_error};
use crate::group::{self, Mark, Standpoint};
use crate::high_water::{HighWater, Reached};
use crate::locks::Locks;
use crate::mark::{Marked, Marks};
use crate::row::Stored;
use crate::script::Script;
use crate::server::{Place, Server};
use crate::statement::{Hand, Name};
use crate::writer::{Fate, Part, Tx};

/// How many parts share a transaction at most.
const GROUP_MAX: usize = 256;
/// How long a lingering batch waits for another that has to be durable at once.
const LINGER: Duration = Duration::from_millis(5);
/// How often a transaction is begun while others are in the way; each time SQLite waits for its
/// busy timeout, PostgreSQL for its lock timeout or until it finds a circle.
const AGAIN_TRIES: u32 = 6;

/// The task and what it owns.
pub(crate) struct Task {
    /// None while the server is away.
    pub(crate) conn: Option<Connection>,
    pub(crate) connect: Connect,
    pub(crate) hand: Hand,
    pub(crate) time: Time,
    pub(crate) server: Arc<Server>,
    pub(crate) high_water: Arc<HighWater>,
    pub(crate) parts: mpsc::UnboundedReceiver<Part>,
    pub(crate) marks: Marks,
}

impl Task {
    /// Serve the queue until it is closed.
    pub(crate) async fn live(mut self) {
        let mut group = Vec::with_capacity(GROUP_MAX);
        let mut closed = None;
        while closed.is_none() && self.parts.recv_many(&mut group, GROUP_MAX).await > 0 {
            if group.iter().all(lingers) {
                // Until one comes that does not linger, the group is full, or the time is over.
                let gather = async {
                    while group.len() < GROUP_MAX && group.iter().all(lingers) {
                        let room = GROUP_MAX - group.len();
                        if self.parts.recv_many(&mut group, room).await == 0 {
                            break;
                        }
                    }
                };
                let _ = tokio::time::timeout(LINGER, gather).await;
            }
            closed = group.iter().position(|part| matches!(part, Part::Close(_))).map(|at| group.split_off(at));
            if !group.is_empty() {
                self.commit(std::mem::take(&mut group)).await;
            }
        }
        if let Some(conn) = self.conn.take() {
            conn.close().await;
        }
        for part in closed.unwrap_or_default() {
            // Parts behind the closing one are dropped: their callers learn that the writer ended.
            if let Part::Close(reply) = part {
                let _ = reply.send(());
            }
        }
    }

    /// Write a group; if that fails, its parts one by one.
    async fn commit(&mut self, mut group: Vec<Part>) {
        match self.transaction(&mut group).await {
            Fate::Failed(_) if group.len() > 1 => {
                for part in group {
                    let mut alone = vec![part];
                    let fate = self.transaction(&mut alone).await;
                    self.answer(alone, &fate);
                }
            }
            fate => self.answer(group, &fate),
        }
    }

    async fn transaction(&mut self, group: &mut [Part]) -> Fate {
        let mut tries = 1;
        let mut patience = Patience::new();
        loop {
            let (mut conn, restored) = match self.connection(&mut patience).await {
                Ok(ready) => ready,
                Err(error) => return Fate::Away(error),
            };
            let place = self.server.place();
            let mut marks = Vec::new();
            let mut tx = Tx::new(&mut conn, &self.hand, &self.time, &self.server, locks(self.connect.dialect(), group));
            tx.restored = restored;
            tx.is_relied_on = group.iter().any(Part::is_relied_on);
            tx.mark = self.marks.next(self.server.writer(), group);
            let Err(failure) = parts(&mut tx, group, &mut marks).await else {
                self.heard(tx.is_relied_on, tx.reached);
                self.conn = Some(conn);
                self.hand.tally.flushes.fetch_add(1, Ordering::Relaxed);
                return Fate::Committed;
            };
            let lost = matches!(&failure, Failure::Sql(error) if is_lost(error));
            let on_server = self.connect.dialect() == Dialect::Postgres;
            if tx.committing {
                let (relied_on, reached) = (tx.is_relied_on, tx.reached);
                let trace = Trace { number: tx.number.take(), mark: tx.mark.take(), place };
                // Whatever it still keeps locked is let go.
                drop(conn);
                match self.ask(&failure, &marks, trace).await {
                    // It never was committed: nothing of it is there, and it can be.
                    Fate::Failed(_) if lost && on_server && patience.waits().await => continue,
                    fate => {
                        if matches!(fate, Fate::Committed) {
                            self.heard(relied_on, reached);
                        }
                        return fate;
                    }
                }
            }
            if !(on_server && lost) {
                // A transaction that SQLite has ended by itself leaves nothing to roll back.
                let rolled_back = self.hand.run(&mut conn, Name::ROLLBACK, Script::new("ROLLBACK")).await.is_ok();
                self.conn = (rolled_back || !on_server).then_some(conn);
            }
            match &failure {
                Failure::Again if tries < AGAIN_TRIES => tries += 1,
                Failure::Sql(error) if is_again(error) && tries < AGAIN_TRIES => {
                    tracing::debug!(%error, tries, "another process is in the way");
                    tries += 1;
                }
                Failure::Sql(error) if lost && on_server => {
                    tracing::debug!(%error, "the connection was lost before COMMIT; writing the group again");
                    if !patience.waits().await {
                        return Fate::Away(failure.into());
                    }
                }
                Failure::Sql(error) if is_read_only(error) => {
                    // Perhaps for a moment, or another server takes its place: whoever is connected to next says.
                    self.conn = None;
                    if !on_server || !patience.waits().await {
                        return Fate::Away(failure.into());
                    }
                }
                _ => return Fate::Failed(failure.into()),
            }
        }
    }

    /// A transaction is durable, and nobody has heard of it yet.
    fn heard(&self, relied_on: bool, reached: Option<Reached>) {
        if let Some(reached) = reached.filter(|_| relied_on) {
            self.high_water.raise(reached);
        }
    }

    /// The connection, made anew where it was lost, and why nothing may be started on it.
    async fn connection(&mut self, patience: &mut Patience) -> Result<(Connection, Option<StoreError>), StoreError> {
        let mut conn = match self.conn.take() {
            Some(conn) => conn,
            None => loop {
                let mut conn = self.connect.patiently(patience).await.map_err(|error| store_error(&error))?;
                match self.server.greet(&self.hand, &mut conn).await {
                    Ok(()) => break conn,
                    // A standby that is about to take over, or a server that is going down.
                    Err(error) if !patience.waits().await => return Err(error),
                    Err(error) => tracing::debug!(%error, "the server does not serve; trying again"),
                }
            },
        };
        let restored = self.server.restored(&self.hand, &mut conn).await;
        Ok((conn, restored))
    }

    /// After a COMMIT without an answer: what became of it? PostgreSQL knows by the transaction's
    /// number; where that is said to be committed, its mark or the logs prove that it is ours. SQLite is
    /// asked where the jobs stand: a transaction is written whole or not at all, so one job that tells
    /// decides for the group.
    /// Where the answer comes from a database that nobody has accepted, nothing is started on it.
    async fn ask(&mut self, failure: &Failure, marks: &[Mark], trace: Trace) -> Fate {
        let why = match failure {
            Failure::Sql(error) => store_error(error),
            Failure::Store(error) => error.clone(),
            Failure::Again => StoreError::Unavailable("it was in the way of another".to_owned()),
        };
        tracing::warn!(error = %why, "a commit failed; reading what became of it");
        let mut patience = Patience::new();
        let (mut conn, restored) = match self.connection(&mut patience).await {
            Ok(ready) => ready,
            Err(error) => return Fate::Unknown(format!("{why}; then it could not be opened: {error}")),
        };
        let Trace { number, mark, place } = trace;
        // Numbers of another server, or of another past of this one, say nothing; what it has does.
        let is_here = self.server.place() == place;
        let ended = match number.filter(|_| is_here) {
            Some(number) => outcome(&self.hand, &mut conn, &number, &mut patience).await,
            None if mark.is_some() && !is_here => Ok(Some(true)),
            None => Ok(None),
        };
        let standpoints = match ended {
            // A server that crashed gives the number of a commit that it lost to another one.
            Ok(Some(true)) if let Some(mark) = &mark => mark
                .is_there(&self.hand, &mut conn)
                .await
                .map(|is_there| vec![if is_there { Standpoint::After } else { Standpoint::Before }]),
            // Where the rows are as they were before, it is not ours that was committed.
            Ok(Some(true)) => group::standpoints(&self.hand, &mut conn, marks).await.map(|seen| {
                let lost = seen.contains(&Standpoint::Before) && !seen.contains(&Standpoint::After);
                vec![if lost { Standpoint::Before } else { Standpoint::After }]
            }),
            Ok(Some(false)) => Ok(vec![Standpoint::Before]),
            Ok(None) => group::standpoints(&self.hand, &mut conn, marks).await,
            Err(error) => Err(error),
        };
        self.conn = Some(conn);
        match standpoints {
            Ok(standpoints) if standpoints.contains(&Standpoint::After) => {
                self.hand.tally.flushes.fetch_add(1, Ordering::Relaxed);
                match restored {
                    None => Fate::Committed,
                    Some(restored) => Fate::Elsewhere(format!("{why}; then another database answered: {restored}")),
                }
            }
            Ok(standpoints) if standpoints.contains(&Standpoint::Before) => Fate::Failed(why),
            Ok(_) => Fate::Unknown(why.to_string()),
            Err(error) => {
                self.conn = None;
                Fate::Unknown(format!("{why}; then it could not be read: {}", store_error(&error)))
            }
        }
    }

    fn answer(&self, group: Vec<Part>, fate: &Fate) {
        for part in group {
            let fate = fate.of(&part);
            match part {
                Part::Work(ticket) => ticket.answer(&fate),
                Part::Close(_) => {}
                Part::Batch { outcome, reply, .. } => {
                    let result = match (fate, outcome) {
                        (Fate::Committed | Fate::Elsewhere(_), Some(outcome)) => outcome,
                        (Fate::Committed | Fate::Elsewhere(_), None) => {
                            Err(WriteError::Broken("a batch was passed over".to_owned()))
                        }
                        (Fate::Failed(error) | Fate::Away(error), _) => Err(error.into()),
                        // What was refused is refused, whatever became of the others.
                        (Fate::Unknown(_), Some(Err(refusal))) => Err(refusal),
                        (Fate::Unknown(message), _) => Err(WriteError::Unknown(message)),
                    };
                    let counter = match &result {
                        Ok(()) => &self.hand.tally.batches,
                        Err(_) => &self.hand.tally.refused,
                    };
                    counter.fetch_add(1, Ordering::Relaxed);
                    // Who asked may have gone: then nobody wants to know.
                    let _ = reply.send(result);
                }
            }
        }
    }
}

/// By what a transaction can be found again.
struct Trace {
    /// The server's number of it.
    number: Option<String>,
    /// What it left behind.
    mark: Option<Marked>,
    /// Where it was begun.
    place: Place,
}

/// `invalid_parameter_value`: what `pg_xact_status` says of a number that is yet to be given.
const NEVER_GIVEN: &str = "22023";

/// Whether a transaction was committed, by its number; none where the server has forgotten it. One
/// that is still being committed, by a backend that does not know yet that nobody listens, is waited
/// for.
async fn outcome(
    hand: &Hand,
    conn: &mut Connection,
    number: &str,
    patience: &mut Patience,
) -> Result<Option<bool>, sqlx::Error> {
    loop {
        let mut script = Script::new("SELECT pg_xact_status(CAST(? AS xid8))");
        script.text(number);
        let rows = match hand.run(conn, Name::OUTCOME, script).await {
            // The server has never given it: it crashed, and the commit with it.
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(NEVER_GIVEN) => {
                return Ok(Some(false));
            }
            other => other?,
        };
        let said = rows.iter().flatten().next().and_then(|row| Stored::new(row, "transaction").text_or_null().ok());
        match said.flatten().as_deref() {
            Some("committed") => return Ok(Some(true)),
            Some("aborted") => return Ok(Some(false)),
            Some(_) if patience.waits().await => {}
            _ => return Ok(None),
        }
    }
}

/// What a group has to lock.
fn locks(dialect: Dialect, group: &[Part]) -> Locks {
    let mut locks = Locks::default();
    if dialect == Dialect::Sqlite {
        return locks;
    }
    for part in group {
        match part {
            Part::Batch { batch, .. } => locks.add(batch),
            Part::Work(ticket) => locks.jobs.extend(ticket.jobs()),
            Part::Close(_) => {}
        }
    }
    locks
}

fn lingers(part: &Part) -> bool {
    matches!(part, Part::Batch { batch, .. } if batch.flush == Flush::Linger)
}

/// Run all parts in order, neighbouring batches together, and commit.
async fn parts(tx: &mut Tx<'_>, group: &mut [Part], marks: &mut Vec<Mark>) -> Result<(), Failure> {
    let mut rest = group;
    while !rest.is_empty() {
        let batches = rest.iter().take_while(|part| matches!(part, Part::Batch { .. })).count();
        let (now, later) = rest.split_at_mut(batches.max(1));
        tx.is_last = later.is_empty();
        if let [Part::Work(ticket)] = now {
            ticket.run(tx).await?;
        } else {
            let mut all = Vec::with_capacity(now.len());
            for part in now {
                if let Part::Batch { batch, outcome, .. } = part {
                    all.push((&**batch, outcome));
                }
            }
            group::run(tx, &mut all, marks).await?;
        }
        rest = later;
    }
    tx.commit().await?;
    Ok(())
}
