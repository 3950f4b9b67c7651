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

/// How connections are made.
#[derive(Clone)]
pub(crate) enum Connect {
    Sqlite(Box<SqliteConnectOptions>),
    Postgres(Box<PgConnectOptions>),
}

/// How long a server that is away is tried again: it may be restarting, or another take over.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two tries: the first, and the longest.
const AGAIN: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(500));
/// How long making one connection may take.
const CONNECT_MAX: Duration = Duration::from_secs(10);

impl Connect {
    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Make one connection.
    pub(crate) async fn once(&self) -> Result<Connection, sqlx::Error> {
        match self {
            Self::Sqlite(options) => options.connect().await.map(Connection::Sqlite),
            Self::Postgres(options) => match tokio::time::timeout(CONNECT_MAX, options.connect()).await {
                Ok(made) => made.map(|conn| Connection::Postgres(Box::new(conn))),
                Err(_) => Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())),
            },
        }
    }

    /// Make one connection, with patience where the server is away for now.
    pub(crate) async fn patiently(&self, patience: &mut Patience) -> Result<Connection, sqlx::Error> {
        loop {
            match self.once().await {
                Err(error) if is_lost(&error) && patience.waits().await => {
                    tracing::debug!(%error, "the database could not be reached; trying again");
                }
                made => return made,
            }
        }
    }
}

/// Time that is left for a server to come back.
pub(crate) struct Patience {
    left: Duration,
    pause: Duration,
}

impl Patience {
    /// All of it.
    pub(crate) fn new() -> Self {
        Self { left: PATIENCE, pause: AGAIN.0 }
    }

    /// Wait a while before another try; `false` where all the time has been waited.
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
