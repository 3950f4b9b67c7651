//! Connections for reading. Reads do not wait for writers on either database.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Semaphore;

use latchwork_core::storage::StoreError;

use crate::sql::connection::{Connection, Connector, RetryBudget};
use crate::sql::dialect::Dialect;
use crate::sql::error::{closed_error, is_connection_lost, store_error};
use crate::sql::statement::{Rows, StatementExecutor, StatementName};
use crate::sql::statement_batch::StatementBatch;

/// Maximum number of concurrent reads.
const READERS_MAX: usize = 4;

/// Idle connections for reading, and a semaphore that limits the number of concurrent reads.
pub(crate) struct Readers {
    connect: Connector,
    executor: StatementExecutor,
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
}

impl Readers {
    pub(crate) fn new(connect: Connector, executor: StatementExecutor) -> Self {
        let connect = match connect {
            Connector::Sqlite(options) => Connector::Sqlite(Box::new(options.pragma("query_only", "1"))),
            Connector::Postgres(options) => {
                Connector::Postgres(Box::new(options.options([("default_transaction_read_only", "on")])))
            }
        };
        Self { connect, executor, idle: Mutex::default(), permits: Semaphore::new(READERS_MAX) }
    }

    /// Runs a statement batch that only reads. The connection is reused only after a successful statement batch,
    /// because a failed or abandoned statement batch may have left a transaction open. If the connection is lost, the
    /// statement batch is run again.
    pub(crate) async fn run(&self, name: StatementName, statements: StatementBatch) -> Result<Rows, StoreError> {
        let _place = self.permits.acquire().await.map_err(|_| closed_error())?;
        let mut patience = RetryBudget::new();
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut conn = match idle {
                Some(conn) => conn,
                None => self.connect.connect_with_retry(&mut patience).await.map_err(|error| store_error(&error))?,
            };
            match self.executor.run(&mut conn, name, statements.clone()).await {
                Ok(rows) => {
                    self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
                    return Ok(rows);
                }
                Err(error) if self.connect.dialect() == Dialect::Postgres && is_connection_lost(&error) => {
                    tracing::debug!(%error, "the connection was lost; repeating the read");
                    // The server may have restarted. Idle connections from before the restart are unusable, so
                    // all idle connections are dropped.
                    self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
                    if !patience.wait().await {
                        return Err(store_error(&error));
                    }
                }
                Err(error) => return Err(store_error(&error)),
            }
        }
    }

    /// Runs a statement batch that only reads. All statements see the same snapshot.
    pub(crate) async fn run_snapshot(
        &self,
        name: StatementName,
        mut statements: StatementBatch,
    ) -> Result<Rows, StoreError> {
        statements.push_first(self.connect.dialect().opening_to_read());
        statements.push("COMMIT");
        let mut rows = self.run(name, statements).await?;
        rows.remove(0);
        rows.pop();
        Ok(rows)
    }

    /// Closes idle connections.
    pub(crate) async fn close(&self) {
        self.permits.close();
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for conn in idle {
            conn.close().await;
        }
    }
}
