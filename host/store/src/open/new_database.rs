//! First writes to a database that was just opened.

use latchwork_core::model::ids::Hash;
use latchwork_core::storage::{Clock, StoreError};

use crate::server::checks::Server;
use crate::sql::connection::Connection;
use crate::sql::dialect::Dialect;
use crate::sql::error::store_error;
use crate::sql::statement::{StatementExecutor, StatementName};
use crate::sql::statement_batch::StatementBatch;
use crate::transaction::commit_marker;

/// Checks that the database can be written, and gives a new database its id.
pub(crate) async fn initialize(
    executor: &StatementExecutor,
    conn: &mut Connection,
    clock: &dyn Clock,
    process_id: u32,
    server: &Server,
) -> Result<(), StoreError> {
    let dialect = match conn {
        Connection::Sqlite(_) => Dialect::Sqlite,
        Connection::Postgres(_) => Dialect::Postgres,
    };
    let mut statements = StatementBatch::new(dialect.opening());
    statements.push("ROLLBACK");
    executor.run(conn, StatementName::WRITABLE, statements).await.map_err(|error| store_error(&error))?;
    let place = server.identity().text();
    let seed = format!("{} {} {place}", clock.boot_id(), clock.boot_us());
    let id = Hash::of(&[seed.as_bytes(), &clock.now_us().to_le_bytes(), &process_id.to_le_bytes()]).to_hex();
    // The statement writes only if the row is missing, so an existing database is opened without a write.
    let mut statements = StatementBatch::new(match dialect {
        Dialect::Sqlite => {
            "INSERT INTO meta (id, database_id, generation) SELECT 1, ?, 0 WHERE NOT EXISTS (SELECT 1 FROM meta)"
        }
        Dialect::Postgres => {
            "INSERT INTO meta (id, database_id, generation, server, written) SELECT 1, ?, 0, ?, \
             CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) WHERE NOT EXISTS (SELECT 1 FROM meta) ON CONFLICT DO \
             NOTHING"
        }
    });
    statements.text(&id[..32]);
    if dialect == Dialect::Postgres {
        statements.text(place);
        commit_marker::prune(&mut statements);
    }
    let named = executor.run(conn, StatementName::GENERATION_WRITE, statements).await;
    named.map_err(|error| store_error(&error))?;
    Ok(())
}
