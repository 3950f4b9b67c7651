//! An open transaction, in which queued work runs.

use latchwork_core::model::ids::JobId;
use latchwork_core::storage::StoreError;

use crate::os::clock::{TimeSource, Timestamps};
use crate::server::checks::Server;
use crate::server::high_water::DatabasePosition;
use crate::sql::connection::Connection;
use crate::sql::dialect::Dialect;
use crate::sql::row::RowReader;
use crate::sql::statement::{Rows, StatementExecutor, StatementName};
use crate::sql::statement_batch::StatementBatch;
use crate::transaction::commit_marker::CommitMarker;
use crate::transaction::group_locks::GroupLocks;

/// An open transaction.
pub(crate) struct Tx<'a> {
    conn: &'a mut Connection,
    executor: &'a StatementExecutor,
    time: &'a TimeSource,
    pub(crate) dialect: Dialect,
    locks: GroupLocks,
    /// Reason why this transaction must not start a call or claim a job: the database is possibly not the database that
    /// was last used here.
    pub(crate) restored: Option<StoreError>,
    begun: bool,
    timestamps: Option<Timestamps>,
    /// Commit marker that this transaction writes. The stored marker later proves that the transaction was committed.
    pub(crate) marker: Option<CommitMarker>,
    /// PostgreSQL's number of this transaction.
    pub(crate) number: Option<String>,
    /// True if something outside the database relies on the writes of this transaction.
    pub(crate) is_externally_visible: bool,
    /// Position of the database after this transaction. Always set on PostgreSQL. On SQLite it is set only if
    /// `is_externally_visible` is true.
    pub(crate) position: Option<DatabasePosition>,
    server: &'a Server,
    /// True once COMMIT has been sent. If an error occurs after that, the transaction may nevertheless be committed.
    pub(crate) committing: bool,
    committed: bool,
    /// True while the last part of the transaction is executed. A part is one piece of queued work, or a sequence of
    /// consecutive batches. On SQLite, the last statement batch of the last part also contains COMMIT.
    pub(crate) is_last: bool,
}

impl<'a> Tx<'a> {
    pub(crate) fn new(
        conn: &'a mut Connection,
        executor: &'a StatementExecutor,
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
            executor,
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

    /// Begins the transaction on PostgreSQL: locks everything that the group touches, then reads the clock. The locks
    /// are necessary because PostgreSQL has other writers. They are always taken in the same order, so that two
    /// transactions cannot deadlock.
    async fn begin_group(&mut self) -> Result<(), sqlx::Error> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        let mut statements = StatementBatch::new(self.dialect.opening());
        let waiting = self.locks.push_waiter_queries(&mut statements);
        if waiting {
            let rows = self.executor.run(self.conn, StatementName::BEGIN, statements).await?;
            self.locks.add_waiters(&rows[1..]);
            statements = StatementBatch::default();
        }
        self.locks.push_locks(&mut statements);
        match &self.marker {
            Some(mark) => mark.push_with_clock(&mut statements),
            None => {
                statements.push(&Dialect::clock_query());
            }
        }
        let rows = self.executor.run(self.conn, StatementName::BEGIN, statements).await?;
        if let Some(row) = rows.last().and_then(|rows| rows.first()) {
            let mut row = RowReader::new(row, "the clock");
            if let (Ok(now_us), Ok(number), Ok(server), Ok(accepted)) = (row.int(), row.text(), row.text(), row.int()) {
                self.timestamps = Some(self.time.at_server_time(now_us));
                self.position = number.parse().ok().map(|number| DatabasePosition { accepted, number });
                self.number = Some(number);
                // The identity is checked again in each transaction, because a backup may be restored while the
                // connection exists.
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

    /// Runs a statement batch. The first statement batch of a transaction also begins the transaction, on SQLite in the
    /// same call.
    pub(crate) async fn run(&mut self, name: StatementName, statements: StatementBatch) -> Result<Rows, sqlx::Error> {
        self.run_to(name, statements, false).await
    }

    /// Runs the last statement batch of this part. On SQLite, the last statement batch of the last part also commits.
    /// On PostgreSQL, COMMIT is a separate call. The results of the statement batch are therefore known even if the
    /// answer to COMMIT is lost.
    pub(crate) async fn run_last(
        &mut self,
        name: StatementName,
        statements: StatementBatch,
    ) -> Result<Rows, sqlx::Error> {
        self.run_to(name, statements, self.is_last && self.dialect == Dialect::Sqlite).await
    }

    async fn run_to(
        &mut self,
        name: StatementName,
        mut statements: StatementBatch,
        commits: bool,
    ) -> Result<Rows, sqlx::Error> {
        if self.dialect == Dialect::Postgres {
            self.begin_group().await?;
        }
        let begins = !self.begun;
        let counts = begins && self.is_externally_visible && self.dialect == Dialect::Sqlite;
        if counts {
            statements.push_first(COUNT_TRANSACTION);
        }
        if begins {
            statements.push_first(self.dialect.opening());
        }
        if commits {
            statements.push(COMMIT);
            self.committing = true;
        }
        let before_last = statements.len() - 1;
        let mut ended = 0;
        let ran = self.executor.run_counting(self.conn, name, statements, &mut ended).await;
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
