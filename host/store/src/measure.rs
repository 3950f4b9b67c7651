//! Measures the commit rate of SQLite on a disk. The commit rate of the writer is compared with this rate.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use latchwork_core::storage::{Clock, StoreError};

use crate::sql::durability::CommitDurability;
use crate::sql::error::store_error;

/// Returns the number of one-row transactions per second that SQLite commits to a new file at `path`. The transactions
/// run one after the other, in WAL mode with `synchronous=FULL`. The file contains no job data, so its statements are
/// not crash points.
pub async fn commits_per_second(path: &Path, time: Duration, clock: &dyn Clock) -> Result<f64, StoreError> {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true).disable_statement_logging();
    let connect = CommitDurability::Full.set(options);
    let measured = async {
        let mut conn: SqliteConnection = connect.connect().await?;
        sqlx::query("CREATE TABLE scratch (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT")
            .execute(&mut conn)
            .await?;
        let started_us = clock.boot_us();
        let until_us = started_us + i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        let mut commits = 0_u32;
        let spent_us = loop {
            sqlx::query("INSERT INTO scratch (bytes) VALUES (?)")
                .bind([7_u8; 230].as_slice())
                .execute(&mut conn)
                .await?;
            commits += 1;
            let now_us = clock.boot_us();
            if now_us >= until_us {
                break now_us - started_us;
            }
        };
        conn.close().await?;
        Ok::<_, sqlx::Error>(f64::from(commits) * 1e6 / spent_us.max(1) as f64)
    };
    measured.await.map_err(|error| store_error(&error))
}
