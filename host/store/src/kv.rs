//! Key-value map for tools.

use async_trait::async_trait;
use latchwork_core::storage::{KeyValue, StoreError};

use crate::Database;
use crate::dialect::Dialect;
use crate::error::TransactionFailure;
use crate::row::RowReader;
use crate::statement::StatementName;
use crate::statement_batch::StatementBatch;
use crate::writer::{Tx, Work};

/// Binds namespace and key. A guest may use any text. On PostgreSQL both are bound as bytes, because a PostgreSQL text
/// cannot contain a zero byte.
fn bind_name(script: &mut StatementBatch, dialect: Dialect, namespace: &str, key: &str) {
    match dialect {
        Dialect::Sqlite => script.text(namespace).text(key),
        Dialect::Postgres => script.blob(namespace).blob(key),
    };
}

struct Set {
    namespace: String,
    key: String,
    value: Vec<u8>,
}

#[async_trait]
impl Work for Set {
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

struct Delete {
    namespace: String,
    key: String,
}

#[async_trait]
impl Work for Delete {
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

#[async_trait]
impl KeyValue for Database {
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let mut script = StatementBatch::new("SELECT value FROM kv WHERE namespace = ? AND key = ?");
        bind_name(&mut script, self.dialect, namespace, key);
        let rows = self.readers.run(StatementName::KV_GET, script).await?;
        rows.iter().flatten().next().map(|row| RowReader::new(row, "kv").blob()).transpose()
    }

    async fn set(&self, namespace: &str, key: &str, value: &[u8]) -> Result<(), StoreError> {
        let (namespace, key) = (namespace.to_owned(), key.to_owned());
        Ok(self.writer.work(Set { namespace, key, value: value.to_owned() }).await?)
    }

    async fn delete(&self, namespace: &str, key: &str) -> Result<bool, StoreError> {
        Ok(self.writer.work(Delete { namespace: namespace.to_owned(), key: key.to_owned() }).await?)
    }
}
