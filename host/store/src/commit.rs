//! Group commit: one task owns the writing connection, takes everything that is queued, and
//! writes it in one transaction.
//!
//! The order of the queue is the order of effect. Whatever fails without having been refused
//! (a full disk, an oversized value) fails the transaction; its parts are then tried one by one,
//! so that only the culprit fails. A failed COMMIT is taken neither for a commit nor for none:
//! the database is asked, on a new connection, where the jobs of the group stand.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use latchwork_core::storage::{Clock, Flush, WriteError};
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use tokio::sync::mpsc;

use crate::error::{Failure, is_busy, store_error};
use crate::group::{self, Mark, Standpoint};
use crate::statement::{Hand, Name};
use crate::writer::{Fate, Part, Tx};

/// How many parts share a transaction at most.
const GROUP_MAX: usize = 256;
/// How long a lingering batch waits for another that has to be durable at once.
const LINGER: Duration = Duration::from_millis(5);
/// How often a transaction is begun while another process keeps the database locked; each time
/// SQLite waits for its busy timeout.
const BUSY_TRIES: u32 = 4;

/// The task and what it owns.
pub(crate) struct Task {
    conn: SqliteConnection,
    options: SqliteConnectOptions,
    hand: Hand,
    clock: Arc<dyn Clock>,
    parts: mpsc::UnboundedReceiver<Part>,
}

impl Task {
    pub(crate) fn new(
        conn: SqliteConnection,
        options: SqliteConnectOptions,
        hand: Hand,
        clock: Arc<dyn Clock>,
        parts: mpsc::UnboundedReceiver<Part>,
    ) -> Self {
        Self { conn, options, hand, clock, parts }
    }

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
        let _ = self.conn.close().await;
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
        loop {
            let mut marks = Vec::new();
            let mut tx = Tx::new(&mut self.conn, &self.hand, &*self.clock);
            let Err(failure) = parts(&mut tx, group, &mut marks).await else {
                self.hand.tally.flushes.fetch_add(1, Ordering::Relaxed);
                return Fate::Committed;
            };
            let committing = tx.committing;
            if committing {
                return self.ask(&failure, &marks).await;
            }
            // A transaction that SQLite has ended by itself leaves nothing to roll back.
            let _ = self.statement(Name::ROLLBACK, "ROLLBACK").await;
            match &failure {
                Failure::Sql(error) if is_busy(error) && tries < BUSY_TRIES => {
                    tracing::debug!(%error, tries, "another process keeps the database locked");
                    tries += 1;
                }
                _ => return Fate::Failed(failure.into()),
            }
        }
    }

    /// After a COMMIT without an answer: where do the jobs stand? A transaction is written
    /// whole or not at all, so one job that tells decides for the group.
    async fn ask(&mut self, failure: &Failure, marks: &[Mark]) -> Fate {
        let why = match failure {
            Failure::Sql(error) => store_error(error),
            Failure::Store(error) => error.clone(),
        };
        tracing::warn!(error = %why, "a commit failed; reading what became of it");
        match self.options.connect().await {
            Ok(fresh) => drop(std::mem::replace(&mut self.conn, fresh)),
            Err(error) => return Fate::Unknown(format!("{why}; then it could not be opened: {error}")),
        }
        match group::standpoints(&self.hand, &mut self.conn, marks).await {
            Ok(standpoints) if standpoints.contains(&Standpoint::After) => {
                self.hand.tally.flushes.fetch_add(1, Ordering::Relaxed);
                Fate::Committed
            }
            Ok(standpoints) if standpoints.contains(&Standpoint::Before) => Fate::Failed(why),
            Ok(_) => Fate::Unknown(why.to_string()),
            Err(error) => Fate::Unknown(format!("{why}; then it could not be read: {}", store_error(&error))),
        }
    }

    async fn statement(&mut self, name: Name, sql: &str) -> Result<(), sqlx::Error> {
        self.hand.run(&mut self.conn, name, sql.to_owned(), SqliteArguments::default()).await?;
        Ok(())
    }

    fn answer(&self, group: Vec<Part>, fate: &Fate) {
        for part in group {
            match part {
                Part::Work(ticket) => ticket.answer(fate),
                Part::Close(_) => {}
                Part::Batch { outcome, reply, .. } => {
                    let result = match (fate, outcome) {
                        (Fate::Committed, Some(outcome)) => outcome,
                        (Fate::Committed, None) => Err(WriteError::Broken("a batch was passed over".to_owned())),
                        (Fate::Failed(error), _) => Err(error.clone().into()),
                        // What was refused is refused, whatever became of the others.
                        (Fate::Unknown(_), Some(Err(refusal))) => Err(refusal),
                        (Fate::Unknown(message), _) => Err(WriteError::Unknown(message.clone())),
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
