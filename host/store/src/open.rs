//! Opening a database.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use latchwork_core::ids::Hash;
use latchwork_core::storage::{Clock, StoreError};
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions};
use sqlx::{ConnectOptions, SqlSafeStr, SqliteConnection};

use crate::Sqlite;
use crate::clock::SystemClock;
use crate::durability::Durability;
use crate::error::store_error;
use crate::generation::Generation;
use crate::lock;
use crate::probe::{NoProbe, Probe};
use crate::readers::Readers;
use crate::script::Script;
use crate::statement::{Hand, Name, Tally};
use crate::writer::Writer;

/// How long SQLite waits for another process that has the database locked.
const BUSY: Duration = Duration::from_secs(5);
/// Pages of the log after which SQLite copies them into the database file, 32 MiB: its own
/// choice of 4 MiB would stop the writer for that every few dozen commits.
const CHECKPOINT_PAGES: u32 = 8_000;
/// Prepared scripts to keep: groups vary in what they touch.
const STATEMENTS_KEPT: usize = 128;
/// Rows that may be on their way from the database's thread.
const ROWS_UNDERWAY: usize = 1024;

/// The migrations, oldest first; one that was released is never changed.
pub(crate) const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "stores", include_str!("../migrations/sqlite/0001_stores.sql")),
    (2, "reusables", include_str!("../migrations/sqlite/0002_reusables.sql")),
    (3, "waits", include_str!("../migrations/sqlite/0003_waits.sql")),
    (4, "costs", include_str!("../migrations/sqlite/0004_costs.sql")),
    (5, "audit", include_str!("../migrations/sqlite/0005_audit.sql")),
    (6, "priorities", include_str!("../migrations/sqlite/0006_priorities.sql")),
];

/// What to open, and how.
#[derive(Clone)]
pub struct OpenOptions {
    /// The database file.
    pub path: PathBuf,
    /// Whether to create it if it is missing.
    pub create: bool,
    /// What has to survive a power failure.
    pub durability: Durability,
    /// How far two readings of the boot-time clock are trusted to agree, in milliseconds.
    pub clock_margin_ms: u32,
    /// A directory beside the database, for the generation file and for owners' lock files.
    pub owner_dir: PathBuf,
    /// Told of every statement.
    pub probe: Arc<dyn Probe>,
    /// The clock; none for this machine's.
    pub clock: Option<Arc<dyn Clock>>,
    /// At most so many pages of 4 KiB; none for as many as the disk holds. A full database
    /// behaves like a full disk.
    pub pages_max: Option<u32>,
}

impl OpenOptions {
    /// The usual: durable, created where missing, lock files in `<path>.owners`, 2 s clock margin.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let mut owner_dir = path.clone().into_os_string();
        owner_dir.push(".owners");
        Self {
            path,
            create: true,
            durability: Durability::Full,
            clock_margin_ms: 2000,
            owner_dir: owner_dir.into(),
            probe: Arc::new(NoProbe),
            clock: None,
            pages_max: None,
        }
    }
}

pub(crate) async fn open(options: OpenOptions) -> Result<Sqlite, StoreError> {
    let path = options.path.clone();
    try_open(options).await.map_err(|error| {
        let at = |message: String| format!("{}: {message}", path.display());
        match error {
            StoreError::Unavailable(message) => StoreError::Unavailable(at(message)),
            StoreError::Damaged(message) => StoreError::Damaged(at(message)),
            StoreError::Restored(message) => StoreError::Restored(at(message)),
            StoreError::NotDurable(message) => StoreError::NotDurable(at(message)),
        }
    })
}

