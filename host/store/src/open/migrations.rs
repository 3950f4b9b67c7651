//! Migrations of the schema.

use sqlx::SqlSafeStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};

use latchwork_core::storage::StoreError;

use crate::sql::connection::Connection;
use crate::sql::error::store_error;
use crate::sql::row::RowReader;
use crate::sql::statement::{StatementExecutor, StatementName};
use crate::sql::statement_batch::StatementBatch;

/// Migrations, oldest first. A released migration must never be changed.
pub(crate) const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "stores", include_str!("../../migrations/sqlite/0001_stores.sql")),
    (2, "reusables", include_str!("../../migrations/sqlite/0002_reusables.sql")),
    (3, "waits", include_str!("../../migrations/sqlite/0003_waits.sql")),
    (4, "costs", include_str!("../../migrations/sqlite/0004_costs.sql")),
    (5, "audit", include_str!("../../migrations/sqlite/0005_audit.sql")),
    (6, "priorities", include_str!("../../migrations/sqlite/0006_priorities.sql")),
    (7, "restores", include_str!("../../migrations/sqlite/0007_restores.sql")),
    (8, "looks", include_str!("../../migrations/sqlite/0008_looks.sql")),
    (9, "maps", include_str!("../../migrations/sqlite/0009_maps.sql")),
];

/// Migrations of PostgreSQL. The first migration corresponds to the first five migrations of SQLite, so the numbers
/// continue with 6. From 7 on, the numbers differ from those of SQLite, because only a server needs the table
/// `commits`.
pub(crate) const POSTGRES_MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "stores", include_str!("../../migrations/postgres/0001_stores.sql")),
    (6, "priorities", include_str!("../../migrations/postgres/0006_priorities.sql")),
    (7, "commits", include_str!("../../migrations/postgres/0007_commits.sql")),
    (8, "restores", include_str!("../../migrations/postgres/0008_restores.sql")),
    (9, "looks", include_str!("../../migrations/postgres/0009_looks.sql")),
    (10, "maps", include_str!("../../migrations/postgres/0010_maps.sql")),
];

/// Error text for a server database without tables, if the caller must not create tables.
pub const NO_TABLES: &str = "it has no Latchwork tables yet: the first run creates them";

/// Error text for a server database without tables, if its user may not create tables.
const MAY_NOT_CREATE_TABLES: &str = "it has no Latchwork tables yet, and this user may not create any: make the user the owner of the \
    database, or create the tables as another user";

pub(crate) async fn migrate(
    executor: &StatementExecutor,
    conn: &mut Connection,
    create: bool,
) -> Result<(), StoreError> {
    let migrations = match conn {
        Connection::Sqlite(_) => MIGRATIONS,
        Connection::Postgres(_) => {
            if is_current(executor, conn, create).await? {
                return Ok(());
            }
            POSTGRES_MIGRATIONS
        }
    };
    let migrations = migrations
        .iter()
        .map(|(version, name, sql)| {
            Migration::new(*version, (*name).into(), MigrationType::Simple, (*sql).into_sql_str(), false)
        })
        .collect();
    let migrator = Migrator::with_migrations(migrations);
    executor.migrate(conn, &migrator).await.map_err(|error| match error {
        MigrateError::VersionMissing(version) => StoreError::Unavailable(format!(
            "a newer version of Latchwork has changed it (schema {version}): use that version"
        )),
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => store_error(&error),
        MigrateError::VersionMismatch(version) => StoreError::Damaged(format!(
            "its schema {version} differs from that of this version of Latchwork: an unreleased version created it"
        )),
        other => StoreError::Unavailable(format!("cannot migrate its schema: {other}")),
    })
}

/// Returns true if the server database has the tables of this version. In this case, the user of the database needs no
/// right to create tables. Fails if the tables are missing and `create` is false.
async fn is_current(executor: &StatementExecutor, conn: &mut Connection, create: bool) -> Result<bool, StoreError> {
    let there = StatementBatch::new("SELECT to_regclass('_sqlx_migrations') IS NOT NULL");
    let rows = executor.run(conn, StatementName::SCHEMA, there).await.map_err(|error| store_error(&error))?;
    if !RowReader::new(&rows[0][0], "pg_class").bool()? {
        if create {
            return Ok(false);
        }
        return Err(StoreError::Unavailable(match may_create_tables(executor, conn).await? {
            true => NO_TABLES.to_owned(),
            false => MAY_NOT_CREATE_TABLES.to_owned(),
        }));
    }
    let statements =
        StatementBatch::new("SELECT CAST(COALESCE(MAX(version), 0) AS BIGINT) FROM _sqlx_migrations WHERE success");
    let rows = executor.run(conn, StatementName::SCHEMA, statements).await.map_err(|error| store_error(&error))?;
    let version = RowReader::new(&rows[0][0], "_sqlx_migrations").int()?;
    Ok(POSTGRES_MIGRATIONS.last().is_some_and(|(last, ..)| *last == version))
}

/// Returns true if the user of the server database may create tables in the current schema.
async fn may_create_tables(executor: &StatementExecutor, conn: &mut Connection) -> Result<bool, StoreError> {
    let statements = StatementBatch::new("SELECT COALESCE(has_schema_privilege(current_schema(), 'CREATE'), FALSE)");
    let rows = executor.run(conn, StatementName::SCHEMA, statements).await.map_err(|error| store_error(&error))?;
    RowReader::new(&rows[0][0], "pg_namespace").bool()
}
