//! The only place that sends SQL to the database. Every statement has a name. The [`Probe`] is called with this name
//! before and after the statement, and a test may kill the process there. Each name is therefore two crash points of
//! the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::TryStreamExt;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::PgArguments;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, AssertSqlSafe, Either, Executor, PgConnection, SqliteConnection};

use latchwork_core::storage::Counters;

use crate::os::probe::{Probe, Side};
use crate::sql::connection::Connection;
use crate::sql::dialect::Dialect;
use crate::sql::row::StoredRow;
use crate::sql::statement_batch::{BoundValue, StatementBatch};

/// Name of a statement. All names are listed in [`STATEMENTS`] and [`POSTGRES_STATEMENTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatementName(&'static str);

macro_rules! statements {
    (both { $($name:ident = $text:literal;)* } postgres { $($own:ident = $its:literal;)* }) => {
        impl StatementName {
            $(pub(crate) const $name: StatementName = StatementName($text);)*
            $(pub(crate) const $own: StatementName = StatementName($its);)*
        }
        /// Names of the statements of both databases. Each name is a crash point before and after its
        /// statement.
        pub const STATEMENTS: &[&str] = &[$($text),*];
        /// Names of the additional statements on PostgreSQL.
        pub const POSTGRES_STATEMENTS: &[&str] = &[$($its),*];
    };
}

statements! {
    both {
    SETTINGS = "settings";
    MIGRATE = "migrate";
    WRITABLE = "writable";
    GENERATION_READ = "generation_read";
    GENERATION_WRITE = "generation_write";
    QUICK_CHECK = "quick_check";
    SCHEMA = "schema";
    SUBMIT_FIND = "submit_find";
    SUBMIT_COUNT = "submit_count";
    SUBMIT_INSERT = "submit_insert";
    CLAIM_LOOK = "claim_look";
    CLAIM_FIND = "claim_find";
    CLAIM_TAKE = "claim_take";
    HEARTBEAT = "heartbeat";
    GROUP_READ = "group_read";
    GROUP_WRITE = "group_write";
    COMMIT = "commit";
    ROLLBACK = "rollback";
    REREAD = "reread";
    EFFECTS_FIND = "effects_find";
    EFFECTS_INSERT = "effects_insert";
    EFFECTS_READ = "effects_read";
    INBOX_FIND = "inbox_find";
    INBOX_INSERT = "inbox_insert";
    INBOX_READ = "inbox_read";
    TIMERS_LOOK = "timers_look";
    TIMERS_FIND = "timers_find";
    TIMERS_FIRE = "timers_fire";
    LOAD = "load";
    OUTLINE = "outline";
    JOB_READ = "job_read";
    JOBS_READ = "jobs_read";
    RECOVER = "recover";
    OWNER_READ = "owner_read";
    OWNERS_NAMED = "owners_named";
    ACTION_READ = "action_read";
    REUSABLE_READ = "reusable_read";
    PAYLOAD_READ = "payload_read";
    COSTS_READ = "costs_read";
    SPENT_READ = "spent_read";
    KV_GET = "kv_get";
    KV_FIND = "kv_find";
    KV_SET = "kv_set";
    KV_DELETE = "kv_delete";
    KV_SHARED = "kv_shared";
    }
    postgres {
    BEGIN = "begin";
    OUTCOME = "outcome";
    }
}

/// Counters shared by all connections of a database.
#[derive(Debug, Default)]
pub(crate) struct StatementCounters {
    pub(crate) flushes: AtomicU64,
    pub(crate) batches: AtomicU64,
    pub(crate) statements: AtomicU64,
    pub(crate) refused: AtomicU64,
}

impl StatementCounters {
    pub(crate) fn read(&self) -> Counters {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters {
            flushes: get(&self.flushes),
            batches: get(&self.batches),
            statements: get(&self.statements),
            refused: get(&self.refused),
        }
    }
}

/// Runs SQL statements on a connection. Counts the statements, and calls the probe at each crash point.
#[derive(Clone)]
pub(crate) struct StatementExecutor {
    pub(crate) probe: Arc<dyn Probe>,
    pub(crate) counters: Arc<StatementCounters>,
}