async fn try_open(options: OpenOptions) -> Result<Sqlite, StoreError> {
    check_path(&options)?;
    let clock = match options.clock {
        Some(clock) => clock,
        None => Arc::new(SystemClock::new()?),
    };
    // One at a time: creating, switching to WAL and migrating must not meet.
    let _alone = alone(options.owner_dir.clone()).await?;
    let hand = Hand { probe: options.probe, tally: Arc::new(Tally::default()) };
    let mut connect = SqliteConnectOptions::new()
        .filename(&options.path)
        .create_if_missing(options.create)
        .busy_timeout(BUSY)
        .foreign_keys(false)
        .statement_cache_capacity(STATEMENTS_KEPT)
        .row_buffer_size(ROWS_UNDERWAY)
        .pragma("wal_autocheckpoint", CHECKPOINT_PAGES.to_string())
        .thread_name(|number| format!("latch-sqlite-{number}"))
        .disable_statement_logging();
    if let Some(pages) = options.pages_max {
        connect = connect.pragma("max_page_count", pages.to_string());
    }
    connect = options.durability.set(connect);
    let mut conn = connect.connect().await.map_err(|error| store_error(&error))?;
    options.durability.verify(&hand, &mut conn).await?;
    migrate(&hand, &mut conn).await?;
    settle(&hand, &mut conn, &*clock, &options.path).await?;
    Ok(Sqlite {
        writer: Writer::start(conn, connect.clone(), hand.clone(), clock.clone()),
        readers: Readers::new(connect, hand.clone()),
        clock,
        clock_margin_ms: options.clock_margin_ms,
        generation: Generation::new(&options.owner_dir),
        gone: Default::default(),
        tally: hand.tally,
        durability: options.durability,
    })
}

fn check_path(options: &OpenOptions) -> Result<(), StoreError> {
    match std::fs::metadata(&options.path) {
        Ok(meta) if meta.is_dir() => {
            Err(StoreError::Unavailable("it is a directory; name a file in it, such as latch.db".to_owned()))
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && options.create => {
            let dir = options.path.parent().filter(|dir| !dir.as_os_str().is_empty());
            match dir {
                Some(dir) if !dir.is_dir() => Err(StoreError::Unavailable(format!(
                    "its directory {} does not exist: create it, or name another file",
                    dir.display()
                ))),
                _ => Ok(()),
            }
        }
        Err(error) => Err(StoreError::Unavailable(format!("cannot open it: {error}"))),
    }
}

async fn alone(dir: PathBuf) -> Result<File, StoreError> {
    let take = move || {
        std::fs::create_dir_all(&dir)?;
        lock::exclusive(&dir.join("open.lock"))
    };
    let taken: std::io::Result<File> =
        tokio::task::spawn_blocking(take).await.map_err(|error| StoreError::Unavailable(error.to_string()))?;
    taken.map_err(|error| StoreError::Unavailable(format!("cannot lock the directory beside it: {error}")))
}

async fn migrate(hand: &Hand, conn: &mut SqliteConnection) -> Result<(), StoreError> {
    let migrations = MIGRATIONS
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
            "its schema {version} is not the one of this version of Latchwork: it was made by an unreleased one"
        )),
        other => StoreError::Unavailable(format!("its schema cannot be brought up to date: {other}")),
    })
}

/// See that it can be written, and name a new database.
async fn settle(hand: &Hand, conn: &mut SqliteConnection, clock: &dyn Clock, path: &Path) -> Result<(), StoreError> {
    let sql = "BEGIN IMMEDIATE;ROLLBACK".to_owned();
    let tried = hand.run(conn, Name::WRITABLE, sql, SqliteArguments::default()).await;
    tried.map_err(|error| store_error(&error))?;
    let seed = format!("{} {} {}", clock.boot_id(), clock.boot_us(), path.display());
    let id = Hash::of(&[seed.as_bytes(), &clock.now_us().to_le_bytes()]).to_hex();
    // Read first: an existing database is opened without a write.
    let mut script = Script::new("INSERT INTO meta SELECT 1, ?, 0 WHERE NOT EXISTS (SELECT 1 FROM meta)");
    script.text(&id[..32]);
    let named = hand.run(conn, Name::GENERATION_WRITE, script.sql, script.args).await;
    named.map_err(|error| store_error(&error))?;
    Ok(())
}
