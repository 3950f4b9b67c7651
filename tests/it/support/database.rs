//! Databases of tests: changes that do not come from the program, and new databases on a server.

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use crate::support::servers::postgres::server::database;

/// Executes a statement on a database file. Panics if no row changes.
pub(crate) fn alter_database(database: &Path, sql: &'static str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let changed = runtime.block_on(async {
        let mut conn = SqliteConnectOptions::new().filename(database).connect().await.unwrap();
        let changed = sqlx::raw_sql(sql).execute(&mut conn).await.unwrap().rows_affected();
        conn.close().await.unwrap();
        changed
    });
    assert!(changed > 0, "{sql}");
}

/// Creates a separate database on the server of the tests. Returns `None` if no server is available.
pub(crate) fn blocking_database() -> Option<String> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(database())
}
