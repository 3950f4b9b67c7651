//! Key-value map for tools.

use async_trait::async_trait;
use latchwork_core::storage::{KeyValue, StoreError};

use crate::Database;
use crate::dialect::Dialect;
use crate::error::Failure;
use crate::row::Stored;
use crate::script::Script;
use crate::statement::Name;
use crate::writer::{Tx, Work};

/// Binds namespace and key. A guest may use any text, and texts of PostgreSQL cannot contain a zero byte, so
/// they are bound as bytes there.
fn named(script: &mut Script, dialect: Dialect, namespace: &str, key: &str) {
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
    type Done = ();

    fn starts(&self) -> bool {
        false
    }

    fn is_marked(&self) -> bool {
        true
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        let mut script = Script::new(
            "INSERT INTO kv VALUES (?, ?, ?) ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value",
        );
        named(&mut script, tx.dialect, &self.namespace, &self.key);
        script.blob(self.value.as_slice());
        tx.run_last(Name::KV_SET, script).await?;
        Ok(())
    }
}

struct Delete {
    namespace: String,
    key: String,
}

#[async_trait]
impl Work for Delete {
    type Done = bool;

    fn starts(&self) -> bool {
        false
    }

    fn is_marked(&self) -> bool {
        true
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<bool, Failure> {
        let mut script = Script::new("DELETE FROM kv WHERE namespace = ? AND key = ? RETURNING namespace");
        named(&mut script, tx.dialect, &self.namespace, &self.key);
        Ok(!tx.run_last(Name::KV_DELETE, script).await?[0].is_empty())
    }
}

#[async_trait]
impl KeyValue for Database {
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let mut script = Script::new("SELECT value FROM kv WHERE namespace = ? AND key = ?");
        named(&mut script, self.dialect, namespace, key);
        let rows = self.readers.run(Name::KV_GET, script).await?;
        rows.iter().flatten().next().map(|row| Stored::new(row, "kv").blob()).transpose()
    }

    async fn set(&self, namespace: &str, key: &str, value: &[u8]) -> Result<(), StoreError> {
        let (namespace, key) = (namespace.to_owned(), key.to_owned());
        Ok(self.writer.work(Set { namespace, key, value: value.to_owned() }).await?)
    }

    async fn delete(&self, namespace: &str, key: &str) -> Result<bool, StoreError> {
        Ok(self.writer.work(Delete { namespace: namespace.to_owned(), key: key.to_owned() }).await?)
    }
}
