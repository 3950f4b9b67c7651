//! The map for tools.

use async_trait::async_trait;
use latchwork_core::storage::{KeyValue, StoreError};

use crate::Sqlite;
use crate::error::Failure;
use crate::row::Stored;
use crate::script::Script;
use crate::statement::Name;
use crate::writer::{Tx, Work};

struct Set {
    namespace: String,
    key: String,
    value: Vec<u8>,
}

#[async_trait]
impl Work for Set {
    type Done = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        let mut script = Script::new("REPLACE INTO kv VALUES (?, ?, ?)");
        script.text(self.namespace.as_str()).text(self.key.as_str()).blob(self.value.as_slice());
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

    async fn run(&self, tx: &mut Tx<'_>) -> Result<bool, Failure> {
        let mut script = Script::new("DELETE FROM kv WHERE namespace = ? AND key = ? RETURNING 1");
        script.text(self.namespace.as_str()).text(self.key.as_str());
        Ok(!tx.run_last(Name::KV_DELETE, script).await?[0].is_empty())
    }
}

#[async_trait]
impl KeyValue for Sqlite {
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let mut script = Script::new("SELECT value FROM kv WHERE namespace = ? AND key = ?");
        script.text(namespace).text(key);
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
