//! Key-value maps for tools: their entries, and the bytes of each map.
//!
//! A group holds the lock of each map that it writes from the start of the group to its end. No other writer can then
//! change the bytes of the map between reading and writing them.

use async_trait::async_trait;

use latchwork_core::storage::map::{bytes_after_set, entry_bytes};
use latchwork_core::storage::{MapName, QuotaExceeded, StoreError};

use crate::sql::dialect::Dialect;
use crate::sql::error::TransactionFailure;
use crate::sql::readers::Readers;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;
use crate::transaction::group_locks::lock_number;
use crate::transaction::tx::Tx;
use crate::transaction::work::TransactionPart;

/// Binds tenant and namespace of a map. On PostgreSQL namespace and key are bound as bytes, because a guest may use any
/// text, and a PostgreSQL text cannot contain a zero byte.
fn bind_map(statements: &mut StatementBatch, dialect: Dialect, map: &MapName) {
    statements.text(map.tenant());
    bind_text(statements, dialect, map.namespace());
}

/// Binds tenant, namespace and key.
fn bind_entry(statements: &mut StatementBatch, dialect: Dialect, map: &MapName, key: &str) {
    bind_map(statements, dialect, map);
    bind_text(statements, dialect, key);
}

fn bind_text(statements: &mut StatementBatch, dialect: Dialect, text: &str) {
    match dialect {
        Dialect::Sqlite => statements.text(text),
        Dialect::Postgres => statements.blob(text),
    };
}

/// Returns the number of the lock that a writer of the map holds.
fn map_lock(map: &MapName) -> i64 {
    lock_number(&[b"map", &[0], map.tenant().as_bytes(), &[0], map.namespace().as_bytes()])
}

/// Work that sets the value of a key.
pub(crate) struct SetValue {
    pub(crate) map: MapName,
    pub(crate) key: String,
    pub(crate) value: Vec<u8>,
    /// Largest number of bytes that the map may have.
    pub(crate) quota: u64,
}

#[async_trait]
impl TransactionPart for SetValue {
    type Output = Result<(), QuotaExceeded>;

    fn starts_work(&self) -> bool {
        false
    }

    fn lock_numbers(&self) -> Vec<i64> {
        vec![map_lock(&self.map)]
    }

    fn needs_marker(&self) -> bool {
        true
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Output, TransactionFailure> {
        let Self { map, key, value, quota } = self;
        let mut statements = StatementBatch::new("SELECT bytes FROM kv_maps WHERE tenant = ? AND namespace = ?");
        bind_map(&mut statements, tx.dialect, map);
        statements.push("SELECT length(value) FROM kv_entries WHERE tenant = ? AND namespace = ? AND key = ?");
        bind_entry(&mut statements, tx.dialect, map, key);
        let rows = tx.run(StatementName::KV_FIND, statements).await?;
        let number = |at: usize, table: &'static str| {
            let row = rows.get(at).and_then(|rows| rows.first());
            row.map(|row| RowReader::new(row, table).u64()).transpose()
        };
        let used = number(0, "kv_maps")?.unwrap_or(0);
        let before = number(1, "kv_entries")?.map_or(0, |length| entry_bytes(key.len(), length as usize));
        let bytes = match bytes_after_set(used, before, entry_bytes(key.len(), value.len()), *quota) {
            Ok(bytes) => bytes,
            Err(exceeded) => return Ok(Err(exceeded)),
        };
        let mut statements = StatementBatch::new(
            "INSERT INTO kv_maps (tenant, namespace, bytes) VALUES (?, ?, ?) ON CONFLICT (tenant, namespace) DO UPDATE \
             SET bytes = excluded.bytes",
        );
        bind_map(&mut statements, tx.dialect, map);
        statements.int(i64::try_from(bytes).unwrap_or(i64::MAX));
        statements.push(
            "INSERT INTO kv_entries (tenant, namespace, key, value) VALUES (?, ?, ?, ?) ON CONFLICT (tenant, namespace, \
             key) DO UPDATE SET value = excluded.value",
        );
        bind_entry(&mut statements, tx.dialect, map, key);
        statements.blob(value.as_slice());
        tx.run_last(StatementName::KV_SET, statements).await?;
        Ok(Ok(()))
    }
}

/// Work that deletes a key. Returns true if the key existed.
pub(crate) struct DeleteKey {
    pub(crate) map: MapName,
    pub(crate) key: String,
}

#[async_trait]
impl TransactionPart for DeleteKey {
    type Output = bool;

    fn starts_work(&self) -> bool {
        false
    }

    fn lock_numbers(&self) -> Vec<i64> {
        vec![map_lock(&self.map)]
    }

    fn needs_marker(&self) -> bool {
        true
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<bool, TransactionFailure> {
        let Self { map, key } = self;
        let entry = "FROM kv_entries WHERE tenant = ? AND namespace = ? AND key = ?";
        let mut statements = StatementBatch::new(&format!(
            "UPDATE kv_maps SET bytes = bytes - COALESCE((SELECT ? + length(value) {entry}), 0) WHERE tenant = ? AND \
             namespace = ?"
        ));
        statements.int(i64::try_from(entry_bytes(key.len(), 0)).unwrap_or(i64::MAX));
        bind_entry(&mut statements, tx.dialect, map, key);
        bind_map(&mut statements, tx.dialect, map);
        statements.push(&format!("DELETE {entry} RETURNING namespace"));
        bind_entry(&mut statements, tx.dialect, map, key);
        Ok(!tx.run_last(StatementName::KV_DELETE, statements).await?[1].is_empty())
    }
}

/// Returns the value of a key.
pub(crate) async fn read_value(
    readers: &Readers,
    dialect: Dialect,
    map: &MapName,
    key: &str,
) -> Result<Option<Vec<u8>>, StoreError> {
    let mut statements =
        StatementBatch::new("SELECT value FROM kv_entries WHERE tenant = ? AND namespace = ? AND key = ?");
    bind_entry(&mut statements, dialect, map, key);
    let rows = readers.run(StatementName::KV_GET, statements).await?;
    rows.iter().flatten().next().map(|row| RowReader::new(row, "kv_entries").blob()).transpose()
}

/// Returns the namespaces of the maps that all tenants share, each with the bytes of its map. Leaves out empty maps.
pub(crate) async fn read_shared_maps(readers: &Readers, dialect: Dialect) -> Result<Vec<(String, u64)>, StoreError> {
    let statements =
        StatementBatch::new("SELECT namespace, bytes FROM kv_maps WHERE tenant = '' AND bytes > 0 ORDER BY namespace");
    let rows = readers.run(StatementName::KV_SHARED, statements).await?;
    let read = |row| {
        let mut row = RowReader::new(row, "kv_maps");
        let namespace = match dialect {
            Dialect::Sqlite => row.text()?,
            Dialect::Postgres => String::from_utf8_lossy(&row.blob()?).into_owned(),
        };
        Ok((namespace, row.u64()?))
    };
    rows.iter().flatten().map(read).collect()
}
