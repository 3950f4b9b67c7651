//! Implementation of [`KeyValue`].

use async_trait::async_trait;

use latchwork_core::storage::{KeyValue, StoreError};

use crate::database::handle::Database;
use crate::tables::kv::{self, DeleteKey, SetValue};

#[async_trait]
impl KeyValue for Database {
    async fn get(&self, namespace: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        kv::read_value(&self.readers, self.dialect, namespace, key).await
    }

    async fn set(&self, namespace: &str, key: &str, value: &[u8]) -> Result<(), StoreError> {
        let (namespace, key) = (namespace.to_owned(), key.to_owned());
        Ok(self.writer.work(SetValue { namespace, key, value: value.to_owned() }).await?)
    }

    async fn delete(&self, namespace: &str, key: &str) -> Result<bool, StoreError> {
        Ok(self.writer.work(DeleteKey { namespace: namespace.to_owned(), key: key.to_owned() }).await?)
    }
}
