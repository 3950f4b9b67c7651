//! Connection options of both databases.

use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;

use latchwork_core::storage::StoreError;

use crate::open::options::OpenOptions;
use crate::sql::durability::CommitDurability;

/// Time for which SQLite waits while another process has locked the database.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Size of the write-ahead log, in pages, at which SQLite copies the log into the database file: 32 MiB. SQLite's
/// default is 4 MiB. At that size, the writer would have to wait for a copy every few dozen commits.
const CHECKPOINT_PAGES: u32 = 8_000;

/// Number of prepared statements cached per connection. The number is high, because groups touch different tables and
/// therefore have many different statement texts.
const STATEMENTS_CACHED: usize = 128;

/// Time for which a transaction on a server waits for one lock.
const LOCK_MAX: &str = "5s";

/// Time for which a server waits for the next statement of a transaction. A worker suspended inside a
/// transaction would otherwise keep jobs locked that other workers may have to claim.
const IDLE_MAX: &str = "10s";

/// Maximum number of result rows buffered between SQLite's thread and the caller.
const ROWS_IN_TRANSIT: usize = 1024;

/// Returns the options common to all connections to a file.
pub(crate) fn base_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(false)
        .statement_cache_capacity(STATEMENTS_CACHED)
        .row_buffer_size(ROWS_IN_TRANSIT)
        .thread_name(|number| format!("latch-sqlite-{number}"))
        .disable_statement_logging()
}

/// Returns the options of a writing connection to a file.
pub(crate) fn file_options(path: &Path, options: &OpenOptions) -> SqliteConnectOptions {
    let mut connect =
        base_options(path).create_if_missing(options.create).pragma("wal_autocheckpoint", CHECKPOINT_PAGES.to_string());
    if let Some(pages) = options.pages_max {
        connect = connect.pragma("max_page_count", pages.to_string());
    }
    options.durability.set(connect)
}

/// Returns the options of a connection to a server.
pub(crate) fn server_options(url: &str, durability: CommitDurability) -> Result<PgConnectOptions, StoreError> {
    let connect = PgConnectOptions::from_str(url)
        .map_err(|error| StoreError::Unavailable(format!("its URL is invalid: {error}")))?
        .application_name("latchwork")
        .statement_cache_capacity(STATEMENTS_CACHED)
        .options([
            ("lock_timeout", LOCK_MAX),
            ("idle_in_transaction_session_timeout", IDLE_MAX),
            ("default_transaction_isolation", "read committed"),
            // Each statement needs few rows, and an index finds them. Without current statistics, the planner of
            // PostgreSQL would scan whole tables, and a statement would take five times as long. With the following
            // settings, the planner uses a scan, a hash join or a merge join only if no other plan exists.
            ("enable_seqscan", "off"),
            ("enable_hashjoin", "off"),
            ("enable_mergejoin", "off"),
            // Just-in-time compilation costs more than it saves for these statements, even if the planner estimates a
            // high cost.
            ("jit", "off"),
        ])
        .disable_statement_logging();
    Ok(durability.set_server(connect))
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
