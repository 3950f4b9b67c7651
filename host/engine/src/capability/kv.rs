//! `latchwork:plugin/kv`: a small persistent map in the namespace that the grant names.

use crate::capability::grant;
use wasmtime::component::HasData;

use latchwork_core::model::bounds;
use latchwork_core::storage::KeyValue;

use crate::capability::grants::Grants;
use crate::capability::host_call_gate::HostCallGate;
use crate::guest::bindings::import::kv;
use crate::guest::bindings::import::kv::KvError;
use crate::guest::permissions::CallPermissions;

/// The parts of a tool's state that its key-value map needs.
pub(crate) struct KvView<'a> {
    pub(crate) gate: HostCallGate<'a>,
    pub(crate) plugin: &'a str,
    pub(crate) grants: &'a Grants,
    pub(crate) permissions: CallPermissions,
    pub(crate) kv: &'a dyn KeyValue,
}

/// Type of [`KvView`] for the linker.
pub(crate) struct KvViewData;

impl HasData for KvViewData {
    type Data<'a> = KvView<'a>;
}

impl KvView<'_> {
    fn namespace(&mut self, key: &str) -> wasmtime::Result<Result<String, KvError>> {
        self.gate.pass()?;
        if key.len() > bounds::KV_KEY_BYTES {
            return Ok(Err(KvError::TooLarge));
        }
        Ok(match grant::kv_namespace(self.grants, self.plugin) {
            Ok(namespace) => Ok(namespace.to_owned()),
            Err(denied) => {
                denied.record(self.gate.window, self.plugin);
                Err(KvError::NotGranted)
            }
        })
    }

    fn begin_kv_write(&mut self) -> wasmtime::Result<Result<(), KvError>> {
        if let Err(denied) = grant::check_kv_write(self.permissions) {
            return Ok(Err(KvError::Unavailable(denied.record(self.gate.window, self.plugin))));
        }
        self.gate.window.begin_side_effect()?;
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

impl kv::Host for KvView<'_> {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<Vec<u8>>, KvError>> {
        let namespace = granted!(self.namespace(&key)?);
        Ok(self.kv.get(&namespace, &key).await.map_err(unavailable))
    }

    async fn set(&mut self, key: String, value: Vec<u8>) -> wasmtime::Result<Result<(), KvError>> {
        let namespace = granted!(self.namespace(&key)?);
        if value.len() > bounds::KV_VALUE_BYTES {
            return Ok(Err(KvError::TooLarge));
        }
        granted!(self.begin_kv_write()?);
        Ok(self.kv.set(&namespace, &key, &value).await.map_err(unavailable))
    }

    async fn delete(&mut self, key: String) -> wasmtime::Result<Result<bool, KvError>> {
        let namespace = granted!(self.namespace(&key)?);
        granted!(self.begin_kv_write()?);
        Ok(self.kv.delete(&namespace, &key).await.map_err(unavailable))
    }
}

fn unavailable(error: impl std::fmt::Display) -> KvError {
    KvError::Unavailable(error.to_string())
}
