//! Group commit: one task owns the writing connection, takes everything that is queued, and writes it in one
//! transaction.
//!
//! The order of the queue is the order of the writes. A failure that is not a refusal, such as a full disk or an
//! oversized value, fails the whole transaction. The writer then tries the parts of the transaction one by one. Only
//! the faulty part then fails.
//!
//! A transaction is repeated as a whole if another worker interfered or if the connection was lost before COMMIT. After
//! a failed COMMIT the outcome is unknown. The writer then reads the outcome from the database on a new connection.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc;

use latchwork_core::storage::{StoreError, WriteError};

use crate::os::clock::TimeSource;
use crate::server::checks::Server;
use crate::server::high_water::{DatabasePosition, HighWaterMark};
use crate::sql::connection::{Connection, Connector, RetryBudget};
use crate::sql::dialect::Dialect;
use crate::sql::error::{TransactionFailure, is_connection_lost, is_read_only, is_transient, store_error};
use crate::sql::statement::{StatementExecutor, StatementName};
use crate::sql::statement_batch::StatementBatch;
use crate::transaction::commit_marker::MarkerSequence;
use crate::transaction::group_locks::GroupLocks;
use crate::transaction::tx::Tx;
use crate::write::group;
use crate::write::log_positions::{BatchPositions, CommitOutcome};
use crate::write::queue::{QueuedPart, TransactionOutcome};
use crate::write::slow_transaction::reporting_waits;
use crate::write::unanswered::{TransactionEvidence, read_outcomes};

/// Maximum number of parts in a transaction.
const GROUP_MAX: usize = 256;
/// Time for which a deferred batch waits for another batch that needs an immediate flush.
const LINGER: Duration = Duration::from_millis(5);
/// Maximum number of tries of a transaction if other writers interfere. SQLite waits for its busy timeout each
/// time. PostgreSQL waits for its lock timeout or until it detects a deadlock.
const TRIES_MAX: u32 = 6;

/// The writer's task and its data.
pub(crate) struct WriterTask {
    /// `None` while the server is unavailable.
    pub(crate) conn: Option<Connection>,
    pub(crate) connect: Connector,
    pub(crate) executor: StatementExecutor,
    pub(crate) time: TimeSource,
    pub(crate) server: Arc<Server>,
    pub(crate) high_water: Arc<HighWaterMark>,
    pub(crate) parts: mpsc::UnboundedReceiver<QueuedPart>,
    pub(crate) marker_sequence: MarkerSequence,
}

