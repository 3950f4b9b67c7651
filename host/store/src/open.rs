//! Opening a database.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, SqlSafeStr};

use latchwork_core::model::ids::Hash;
use latchwork_core::storage::{Clock, StoreError};

use crate::clock::{SystemClock, TimeSource};
use crate::commit::WriterTask;
use crate::commit_marker::MarkerSequence;
use crate::connection::{Connection, Connector, RetryBudget};
use crate::dialect::Dialect;
use crate::durability::Durability;
use crate::error::{is_connection_lost, store_error};
use crate::generation::Generation;
use crate::high_water::HighWaterMark;
use crate::listener::NotificationListener;
use crate::probe::{NoProbe, Probe};
use crate::readers::Readers;
use crate::row::RowReader;
use crate::server::Server;
use crate::statement::{StatementCounters, StatementExecutor, StatementName};
use crate::statement_batch::StatementBatch;
use crate::writer::Writer;
use crate::{Database, commit_marker, file_lock, read_only};

/// Time for which SQLite waits while another process has locked the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Size of the write-ahead log, in pages, at which SQLite copies the log into the database file. The size is equal to
/// 32 MiB. With SQLite's default of 4 MiB, the writer would have to wait for a copy every few dozen commits.
const CHECKPOINT_PAGES: u32 = 8_000;
/// Number of prepared statements cached per connection. Groups touch different tables, so the texts of their statements
/// differ.
const STATEMENTS_CACHED: usize = 128;
/// Time for which a transaction on a server waits for one lock.
const LOCK_MAX: &str = "5s";
/// Time for which a server waits for the next statement of a transaction. A worker suspended inside a
/// transaction would otherwise keep jobs locked that other workers may have to claim.
const IDLE_MAX: &str = "10s";
/// Maximum number of result rows buffered between SQLite's thread and the caller.
const ROWS_IN_TRANSIT: usize = 1024;

/// Migrations, oldest first. A released migration must never be changed.
pub(crate) const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "stores", include_str!("../migrations/sqlite/0001_stores.sql")),
    (2, "reusables", include_str!("../migrations/sqlite/0002_reusables.sql")),
    (3, "waits", include_str!("../migrations/sqlite/0003_waits.sql")),
    (4, "costs", include_str!("../migrations/sqlite/0004_costs.sql")),
    (5, "audit", include_str!("../migrations/sqlite/0005_audit.sql")),
    (6, "priorities", include_str!("../migrations/sqlite/0006_priorities.sql")),
    (7, "restores", include_str!("../migrations/sqlite/0007_restores.sql")),
    (8, "looks", include_str!("../migrations/sqlite/0008_looks.sql")),
];

/// Migrations of PostgreSQL. The first one corresponds to the first five of SQLite, so the numbers continue
/// with 6. From 7 on the numbers differ from SQLite's, because only a server needs `commits`.
pub(crate) const POSTGRES_MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "stores", include_str!("../migrations/postgres/0001_stores.sql")),
    (6, "priorities", include_str!("../migrations/postgres/0006_priorities.sql")),
    (7, "commits", include_str!("../migrations/postgres/0007_commits.sql")),
    (8, "restores", include_str!("../migrations/postgres/0008_restores.sql")),
    (9, "looks", include_str!("../migrations/postgres/0009_looks.sql")),
];

/// Error text for a server database without tables if none may be created now.
pub const NO_TABLES: &str = "it has no Latchwork tables yet: the first run creates them";
/// Error text for a server database without tables if its user may not create any.
const MAY_NOT_CREATE_TABLES: &str = "it has no Latchwork tables yet, and this user may not create any: make the user the owner of the \
    database, or create the tables as another user";

/// Location of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseTarget {
    /// Path of a SQLite file.
    File(PathBuf),
    /// URL of a PostgreSQL database: `postgres://user@host/database`.
    Server(String),
}

