//! Connections to either database.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection as _, PgConnection, SqliteConnection};

use crate::dialect::Dialect;
use crate::error::is_lost;

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
pub(crate) enum Connect {
    Sqlite(Box<SqliteConnectOptions>),
    Postgres(Box<PgConnectOptions>),
}

/// Time for which connecting to an unavailable server is retried. The server may be restarting, or a standby
/// may take over.
const PATIENCE: Duration = Duration::from_secs(20);
/// First and longest pause between two tries.
const AGAIN: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(500));
/// Timeout of making one connection.
const CONNECT_MAX: Duration = Duration::from_secs(10);

impl Connect {
    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Makes one connection.
    pub(crate) async fn once(&self) -> Result<Connection, sqlx::Error> {
        match self {
            Self::Sqlite(options) => options.connect().await.map(Connection::Sqlite),
            Self::Postgres(options) => match tokio::time::timeout(CONNECT_MAX, options.connect()).await {
                Ok(made) => made.map(|conn| Connection::Postgres(Box::new(conn))),
                Err(_) => Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())),
            },
        }
    }

    /// Makes one connection. Retries while the server is unavailable and `patience` is left.
    pub(crate) async fn patiently(&self, patience: &mut Patience) -> Result<Connection, sqlx::Error> {
        loop {
            match self.once().await {
                Err(error) if is_lost(&error) && patience.waits().await => {
                    tracing::debug!(%error, "cannot reach the database; retrying");
                }
                made => return made,
            }
        }
    }
}

/// Remaining time to wait for an unavailable server.
pub(crate) struct Patience {
    left: Duration,
    pause: Duration,
}

impl Patience {
    /// Creates a full budget.
    pub(crate) fn new() -> Self {
        Self { left: PATIENCE, pause: AGAIN.0 }
    }

    /// Waits before the next try. Returns `false` if the time is used up.
    pub(crate) async fn waits(&mut self) -> bool {
        if self.left.is_zero() {
            return false;
        }
        tokio::time::sleep(self.pause).await;
        self.left = self.left.saturating_sub(self.pause);
        self.pause = (self.pause * 2).min(AGAIN.1);
        true
    }
}
