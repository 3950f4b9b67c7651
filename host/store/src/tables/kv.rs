//! Key-value map for tools.

use async_trait::async_trait;

use latchwork_core::storage::StoreError;

use crate::sql::dialect::Dialect;
use crate::sql::error::TransactionFailure;
use crate::sql::readers::Readers;
use crate::sql::row::RowReader;
use crate::sql::statement::StatementName;
use crate::sql::statement_batch::StatementBatch;
use crate::transaction::tx::Tx;
use crate::transaction::work::Work;

/// Binds namespace and key. On PostgreSQL both are bound as bytes, because a guest may use any text, and a PostgreSQL
/// text cannot contain a zero byte.
fn bind_name(script: &mut StatementBatch, dialect: Dialect, namespace: &str, key: &str) {
    match dialect {
        Dialect::Sqlite => script.text(namespace).text(key),
        Dialect::Postgres => script.blob(namespace).blob(key),
    };
}

/// Work that sets the value of a key.
pub(crate) struct SetValue {
    pub(crate) namespace: String,
    pub(crate) key: String,
    pub(crate) value: Vec<u8>,
}

#[async_trait]
impl Work for SetValue {
    type Output = ();

    fn starts_work(&self) -> bool {
        false
    }

    fn needs_marker(&self) -> bool {
        true
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), TransactionFailure> {
        let mut script = StatementBatch::new(
            "INSERT INTO kv VALUES (?, ?, ?) ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value",
        );
        bind_name(&mut script, tx.dialect, &self.namespace, &self.key);
        script.blob(self.value.as_slice());
        tx.run_last(StatementName::KV_SET, script).await?;
        Ok(())
    }
}

/// Work that deletes a key. Returns true if the key existed.
pub(crate) struct DeleteKey {
    pub(crate) namespace: String,
    pub(crate) key: String,
}

#[async_trait]
impl Work for DeleteKey {
    type Output = bool;

    fn starts_work(&self) -> bool {
        false
    }

    fn needs_marker(&self) -> bool {
        true
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<bool, TransactionFailure> {
        let mut script = StatementBatch::new("DELETE FROM kv WHERE namespace = ? AND key = ? RETURNING namespace");
        bind_name(&mut script, tx.dialect, &self.namespace, &self.key);
        Ok(!tx.run_last(StatementName::KV_DELETE, script).await?[0].is_empty())
    }
}

/// Returns the value of a key.
pub(crate) async fn read_value(
    readers: &Readers,
    dialect: Dialect,
    namespace: &str,
    key: &str,
) -> Result<Option<Vec<u8>>, StoreError> {
    let mut script = StatementBatch::new("SELECT value FROM kv WHERE namespace = ? AND key = ?");
    bind_name(&mut script, dialect, namespace, key);
    let rows = readers.run(StatementName::KV_GET, script).await?;
    rows.iter().flatten().next().map(|row| RowReader::new(row, "kv").blob()).transpose()
}