/// Options for opening a database.
#[derive(Clone)]
pub struct OpenOptions {
    /// Location of the database.
    pub target: DatabaseTarget,
    /// True if a missing file, or missing tables in a server database, are created.
    pub create: bool,
    /// True if the caller only reads. A file that cannot be written is then opened for reading. For any other
    /// caller such a file is refused. SQLite only.
    pub reads_only: bool,
    /// Guarantee required on a power failure.
    pub durability: Durability,
    /// Maximum difference between two readings of the lease clock, in milliseconds.
    pub clock_margin_ms: u32,
    /// Directory beside the database for the generation file and for lock files of owners.
    pub owner_dir: PathBuf,
    /// Called before and after every statement.
    pub probe: Arc<dyn Probe>,
    /// Clock to use. `None` uses this machine's clock on SQLite and the server's clock on PostgreSQL.
    pub clock: Option<Arc<dyn Clock>>,
    /// Maximum size of the database in pages of 4 KiB. `None` means no limit. A database at the limit behaves
    /// like a full disk. SQLite only.
    pub pages_max: Option<u32>,
    /// True if the commits of the primary wait for a standby. A promoted standby then has every acknowledged write.
    /// PostgreSQL only.
    pub synchronous_failover: bool,
    /// True if opening retries while the server is unavailable. Meant for long-running programs.
    pub retry_unavailable: bool,
}

impl OpenOptions {
    /// Returns the default options for a file: full durability, created if missing, lock files in
    /// `<path>.owners`, clock margin of 2 s.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let mut owner_dir = path.clone().into_os_string();
        owner_dir.push(".owners");
        Self::of(DatabaseTarget::File(path), owner_dir.into())
    }

    /// Returns the default options for a server. `owner_dir` is the directory on this machine for the
    /// generation file and the lock files.
    pub fn server(url: impl Into<String>, owner_dir: impl Into<PathBuf>) -> Self {
        Self::of(DatabaseTarget::Server(url.into()), owner_dir.into())
    }

    fn of(target: DatabaseTarget, owner_dir: PathBuf) -> Self {
        Self {
            target,
            create: true,
            reads_only: false,
            durability: Durability::Full,
            clock_margin_ms: 2000,
            owner_dir,
            probe: Arc::new(NoProbe),
            clock: None,
            pages_max: None,
            synchronous_failover: false,
            retry_unavailable: false,
        }
    }
}

pub(crate) async fn open(options: OpenOptions) -> Result<Database, StoreError> {
    let at = match &options.target {
        DatabaseTarget::File(path) => path.display().to_string(),
        DatabaseTarget::Server(url) => server_name(url),
    };
    let mut patience = RetryBudget::new();
    let mut told = false;
    let opened = loop {
        match try_open(options.clone()).await {
            Err(OpenFailure { error, is_temporary: true }) if options.retry_unavailable && patience.wait().await => {
                if !told {
                    tracing::warn!(%error, "waiting for the database");
                }
                told = true;
            }
            opened => break opened.map_err(|away| away.error),
        }
    };
    opened.map_err(|error| {
        let at = |message: String| format!("{at}: {message}");
        match error {
            StoreError::Unavailable(message) => StoreError::Unavailable(at(message)),
            StoreError::Damaged(message) => StoreError::Damaged(at(message)),
            StoreError::Restored(message) => StoreError::Restored(at(message)),
            StoreError::NotDurable(message) => StoreError::NotDurable(at(message)),
            StoreError::ReadOnly(message) => StoreError::ReadOnly(at(message)),
        }
    })
}

/// Returns a description of a server's address without secrets.
pub fn server_name(url: &str) -> String {
    match PgConnectOptions::from_str(url) {
        Ok(options) => {
            let socket = options.get_socket().map(|socket| socket.display().to_string());
            let host = socket.unwrap_or_else(|| options.get_host().to_owned());
            let database = options.get_database().unwrap_or(options.get_username());
            format!("database {database} at {host}, port {}", options.get_port())
        }
        Err(_) => "the server".to_owned(),
    }
}

/// Reason why a database could not be opened.
struct OpenFailure {
    error: StoreError,
    /// True if a retry may succeed soon.
    is_temporary: bool,
}

impl From<StoreError> for OpenFailure {
    fn from(error: StoreError) -> Self {
        Self { error, is_temporary: false }
    }
}

