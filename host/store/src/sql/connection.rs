//! Connections to either database.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection as _, PgConnection, SqliteConnection};

use crate::sql::dialect::Dialect;
use crate::sql::error::is_connection_lost;

/// An open connection.
pub(crate) enum Connection {
    Sqlite(SqliteConnection),
    Postgres(Box<PgConnection>),
}

impl Connection {
    pub(crate) async fn close(self) {
        let _ = match self {
            Self::Sqlite(conn) => conn.close().await,
            Self::Postgres(conn) => conn.close().await,
        };
    }
}

/// Options for new connections.
#[derive(Clone)]
pub(crate) enum Connector {
    Sqlite(Box<SqliteConnectOptions>),
    Postgres(Box<PgConnectOptions>),
}

/// Time for which connecting to an unavailable server is retried. The server may be restarting, or a standby
/// may take over.
const RETRY_TIME: Duration = Duration::from_secs(20);
/// First and longest pause between two tries.
const RETRY_PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(500));
/// Timeout of making one connection.
const CONNECT_MAX: Duration = Duration::from_secs(10);

impl Connector {
    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Makes one connection.
    pub(crate) async fn connect_once(&self) -> Result<Connection, sqlx::Error> {
        match self {
            Self::Sqlite(options) => options.connect().await.map(Connection::Sqlite),
            Self::Postgres(options) => match tokio::time::timeout(CONNECT_MAX, options.connect()).await {
                Ok(made) => made.map(|conn| Connection::Postgres(Box::new(conn))),
                Err(_) => Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())),
            },
        }
    }

    /// Makes one connection. While the server is unavailable, tries again until the time of `patience` is used up.
    pub(crate) async fn connect_with_retry(&self, patience: &mut RetryBudget) -> Result<Connection, sqlx::Error> {
        loop {
            match self.connect_once().await {
                Err(error) if is_connection_lost(&error) && patience.wait().await => {
                    tracing::debug!(%error, "cannot reach the database; retrying");
                }
                made => return made,
            }
        }
    }
}

/// Remaining time to wait for an unavailable server.
pub(crate) struct RetryBudget {
    left: Duration,
    pause: Duration,
}

impl RetryBudget {
    /// Creates a full budget.
    pub(crate) fn new() -> Self {
        Self { left: RETRY_TIME, pause: RETRY_PAUSES.0 }
    }

    /// Waits before the next try. Returns `false` if the time is used up.
    pub(crate) async fn wait(&mut self) -> bool {
        if self.left.is_zero() {
            return false;
        }
        tokio::time::sleep(self.pause).await;
        self.left = self.left.saturating_sub(self.pause);
        self.pause = (self.pause * 2).min(RETRY_PAUSES.1);
        true
    }
}
