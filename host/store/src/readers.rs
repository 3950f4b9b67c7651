//! Connections that read: on neither database do they wait for writers.

use std::sync::{Mutex, PoisonError};

use latchwork_core::storage::StoreError;
use tokio::sync::Semaphore;

use crate::connection::{Connect, Connection, Patience};
use crate::dialect::Dialect;
use crate::error::{is_lost, store_error};
use crate::script::Script;
use crate::statement::{Hand, Name, Rows};
use crate::writer::closed;

/// How many read at the same time.
const READERS_MAX: usize = 4;

/// Idle connections, and room for more.
pub(crate) struct Readers {
    connect: Connect,
    hand: Hand,
    idle: Mutex<Vec<Connection>>,
    room: Semaphore,
}

impl Readers {
    pub(crate) fn new(connect: Connect, hand: Hand) -> Self {
        let connect = match connect {
            Connect::Sqlite(options) => Connect::Sqlite(Box::new(options.pragma("query_only", "1"))),
            Connect::Postgres(options) => {
                Connect::Postgres(Box::new(options.options([("default_transaction_read_only", "on")])))
            }
        };
        Self { connect, hand, idle: Mutex::default(), room: Semaphore::new(READERS_MAX) }
    }

    /// Execute a script that only reads. A connection goes back to the others only after a
    /// script that ran to its end: a failed or abandoned one may have left a transaction open.
    /// What was lost with its connection is read again.
    pub(crate) async fn run(&self, name: Name, script: Script) -> Result<Rows, StoreError> {
        let _place = self.room.acquire().await.map_err(|_| closed())?;
        let mut patience = Patience::new();
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut conn = match idle {
                Some(conn) => conn,
                None => self.connect.patiently(&mut patience).await.map_err(|error| store_error(&error))?,
            };
            match self.hand.run(&mut conn, name, script.clone()).await {
                Ok(rows) => {
                    self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
                    return Ok(rows);
                }
                Err(error) if self.connect.dialect() == Dialect::Postgres && is_lost(&error) => {
                    tracing::debug!(%error, "the connection was lost; reading again");
                    // Those made before the server went are of no use either.
                    self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
                    if !patience.waits().await {
                        return Err(store_error(&error));
                    }
                }
                Err(error) => return Err(store_error(&error)),
            }
        }
    }

    /// The same, all statements reading the same moment.
    pub(crate) async fn run_at_once(&self, name: Name, mut script: Script) -> Result<Rows, StoreError> {
        script.push_first(self.connect.dialect().opening_to_read());
        script.push("COMMIT");
        let mut rows = self.run(name, script).await?;
        rows.remove(0);
        rows.pop();
        Ok(rows)
    }

    /// Close idle connections.
    pub(crate) async fn close(&self) {
        self.room.close();
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for conn in idle {
            conn.close().await;
        }
    }
}