async fn try_open(options: OpenOptions) -> Result<Database, OpenFailure> {
    let machine: Arc<dyn Clock> = match &options.clock {
        Some(clock) => clock.clone(),
        None => Arc::new(SystemClock::new()?),
    };
    let (connect, time) = match &options.target {
        DatabaseTarget::File(path) => {
            check_path(path, options.create)?;
            match read_only::write_obstacle(path, &options.owner_dir) {
                Some(why) if options.reads_only => return Ok(open_to_read(path, why, &options, machine).await?),
                Some(why) => return Err(read_only::refusal(&why).into()),
                None => {}
            }
            (Connector::Sqlite(Box::new(file_options(path, &options))), TimeSource::Machine(machine.clone()))
        }
        DatabaseTarget::Server(url) => {
            let time = options.clock.clone().map_or(TimeSource::Database, TimeSource::Machine);
            (Connector::Postgres(Box::new(server_options(url, options.durability)?)), time)
        }
    };
    // Only one process at a time may create the file, switch it to WAL and migrate it.
    let _alone = lock_opening(options.owner_dir.clone()).await?;
    let hand = StatementExecutor { probe: options.probe, counters: Arc::new(StatementCounters::default()) };
    let high_water = Arc::new(HighWaterMark::new(&options.owner_dir));
    let server = Arc::new(Server::new(options.durability, options.synchronous_failover, high_water.clone()));
    let made = connect.connect_once().await;
    let mut conn =
        made.map_err(|error| OpenFailure { is_temporary: is_connection_lost(&error), error: store_error(&error) })?;
    let prepared = async {
        match connect.dialect() {
            Dialect::Sqlite => options.durability.verify(&hand, &mut conn).await?,
            Dialect::Postgres => server.check_connection(&hand, &mut conn).await?,
        }
        migrate(&hand, &mut conn, options.create).await?;
        initialize(&hand, &mut conn, &*machine, &server).await
    };
    // A retry may succeed soon. The server may be a standby that is about to take over, or it may be shutting
    // down.
    let away = |error| OpenFailure { is_temporary: matches!(error, StoreError::Unavailable(_)), error };
    prepared.await.map_err(away)?;
    let (writing, tally) = (connect.clone(), hand.counters.clone());
    let bell = match &connect {
        Connector::Postgres(options) => Some(NotificationListener::new((**options).clone())),
        Connector::Sqlite(_) => None,
    };
    let database = Database {
        dialect: connect.dialect(),
        readers: Readers::new(connect, hand.clone()),
        writer: Writer::start({
            let (time, server, high_water) = (time.clone(), server.clone(), high_water.clone());
            let (conn, marks) = (Some(conn), MarkerSequence::default());
            move |parts| WriterTask {
                conn,
                connect: writing,
                executor: hand,
                time,
                server,
                high_water,
                parts,
                marker_sequence: marks,
            }
        }),
        time_source: time,
        machine,
        clock_margin_ms: options.clock_margin_ms,
        generation: Generation::new(&options.owner_dir, high_water),
        server,
        listener: bell,
        dead_owners: Default::default(),
        counters: tally,
        durability: options.durability,
        read_only: None,
    };
    database.generation.check_at_open(&database).await;
    Ok(database)
}

/// Opens a file that cannot be written, for a caller that only reads.
async fn open_to_read(
    path: &Path,
    why: String,
    options: &OpenOptions,
    machine: Arc<dyn Clock>,
) -> Result<Database, StoreError> {
    let hand = StatementExecutor { probe: options.probe.clone(), counters: Arc::new(StatementCounters::default()) };
    let (connect, read_only) = read_only::connect(path, why, &hand, base_options).await?;
    let high_water = Arc::new(HighWaterMark::new(&options.owner_dir));
    let server = Arc::new(Server::new(options.durability, options.synchronous_failover, high_water.clone()));
    let time = TimeSource::Machine(machine.clone());
    Ok(Database {
        dialect: connect.dialect(),
        readers: Readers::new(connect.clone(), hand.clone()),
        // Work given to this writer fails, because SQLite refuses to write.
        writer: Writer::start({
            let (time, server, high_water, hand) = (time.clone(), server.clone(), high_water.clone(), hand.clone());
            move |parts| WriterTask {
                conn: None,
                connect,
                executor: hand,
                time,
                server,
                high_water,
                parts,
                marker_sequence: MarkerSequence::default(),
            }
        }),
        time_source: time,
        machine,
        clock_margin_ms: options.clock_margin_ms,
        generation: Generation::new(&options.owner_dir, high_water),
        server,
        listener: None,
        dead_owners: Default::default(),
        counters: hand.counters,
        durability: options.durability,
        read_only: Some(read_only),
    })
}