impl WriterTask {
    /// Processes the queue until it is closed.
    pub(crate) async fn run(mut self) {
        let mut group = Vec::with_capacity(GROUP_MAX);
        let mut closed = None;
        while closed.is_none() && self.parts.recv_many(&mut group, GROUP_MAX).await > 0 {
            if group.iter().all(lingers) {
                // Gather parts until one part needs an immediate flush, the group is full or the time is over.
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
            closed = group.iter().position(|part| matches!(part, QueuedPart::Close(_))).map(|at| group.split_off(at));
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
            if let QueuedPart::Close(reply) = part {
                let _ = reply.send(());
            }
        }
    }

    /// Writes a group. If the transaction failed and certainly wrote nothing, writes the parts one by one.
    async fn commit(&mut self, mut group: Vec<QueuedPart>) {
        match self.transaction(&mut group).await {
            TransactionOutcome::Failed(_) if group.len() > 1 => {
                for part in group {
                    let mut alone = vec![part];
                    let fate = self.transaction(&mut alone).await;
                    self.answer(alone, &fate);
                }
            }
            fate => self.answer(group, &fate),
        }
    }

    async fn transaction(&mut self, group: &mut [QueuedPart]) -> TransactionOutcome {
        let mut tries = 1;
        let mut patience = RetryBudget::new();
        loop {
            let (mut conn, restored) = match self.connection(&mut patience).await {
                Ok(ready) => ready,
                Err(error) => return TransactionOutcome::Unavailable(error),
            };
            let place = self.server.identity();
            let mut marks = Vec::new();
            let locks = group_locks(self.connect.dialect(), group);
            let mut tx = Tx::new(&mut conn, &self.executor, &self.time, &self.server, locks);
            tx.restored = restored;
            tx.is_externally_visible = group.iter().any(QueuedPart::is_externally_visible);
            let needs_marker = group.iter().any(QueuedPart::needs_marker);
            tx.marker = self.marker_sequence.next(self.server.connection_id(), needs_marker);
            let parts = run_parts(&mut tx, group, &mut marks);
            let Err(failure) = reporting_waits(self.connect.dialect(), parts).await else {
                self.publish_position(tx.is_externally_visible, tx.position);
                self.conn = Some(conn);
                self.executor.counters.flushes.fetch_add(1, Ordering::Relaxed);
                return TransactionOutcome::Committed;
            };
            let lost = matches!(&failure, TransactionFailure::Sql(error) if is_connection_lost(error));
            let on_server = self.connect.dialect() == Dialect::Postgres;
            if tx.committing {
                let (relied_on, reached) = (tx.is_externally_visible, tx.position);
                let trace = TransactionEvidence { number: tx.number.take(), marker: tx.marker.take(), server: place };
                // Closing the connection releases its locks.
                drop(conn);
                match self.determine_outcome(&failure, &marks, trace).await {
                    // The transaction was certainly not committed, so the writer repeats it.
                    TransactionOutcome::Failed(_) if lost && on_server && patience.wait().await => continue,
                    fate => {
                        if matches!(fate, TransactionOutcome::Committed) {
                            self.publish_position(relied_on, reached);
                        }
                        return fate;
                    }
                }
            }
            if !(on_server && lost) {
                self.roll_back(conn).await;
            }
            match &failure {
                TransactionFailure::Retry if tries < TRIES_MAX => tries += 1,
                TransactionFailure::Sql(error) if is_transient(error) && tries < TRIES_MAX => {
                    tracing::debug!(%error, tries, "another process interfered; repeating the transaction");
                    tries += 1;
                }
                TransactionFailure::Sql(error) if lost && on_server => {
                    tracing::debug!(%error, "the connection was lost before COMMIT; writing the group again");
                    if !patience.wait().await {
                        return TransactionOutcome::Unavailable(failure.into());
                    }
                }
                TransactionFailure::Sql(error) if is_read_only(error) => {
                    // On PostgreSQL the transaction is repeated on a new connection. The server may be read-only only
                    // for a moment, or another server may be taking over.
                    self.conn = None;
                    if !on_server || !patience.wait().await {
                        return TransactionOutcome::Unavailable(failure.into());
                    }
                }
                _ => return TransactionOutcome::Failed(failure.into()),
            }
        }
    }

    /// Ends a failed transaction. Keeps the connection if it is still usable.
    async fn roll_back(&mut self, mut conn: Connection) {
        let statements = StatementBatch::new("ROLLBACK");
        let rolled_back = self.executor.run(&mut conn, StatementName::ROLLBACK, statements).await.is_ok();
        // If SQLite has already ended the transaction, ROLLBACK fails. The connection is still usable.
        self.conn = (rolled_back || self.connect.dialect() == Dialect::Sqlite).then_some(conn);
    }

    /// Raises the high-water mark after a transaction is durable and before any caller is notified.
    fn publish_position(&self, relied_on: bool, reached: Option<DatabasePosition>) {
        if let Some(reached) = reached.filter(|_| relied_on) {
            self.high_water.raise(reached);
        }
    }

    /// Returns the connection. Also returns the reason why no work may be started on the connection, if there is one.
    /// Reconnects if the connection was lost.
    async fn connection(&mut self, patience: &mut RetryBudget) -> Result<(Connection, Option<StoreError>), StoreError> {
        let mut conn = match self.conn.take() {
            Some(conn) => conn,
            None => loop {
                let mut conn = self.connect.connect_with_retry(patience).await.map_err(|error| store_error(&error))?;
                match self.server.check_connection(&self.executor, &mut conn).await {
                    Ok(()) => break conn,
                    // The server may be a standby that is about to take over, or it may be shutting down.
                    Err(error) if !patience.wait().await => return Err(error),
                    Err(error) => tracing::debug!(%error, "the server is not ready; retrying"),
                }
            },
        };
        let restored = self.server.restore_refusal(&self.executor, &mut conn).await;
        Ok((conn, restored))
    }

    /// Determines the outcome of a COMMIT that was not answered. The new connection of the writer may lead to another
    /// database than the accepted one. If the transaction is committed in such a database, the outcome is
    /// [`TransactionOutcome::CommittedElsewhere`], and no work starts.
    async fn determine_outcome(
        &mut self,
        failure: &TransactionFailure,
        marks: &[BatchPositions],
        trace: TransactionEvidence,
    ) -> TransactionOutcome {
        let why = match failure {
            TransactionFailure::Sql(error) => store_error(error),
            TransactionFailure::Store(error) => error.clone(),
            TransactionFailure::Retry => {
                StoreError::Unavailable("another worker interfered with the transaction".to_owned())
            }
        };
        tracing::warn!(error = %why, "a commit failed; checking whether it took effect");
        let mut patience = RetryBudget::new();
        let (mut conn, restored) = match self.connection(&mut patience).await {
            Ok(ready) => ready,
            Err(error) => {
                return TransactionOutcome::Unknown(format!("{why}; then the database could not be opened: {error}"));
            }
        };
        let here = self.server.identity();
        let standpoints = read_outcomes(&self.executor, &mut conn, marks, trace, &here, &mut patience).await;
        self.conn = Some(conn);
        match standpoints {
            Ok(standpoints) if standpoints.contains(&CommitOutcome::Committed) => {
                self.executor.counters.flushes.fetch_add(1, Ordering::Relaxed);
                match restored {
                    None => TransactionOutcome::Committed,
                    Some(restored) => TransactionOutcome::CommittedElsewhere(format!(
                        "{why}; then another database answered: {restored}"
                    )),
                }
            }
            Ok(standpoints) if standpoints.contains(&CommitOutcome::NotCommitted) => TransactionOutcome::Failed(why),
            Ok(_) => TransactionOutcome::Unknown(why.to_string()),
            Err(error) => {
                self.conn = None;
                TransactionOutcome::Unknown(format!("{why}; then it could not be checked: {}", store_error(&error)))
            }
        }
    }

    fn answer(&self, group: Vec<QueuedPart>, fate: &TransactionOutcome) {
        for part in group {
            let fate = fate.for_part(&part);
            match part {
                QueuedPart::Work(ticket) => ticket.answer(&fate),
                QueuedPart::Close(_) => {}
                QueuedPart::Batch { outcome, reply, .. } => {
                    let result = match (fate, outcome) {
                        (TransactionOutcome::Committed | TransactionOutcome::CommittedElsewhere(_), Some(outcome)) => {
                            outcome
                        }
                        (TransactionOutcome::Committed | TransactionOutcome::CommittedElsewhere(_), None) => {
                            Err(WriteError::Defect("the writer skipped a batch".to_owned()))
                        }
                        (TransactionOutcome::Failed(error) | TransactionOutcome::Unavailable(error), _) => {
                            Err(error.into())
                        }
                        // A refused part stays refused, even if the outcome of the transaction is unknown.
                        (TransactionOutcome::Unknown(_), Some(Err(refusal))) => Err(refusal),
                        (TransactionOutcome::Unknown(message), _) => Err(WriteError::Unknown(message)),
                    };
                    let counter = match &result {
                        Ok(()) => &self.executor.counters.batches,
                        Err(_) => &self.executor.counters.refused,
                    };
                    counter.fetch_add(1, Ordering::Relaxed);
                    // The caller may have stopped waiting. The result is then not needed.
                    let _ = reply.send(result);
                }
            }
        }
    }
}

/// Returns the locks that a group needs.
fn group_locks(dialect: Dialect, group: &[QueuedPart]) -> GroupLocks {
    let mut locks = GroupLocks::default();
    if dialect == Dialect::Sqlite {
        return locks;
    }
    for part in group {
        match part {
            QueuedPart::Batch { batch, .. } => locks.add_batch(batch),
            QueuedPart::Work(ticket) => locks.add_work(ticket.jobs(), ticket.lock_numbers()),
            QueuedPart::Close(_) => {}
        }
    }
    locks
}

fn lingers(part: &QueuedPart) -> bool {
    matches!(part, QueuedPart::Batch { batch, .. } if batch.writes.lingers())
}

/// Runs all parts in order, with consecutive batches together, then commits.
async fn run_parts(
    tx: &mut Tx<'_>,
    group: &mut [QueuedPart],
    marks: &mut Vec<BatchPositions>,
) -> Result<(), TransactionFailure> {
    let mut rest = group;
    while !rest.is_empty() {
        let batches = rest.iter().take_while(|part| matches!(part, QueuedPart::Batch { .. })).count();
        let (now, later) = rest.split_at_mut(batches.max(1));
        tx.is_last = later.is_empty();
        if let [QueuedPart::Work(ticket)] = now {
            ticket.run(tx).await?;
        } else {
            let mut all = Vec::with_capacity(now.len());
            for part in now {
                if let QueuedPart::Batch { batch, outcome, .. } = part {
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
