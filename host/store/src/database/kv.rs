//! Implementation of [`KeyValue`].

use async_trait::async_trait;

use latchwork_core::storage::{KeyValue, MapName, SetError, StoreError};

use crate::database::handle::Database;
use crate::tables::kv::{self, DeleteKey, SetValue};

#[async_trait]
impl KeyValue for Database {
    async fn get(&self, map: &MapName, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        kv::read_value(&self.readers, self.dialect, map, key).await
    }

    async fn set(&self, map: &MapName, key: &str, value: &[u8], quota: u64) -> Result<(), SetError> {
        let (map, key, value) = (map.clone(), key.to_owned(), value.to_owned());
        let written = self.writer.work(SetValue { map, key, value, quota }).await.map_err(StoreError::from)?;
        written.map_err(SetError::Quota)
    }

    async fn delete(&self, map: &MapName, key: &str) -> Result<bool, StoreError> {
        Ok(self.writer.work(DeleteKey { map: map.clone(), key: key.to_owned() }).await?)
    }
}

impl Database {
    /// Returns the namespaces of the key-value maps that all tenants share, each with the bytes of its map. Leaves out
    /// empty maps.
    pub async fn shared_maps(&self) -> Result<Vec<(String, u64)>, StoreError> {
        kv::read_shared_maps(&self.readers, self.dialect).await
    }
}