/// Returns the options common to all connections to a file.
fn base_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(false)
        .statement_cache_capacity(STATEMENTS_CACHED)
        .row_buffer_size(ROWS_IN_TRANSIT)
        .thread_name(|number| format!("latch-sqlite-{number}"))
        .disable_statement_logging()
}

fn file_options(path: &Path, options: &OpenOptions) -> SqliteConnectOptions {
    let mut connect =
        base_options(path).create_if_missing(options.create).pragma("wal_autocheckpoint", CHECKPOINT_PAGES.to_string());
    if let Some(pages) = options.pages_max {
        connect = connect.pragma("max_page_count", pages.to_string());
    }
    options.durability.set(connect)
}

fn server_options(url: &str, durability: Durability) -> Result<PgConnectOptions, StoreError> {
    let connect = PgConnectOptions::from_str(url)
        .map_err(|error| StoreError::Unavailable(format!("its URL is invalid: {error}")))?
        .application_name("latchwork")
        .statement_cache_capacity(STATEMENTS_CACHED)
        .options([
            ("lock_timeout", LOCK_MAX),
            ("idle_in_transaction_session_timeout", IDLE_MAX),
            ("default_transaction_isolation", "read committed"),
            // Each statement needs few rows, and indexes find them. Without statistics, or with outdated ones, the
            // planner would scan whole tables, and a statement would take five times as long. Scans remain possible if
            // there is no other plan.
            ("enable_seqscan", "off"),
            ("enable_hashjoin", "off"),
            ("enable_mergejoin", "off"),
            // Compiling a statement never pays off here, even if the planner estimates a high cost.
            ("jit", "off"),
        ])
        .disable_statement_logging();
    Ok(durability.set_server(connect))
}

fn check_path(path: &Path, create: bool) -> Result<(), StoreError> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => {
            Err(StoreError::Unavailable("it is a directory: use a file in it, such as latch.db".to_owned()))
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && create => {
            let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
            match dir {
                Some(dir) if !dir.is_dir() => Err(StoreError::Unavailable(format!(
                    "its directory {} does not exist: create it, or use another file",
                    dir.display()
                ))),
                _ => Ok(()),
            }
        }
        Err(error) => Err(StoreError::Unavailable(format!("cannot open it: {error}"))),
    }
}

async fn lock_opening(dir: PathBuf) -> Result<File, StoreError> {
    let take = move || {
        std::fs::create_dir_all(&dir)?;
        file_lock::exclusive(&dir.join("open.lock"))
    };
    let taken: std::io::Result<File> =
        tokio::task::spawn_blocking(take).await.map_err(|error| StoreError::Unavailable(error.to_string()))?;
    taken.map_err(|error| StoreError::Unavailable(format!("cannot lock the directory beside it: {error}")))
}

async fn migrate(hand: &StatementExecutor, conn: &mut Connection, create: bool) -> Result<(), StoreError> {
    let migrations = match conn {
        Connection::Sqlite(_) => MIGRATIONS,
        Connection::Postgres(_) => {
            if is_current(hand, conn, create).await? {
                return Ok(());
            }
            POSTGRES_MIGRATIONS
        }
    };
    let migrations = migrations
        .iter()
        .map(|(version, name, sql)| {
            Migration::new(*version, (*name).into(), MigrationType::Simple, (*sql).into_sql_str(), false)
        })
        .collect();
    let migrator = Migrator::with_migrations(migrations);
    hand.migrate(conn, &migrator).await.map_err(|error| match error {
        MigrateError::VersionMissing(version) => StoreError::Unavailable(format!(
            "a newer version of Latchwork has changed it (schema {version}): use that version"
        )),
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => store_error(&error),
        MigrateError::VersionMismatch(version) => StoreError::Damaged(format!(
            "its schema {version} differs from that of this version of Latchwork: an unreleased version created it"
        )),
        other => StoreError::Unavailable(format!("cannot migrate its schema: {other}")),
    })
}

