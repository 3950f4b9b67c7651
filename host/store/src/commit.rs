//! Group commit: one task owns the writing connection, takes everything that is queued, and writes it in one
//! transaction.
//!
//! The order of the queue is the order of the writes. A failure that is not a refusal, such as a full disk or
//! an oversized value, fails the whole transaction. Its parts are then tried one by one, so that only the
//! faulty part fails. A transaction is repeated as a whole if another worker interfered or if the connection
//! was lost before COMMIT. After a failed COMMIT the outcome is unknown. The database is then asked for it on a
//! new connection.

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

/// Maximum number of parts in a transaction.
const GROUP_MAX: usize = 256;
/// Time for which a deferred batch waits for another batch that needs an immediate flush.
const LINGER: Duration = Duration::from_millis(5);
/// Maximum number of tries of a transaction if other writers interfere. SQLite waits for its busy timeout each
/// time. PostgreSQL waits for its lock timeout or until it detects a deadlock.
const AGAIN_TRIES: u32 = 6;

/// The writer's task and its data.
pub(crate) struct Task {
    /// `None` while the server is unavailable.
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
    /// Processes the queue until it is closed.
    pub(crate) async fn live(mut self) {
        let mut group = Vec::with_capacity(GROUP_MAX);
        let mut closed = None;
        while closed.is_none() && self.parts.recv_many(&mut group, GROUP_MAX).await > 0 {
            if group.iter().all(lingers) {
                // Gather parts until one needs an immediate flush, the group is full or the time is over.
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
            // Parts queued after the close request are dropped. Their callers get the error that the writer
            // ended.
            if let Part::Close(reply) = part {
                let _ = reply.send(());
            }
        }
    }

    /// Writes a group. If that fails, writes its parts one by one.
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
                // Closing the connection releases its locks.
                drop(conn);
                match self.ask(&failure, &marks, trace).await {
                    // The transaction was not committed, so it can be repeated.
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
                // If SQLite has already ended the transaction, ROLLBACK fails. The connection is still usable.
                let rolled_back = self.hand.run(&mut conn, Name::ROLLBACK, Script::new("ROLLBACK")).await.is_ok();
                self.conn = (rolled_back || !on_server).then_some(conn);
            }
            match &failure {
                Failure::Again if tries < AGAIN_TRIES => tries += 1,
                Failure::Sql(error) if is_again(error) && tries < AGAIN_TRIES => {
                    tracing::debug!(%error, tries, "another process interfered; repeating the transaction");
                    tries += 1;
                }
                Failure::Sql(error) if lost && on_server => {
                    tracing::debug!(%error, "the connection was lost before COMMIT; writing the group again");
                    if !patience.waits().await {
                        return Fate::Away(failure.into());
                    }
                }
                Failure::Sql(error) if is_read_only(error) => {
                    // The server may be read-only for a moment, or another server may take over. A new
                    // connection finds out.
                    self.conn = None;
                    if !on_server || !patience.waits().await {
                        return Fate::Away(failure.into());
                    }
                }
                _ => return Fate::Failed(failure.into()),
            }
        }
    }

    /// Raises the high-water mark after a transaction is durable and before any caller is notified.
    fn heard(&self, relied_on: bool, reached: Option<Reached>) {
        if let Some(reached) = reached.filter(|_| relied_on) {
            self.high_water.raise(reached);
        }
    }

    /// Returns the connection, and the reason why no work may be started on it. Reconnects if the connection
    /// was lost.
    async fn connection(&mut self, patience: &mut Patience) -> Result<(Connection, Option<StoreError>), StoreError> {
        let mut conn = match self.conn.take() {
            Some(conn) => conn,
            None => loop {
                let mut conn = self.connect.patiently(patience).await.map_err(|error| store_error(&error))?;
                match self.server.greet(&self.hand, &mut conn).await {
                    Ok(()) => break conn,
                    // The server may be a standby that is about to take over, or it may be shutting down.
                    Err(error) if !patience.waits().await => return Err(error),
                    Err(error) => tracing::debug!(%error, "the server is not ready; retrying"),
                }
            },
        };
        let restored = self.server.restored(&self.hand, &mut conn).await;
        Ok((conn, restored))
    }

    /// Determines the outcome of a COMMIT that was not answered. PostgreSQL is asked by transaction number. If
    /// that number was committed, the commit marker or the logs must also prove that the transaction is this
    /// one. On SQLite the ends of the logs are compared. A transaction is written as a whole or not at all, so
    /// one conclusive job decides for the group. If the answer comes from a database that was not accepted, no
    /// work is started on it.
    async fn ask(&mut self, failure: &Failure, marks: &[Mark], trace: Trace) -> Fate {
        let why = match failure {
            Failure::Sql(error) => store_error(error),
            Failure::Store(error) => error.clone(),
            Failure::Again => StoreError::Unavailable("another worker interfered with the transaction".to_owned()),
        };
        tracing::warn!(error = %why, "a commit failed; reading its outcome");
        let mut patience = Patience::new();
        let (mut conn, restored) = match self.connection(&mut patience).await {
            Ok(ready) => ready,
            Err(error) => return Fate::Unknown(format!("{why}; then the database could not be opened: {error}")),
        };
        let Trace { number, mark, place } = trace;
        // A transaction number is meaningful only on the same server and timeline. Elsewhere only the stored
        // rows are evidence.
        let is_here = self.server.place() == place;
        let ended = match number.filter(|_| is_here) {
            Some(number) => outcome(&self.hand, &mut conn, &number, &mut patience).await,
            None if mark.is_some() && !is_here => Ok(Some(true)),
            None => Ok(None),
        };
        let standpoints = match ended {
            // After a crash, a server reuses the numbers of the commits it lost. The number alone proves
            // nothing.
            Ok(Some(true)) if let Some(mark) = &mark => mark
                .is_there(&self.hand, &mut conn)
                .await
                .map(|is_there| vec![if is_there { Standpoint::After } else { Standpoint::Before }]),
            // If the logs end where they ended before, the committed transaction with this number was another
            // one.
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
                Fate::Unknown(format!("{why}; then the outcome could not be read: {}", store_error(&error)))
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
                            Err(WriteError::Broken("the writer skipped a batch".to_owned()))
                        }
                        (Fate::Failed(error) | Fate::Away(error), _) => Err(error.into()),
                        // A refusal is final, whatever happened to the other parts.
                        (Fate::Unknown(_), Some(Err(refusal))) => Err(refusal),
                        (Fate::Unknown(message), _) => Err(WriteError::Unknown(message)),
                    };
                    let counter = match &result {
                        Ok(()) => &self.hand.tally.batches,
                        Err(_) => &self.hand.tally.refused,
                    };
                    counter.fetch_add(1, Ordering::Relaxed);
                    // The caller may have stopped waiting. The result is then not needed.
                    let _ = reply.send(result);
                }
            }
        }
    }
}

/// Data that identifies a transaction after an unanswered commit.
struct Trace {
    /// Number that the server gave to the transaction.
    number: Option<String>,
    /// Commit marker that the transaction wrote.
    mark: Option<Marked>,
    /// Server on which the transaction was begun.
    place: Place,
}

/// SQLSTATE `invalid_parameter_value`: `pg_xact_status` was called with a number that was never assigned.
const NEVER_GIVEN: &str = "22023";

/// Returns whether the transaction with this number was committed. Returns `None` if the server no longer
/// knows. Waits while the server is still committing the transaction in an old session.
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
            // The server never assigned this number: it crashed and lost the transaction.
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

/// Returns the locks that a group needs.
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

/// Runs all parts in order, with consecutive batches together, then commits.
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