/// Maximum time for one statement on a server. After this time, the connection counts as lost. Without this limit, a
/// network that drops packets would block a worker for 15 minutes.
const STATEMENT_MAX: Duration = Duration::from_secs(60);

/// Rows of each statement of a statement batch, in order.
pub(crate) type Rows = Vec<Vec<StoredRow>>;

impl StatementExecutor {
    /// Runs a statement batch. SQLite gets the whole statement batch in one call to the database's thread. PostgreSQL
    /// gets one statement after the other. Each text is prepared once and cached.
    pub(crate) async fn run(
        &self,
        conn: &mut Connection,
        name: StatementName,
        statements: StatementBatch,
    ) -> Result<Rows, sqlx::Error> {
        self.run_counting(conn, name, statements, &mut 0).await
    }

    /// Runs a statement batch. Sets `ended` to the number of statements that succeeded. After a failure, this number
    /// is the index of the failed statement.
    pub(crate) async fn run_counting(
        &self,
        conn: &mut Connection,
        name: StatementName,
        statements: StatementBatch,
        ended: &mut usize,
    ) -> Result<Rows, sqlx::Error> {
        self.probe.at(name.0, Side::Before);
        let ran = match conn {
            Connection::Sqlite(conn) => run_whole(conn, statements, ended).await,
            Connection::Postgres(conn) => run_each(conn, &statements, ended).await,
        };
        self.counters.statements.fetch_add(*ended as u64, Ordering::Relaxed);
        self.probe.at(name.0, Side::After);
        if self.probe.loses_answer(name.0) {
            return Err(sqlx::Error::WorkerCrashed);
        }
        ran
    }

    /// Updates the schema.
    pub(crate) async fn migrate(&self, conn: &mut Connection, migrator: &Migrator) -> Result<(), MigrateError> {
        self.probe.at(StatementName::MIGRATE.0, Side::Before);
        let ran = match conn {
            Connection::Sqlite(conn) => migrator.run_direct(None, conn, false).await,
            Connection::Postgres(conn) => migrator.run_direct(None, &mut **conn, false).await,
        };
        self.probe.at(StatementName::MIGRATE.0, Side::After);
        ran
    }
}

async fn run_whole(
    conn: &mut SqliteConnection,
    statements: StatementBatch,
    ended: &mut usize,
) -> Result<Rows, sqlx::Error> {
    let mut args = SqliteArguments::default();
    for value in statements.args {
        let bound = match value {
            BoundValue::Int(value) => args.add(value),
            BoundValue::Text(value) => args.add(value),
            BoundValue::Blob(value) => args.add(value),
        };
        bound.map_err(sqlx::Error::Encode)?;
    }
    let mut stream = conn.fetch_many(sqlx::query_with(AssertSqlSafe(statements.sql), args));
    let mut rows = Rows::new();
    let mut open = Vec::new();
    while let Some(item) = stream.try_next().await? {
        match item {
            Either::Right(row) => open.push(StoredRow::Sqlite(row)),
            Either::Left(_) => {
                rows.push(std::mem::take(&mut open));
                *ended = rows.len();
            }
        }
    }
    Ok(rows)
}

async fn run_each(
    conn: &mut PgConnection,
    statements: &StatementBatch,
    ended: &mut usize,
) -> Result<Rows, sqlx::Error> {
    let mut rows = Rows::with_capacity(statements.len());
    for (sql, values) in statements.iter() {
        let mut args = PgArguments::default();
        for value in values {
            let bound = match value {
                BoundValue::Int(value) => args.add(value),
                BoundValue::Text(value) => args.add(value),
                BoundValue::Blob(value) => args.add(value),
            };
            bound.map_err(sqlx::Error::Encode)?;
        }
        let query = sqlx::query_with(AssertSqlSafe(Dialect::Postgres.translate(sql)), args);
        let found = tokio::time::timeout(STATEMENT_MAX, conn.fetch_all(query)).await;
        let found = found.map_err(|_| sqlx::Error::Io(std::io::ErrorKind::TimedOut.into()))??;
        rows.push(found.into_iter().map(StoredRow::Postgres).collect());
        *ended = rows.len();
    }
    Ok(rows)
}
