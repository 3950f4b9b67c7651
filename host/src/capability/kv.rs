//! `latchwork:plugin/kv`: a small persistent map in the namespace that the grant names.

use crate::engine::bindings::import::kv::{self, KvError};
use crate::engine::tool_state::ToolState;

use super::grant;

/// Maximum sizes of a key and a value, as specified in `wit/kv.wit`.
const KEY_BYTES_MAX: usize = 256;
const VALUE_BYTES_MAX: usize = 64 << 10;

impl ToolState {
    fn namespace(&mut self, key: &str) -> wasmtime::Result<Result<String, KvError>> {
        self.begin_host_call()?;
        if key.len() > KEY_BYTES_MAX {
            return Ok(Err(KvError::TooLarge));
        }
        Ok(match grant::kv_namespace(&self.settings.grants, &self.settings.name) {
            Ok(namespace) => Ok(namespace.to_owned()),
            Err(denied) => {
                self.watch.record_denied(denied.log(&self.settings.name));
                Err(KvError::NotGranted)
            }
        })
    }

    fn begin_kv_write(&mut self) -> wasmtime::Result<Result<(), KvError>> {
        if let Err(denied) = grant::check_kv_write(self.rights) {
            let said = denied.log(&self.settings.name);
            self.watch.record_denied(said.clone());
            return Ok(Err(KvError::Unavailable(said)));
        }
        self.watch.begin_side_effect()?;
        Ok(Ok(()))
    }
}

macro_rules! granted {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Ok(Err(error)),
        }
    };
}

impl kv::Host for ToolState {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<Vec<u8>>, KvError>> {
        let namespace = granted!(self.namespace(&key)?);
        Ok(self.settings.kv.get(&namespace, &key).await.map_err(unavailable))
    }

    async fn set(&mut self, key: String, value: Vec<u8>) -> wasmtime::Result<Result<(), KvError>> {
        let namespace = granted!(self.namespace(&key)?);
        if value.len() > VALUE_BYTES_MAX {
            return Ok(Err(KvError::TooLarge));
        }
        granted!(self.begin_kv_write()?);
        Ok(self.settings.kv.set(&namespace, &key, &value).await.map_err(unavailable))
    }

    async fn delete(&mut self, key: String) -> wasmtime::Result<Result<bool, KvError>> {
        let namespace = granted!(self.namespace(&key)?);
        granted!(self.begin_kv_write()?);
        Ok(self.settings.kv.delete(&namespace, &key).await.map_err(unavailable))
    }
}

fn unavailable(error: impl std::fmt::Display) -> KvError {
    KvError::Unavailable(error.to_string())
}