/// Returns true if the server database has the tables of this version. Its user then needs no right to create
/// tables. Fails if the tables are missing and `create` is false.
async fn is_current(hand: &StatementExecutor, conn: &mut Connection, create: bool) -> Result<bool, StoreError> {
    let there = StatementBatch::new("SELECT to_regclass('_sqlx_migrations') IS NOT NULL");
    let rows = hand.run(conn, StatementName::SCHEMA, there).await.map_err(|error| store_error(&error))?;
    if !RowReader::new(&rows[0][0], "pg_class").bool()? {
        if create {
            return Ok(false);
        }
        return Err(StoreError::Unavailable(match may_create_tables(hand, conn).await? {
            true => NO_TABLES.to_owned(),
            false => MAY_NOT_CREATE_TABLES.to_owned(),
        }));
    }
    let script =
        StatementBatch::new("SELECT CAST(COALESCE(MAX(version), 0) AS BIGINT) FROM _sqlx_migrations WHERE success");
    let rows = hand.run(conn, StatementName::SCHEMA, script).await.map_err(|error| store_error(&error))?;
    let version = RowReader::new(&rows[0][0], "_sqlx_migrations").int()?;
    Ok(POSTGRES_MIGRATIONS.last().is_some_and(|(last, ..)| *last == version))
}

/// Returns true if the user of the server database may create tables in the current schema.
async fn may_create_tables(hand: &StatementExecutor, conn: &mut Connection) -> Result<bool, StoreError> {
    let script = StatementBatch::new("SELECT COALESCE(has_schema_privilege(current_schema(), 'CREATE'), FALSE)");
    let rows = hand.run(conn, StatementName::SCHEMA, script).await.map_err(|error| store_error(&error))?;
    RowReader::new(&rows[0][0], "pg_namespace").bool()
}

/// Checks that the database can be written, and gives a new database its id.
async fn initialize(
    hand: &StatementExecutor,
    conn: &mut Connection,
    clock: &dyn Clock,
    server: &Server,
) -> Result<(), StoreError> {
    let dialect = match conn {
        Connection::Sqlite(_) => Dialect::Sqlite,
        Connection::Postgres(_) => Dialect::Postgres,
    };
    let mut script = StatementBatch::new(dialect.opening());
    script.push("ROLLBACK");
    hand.run(conn, StatementName::WRITABLE, script).await.map_err(|error| store_error(&error))?;
    let place = server.identity().text();
    let seed = format!("{} {} {place}", clock.boot_id(), clock.boot_us());
    let id = Hash::of(&[seed.as_bytes(), &clock.now_us().to_le_bytes(), &std::process::id().to_le_bytes()]).to_hex();
    // The statement writes only if the row is missing, so an existing database is opened without a write.
    let mut script = StatementBatch::new(match dialect {
        Dialect::Sqlite => {
            "INSERT INTO meta (id, database_id, generation) SELECT 1, ?, 0 WHERE NOT EXISTS (SELECT 1 FROM meta)"
        }
        Dialect::Postgres => {
            "INSERT INTO meta (id, database_id, generation, server, written) SELECT 1, ?, 0, ?, \
             CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) WHERE NOT EXISTS (SELECT 1 FROM meta) ON CONFLICT DO \
             NOTHING"
        }
    });
    script.text(&id[..32]);
    if dialect == Dialect::Postgres {
        script.text(place);
        commit_marker::prune(&mut script);
    }
    let named = hand.run(conn, StatementName::GENERATION_WRITE, script).await;
    named.map_err(|error| store_error(&error))?;
    Ok(())
}
