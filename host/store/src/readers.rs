//! Reading connections. They do not wait for writers on either database.

use std::sync::{Mutex, PoisonError};

use latchwork_core::storage::StoreError;
use tokio::sync::Semaphore;

use crate::connection::{Connect, Connection, Patience};
use crate::dialect::Dialect;
use crate::error::{is_lost, store_error};
use crate::script::Script;
use crate::statement::{Hand, Name, Rows};
use crate::writer::closed;

/// Maximum number of concurrent reads.
const READERS_MAX: usize = 4;

/// Idle connections, and a semaphore for new ones.
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

    /// Runs a script that only reads. The connection is reused only after a successful script, because a failed
    /// or abandoned one may have left a transaction open. A read whose connection was lost is repeated.
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
                    tracing::debug!(%error, "the connection was lost; repeating the read");
                    // Idle connections made before the server restarted are unusable too.
                    self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
                    if !patience.waits().await {
                        return Err(store_error(&error));
                    }
                }
                Err(error) => return Err(store_error(&error)),
            }
        }
    }

    /// Runs a script that only reads. All statements see the same snapshot.
    pub(crate) async fn run_at_once(&self, name: Name, mut script: Script) -> Result<Rows, StoreError> {
        script.push_first(self.connect.dialect().opening_to_read());
        script.push("COMMIT");
        let mut rows = self.run(name, script).await?;
        rows.remove(0);
        rows.pop();
        Ok(rows)
    }

    /// Closes idle connections.
    pub(crate) async fn close(&self) {
        self.room.close();
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for conn in idle {
            conn.close().await;
        }
    }
}
