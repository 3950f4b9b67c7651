//! Opening a database.

use std::path::Path;
use std::sync::Arc;

use latchwork_core::storage::{Clock, StoreError};

use crate::database::handle::Database;
use crate::generation::Generation;
use crate::open::connect_options::{file_options, server_name, server_options};
use crate::open::migrations::migrate;
use crate::open::new_database::initialize;
use crate::open::options::{DatabaseTarget, OpenOptions};
use crate::open::paths::{check_path, create_database_file, lock_opening};
use crate::open::read_only::{self, ReadOnly};
use crate::os::clock::{StoreClock, TimeSource};
use crate::server::checks::Server;
use crate::server::high_water::HighWaterMark;
use crate::server::listener::NotificationListener;
use crate::sql::connection::{Connection, Connector, RetryBudget};
use crate::sql::dialect::Dialect;
use crate::sql::error::{is_connection_lost, store_error};
use crate::sql::readers::Readers;
use crate::sql::statement::{StatementCounters, StatementExecutor};
use crate::transaction::commit_marker::MarkerSequence;
use crate::write::commit::WriterTask;
use crate::write::writer::Writer;

impl Database {
    /// Opens a database. Creates the database or updates its schema if necessary.
    pub async fn open(options: OpenOptions) -> Result<Arc<Self>, StoreError> {
        open(options).await.map(Arc::new)
    }
}

async fn open(options: OpenOptions) -> Result<Database, StoreError> {
    let at = match &options.target {
        DatabaseTarget::File(path) => path.display().to_string(),
        DatabaseTarget::Server(url) => server_name(url),
    };
    let mut patience = RetryBudget::new();
    let mut is_reported = false;
    let opened = loop {
        match try_open(&options).await {
            Err(OpenFailure { error, is_temporary: true }) if options.retry_unavailable && patience.wait().await => {
                if !is_reported {
                    tracing::warn!(%error, "waiting for the database");
                }
                is_reported = true;
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

async fn try_open(options: &OpenOptions) -> Result<Database, OpenFailure> {
    let machine: Arc<dyn Clock> = match &options.clock {
        Some(clock) => clock.clone(),
        None => Arc::new(StoreClock::new()?),
    };
    let (connect, time) = match &options.target {
        DatabaseTarget::File(path) => {
            check_path(path, options.create)?;
            match read_only::write_obstacle(path, &options.owner_dir) {
                Some(why) if options.reads_only => return Ok(open_to_read(path, why, options, machine).await?),
                Some(why) => return Err(read_only::refusal(&why).into()),
                None => {}
            }
            (Connector::Sqlite(Box::new(file_options(path, options))), TimeSource::Machine(machine.clone()))
        }
        DatabaseTarget::Server(url) => {
            let time = options.clock.clone().map_or(TimeSource::Database, TimeSource::Machine);
            (Connector::Postgres(Box::new(server_options(url, options.durability)?)), time)
        }
    };
    // Only one process at a time may create the file, switch it to WAL and migrate it.
    let _alone = lock_opening(options.owner_dir.clone()).await?;
    if let (DatabaseTarget::File(path), true) = (&options.target, options.create) {
        create_database_file(path)?;
    }
    let executor = StatementExecutor { probe: options.probe.clone(), counters: Arc::new(StatementCounters::default()) };
    let high_water = Arc::new(HighWaterMark::new(&options.owner_dir, options.process_id));
    let server = Arc::new(Server::new(options.durability, options.synchronous_failover, high_water.clone()));
    let made = connect.connect_once().await;
    let mut conn =
        made.map_err(|error| OpenFailure { is_temporary: is_connection_lost(&error), error: store_error(&error) })?;
    let prepared = async {
        match connect.dialect() {
            Dialect::Sqlite => options.durability.verify(&executor, &mut conn).await?,
            Dialect::Postgres => server.check_connection(&executor, &mut conn).await?,
        }
        migrate(&executor, &mut conn, options.create).await?;
        initialize(&executor, &mut conn, &*machine, options.process_id, &server).await
    };
    // A retry may succeed soon. The server may be a standby that is about to take over, or it may be shutting
    // down.
    let away = |error| OpenFailure { is_temporary: matches!(error, StoreError::Unavailable(_)), error };
    prepared.await.map_err(away)?;
    let listener = match &connect {
        Connector::Postgres(options) => Some(NotificationListener::new((**options).clone())),
        Connector::Sqlite(_) => None,
    };
    let parts =
        Parts { connect, conn: Some(conn), executor, time, machine, server, high_water, listener, read_only: None };
    let database = assemble(parts, options);
    database.generation.check_at_open(&database.access()).await;
    Ok(database)
}

/// Opens a file that cannot be written, for a caller that only reads.
async fn open_to_read(
    path: &Path,
    why: String,
    options: &OpenOptions,
    machine: Arc<dyn Clock>,
) -> Result<Database, StoreError> {
    let executor = StatementExecutor { probe: options.probe.clone(), counters: Arc::new(StatementCounters::default()) };
    let (connect, read_only) = read_only::connect(path, why, &executor).await?;
    let high_water = Arc::new(HighWaterMark::new(&options.owner_dir, options.process_id));
    let server = Arc::new(Server::new(options.durability, options.synchronous_failover, high_water.clone()));
    let time = TimeSource::Machine(machine.clone());
    // Work given to the writer fails, because SQLite refuses to write.
    let (conn, listener, read_only) = (None, None, Some(read_only));
    let parts = Parts { connect, conn, executor, time, machine, server, high_water, listener, read_only };
    Ok(assemble(parts, options))
}

/// Parts from which an open database is assembled.
struct Parts {
    connect: Connector,
    /// Connection of the writer. `None` if the writer makes its own connection.
    conn: Option<Connection>,
    executor: StatementExecutor,
    time: TimeSource,
    machine: Arc<dyn Clock>,
    server: Arc<Server>,
    high_water: Arc<HighWaterMark>,
    listener: Option<NotificationListener>,
    read_only: Option<ReadOnly>,
}

/// Assembles the database and starts its writer.
fn assemble(parts: Parts, options: &OpenOptions) -> Database {
    let Parts { connect, conn, executor, time, machine, server, high_water, listener, read_only } = parts;
    Database {
        dialect: connect.dialect(),
        readers: Readers::new(connect.clone(), executor.clone()),
        generation: Generation::new(&options.owner_dir, high_water.clone()),
        time_source: time.clone(),
        server: server.clone(),
        counters: executor.counters.clone(),
        writer: Writer::start(|parts| WriterTask {
            conn,
            connect,
            executor,
            time,
            server,
            high_water,
            parts,
            marker_sequence: MarkerSequence::default(),
        }),
        machine,
        clock_margin_ms: options.clock_margin_ms,
        listener,
        dead_owners: Default::default(),
        durability: options.durability,
        read_only,
    }
}
