//! Connections that read: in WAL mode they never wait for the writer.

use std::sync::{Mutex, PoisonError};

use latchwork_core::storage::StoreError;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, SqliteConnection};
use tokio::sync::Semaphore;

use crate::error::store_error;
use crate::script::Script;
use crate::statement::{Hand, Name, Rows};
use crate::writer::closed;

/// How many read at the same time.
const READERS_MAX: usize = 4;

/// Idle connections, and room for more.
pub(crate) struct Readers {
    options: SqliteConnectOptions,
    hand: Hand,
    idle: Mutex<Vec<SqliteConnection>>,
    room: Semaphore,
}

impl Readers {
    pub(crate) fn new(options: SqliteConnectOptions, hand: Hand) -> Self {
        let options = options.pragma("query_only", "1");
        Self { options, hand, idle: Mutex::default(), room: Semaphore::new(READERS_MAX) }
    }

    /// Execute a script that only reads. A connection goes back to the others only after a
    /// script that ran to its end: a failed or abandoned one may have left a transaction open.
    pub(crate) async fn run(&self, name: Name, script: Script) -> Result<Rows, StoreError> {
        let _place = self.room.acquire().await.map_err(|_| closed())?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut conn = match idle {
            Some(conn) => conn,
            None => self.options.connect().await.map_err(|error| store_error(&error))?,
        };
        let rows =
            self.hand.run(&mut conn, name, script.sql, script.args).await.map_err(|error| store_error(&error))?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
        Ok(rows)
    }

    /// Close idle connections.
    pub(crate) async fn close(&self) {
        self.room.close();
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for conn in idle {
            let _ = sqlx::Connection::close(conn).await;
        }
    }
}
