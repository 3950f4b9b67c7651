//! `latchwork:plugin/kv`: a small persistent map in the namespace that the grant names. Each tenant has a
//! map of its own there, unless the grant is shared. The host takes the tenant from the job of the call.

use crate::capability::grant;
use wasmtime::component::HasData;

use latchwork_core::model::bounds;
use latchwork_core::storage::{KeyValue, MapName, SetError};

use crate::capability::grants::{Grants, KvGrant};
use crate::capability::host_call_gate::HostCallGate;
use crate::guest::bindings::import::kv;
use crate::guest::bindings::import::kv::KvError;
use crate::guest::permissions::CallPermissions;

/// The parts of a tool's state that its key-value map needs.
pub(crate) struct KvView<'a> {
    pub(crate) gate: HostCallGate<'a>,
    pub(crate) plugin: &'a str,
    /// Tenant of the job that the call belongs to.
    pub(crate) tenant: &'a str,
    pub(crate) grants: &'a Grants,
    pub(crate) permissions: CallPermissions,
    pub(crate) kv: &'a dyn KeyValue,
}

/// Type of [`KvView`] for the linker.
pub(crate) struct KvViewData;

impl HasData for KvViewData {
    type Data<'a> = KvView<'a>;
}

impl<'a> KvView<'a> {
    /// Returns the map of the call and its grant.
    fn map(&mut self, key: &str) -> wasmtime::Result<Result<(MapName, &'a KvGrant), KvError>> {
        self.gate.pass()?;
        if key.len() > bounds::KV_KEY_BYTES {
            return Ok(Err(KvError::TooLarge));
        }
        let grant = match grant::check_kv(self.grants, self.plugin) {
            Ok(grant) => grant,
            Err(denied) => {
                denied.record(self.gate.window, self.plugin);
                return Ok(Err(KvError::NotGranted));
            }
        };
        let map = grant::map_name(grant, self.tenant);
        Ok(map.map(|map| (map, grant)).ok_or_else(|| unavailable("the call belongs to no tenant, so it has no map")))
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
        let (map, _) = granted!(self.map(&key)?);
        Ok(self.kv.get(&map, &key).await.map_err(unavailable))
    }

    async fn set(&mut self, key: String, value: Vec<u8>) -> wasmtime::Result<Result<(), KvError>> {
        let (map, grant) = granted!(self.map(&key)?);
        if value.len() > bounds::KV_VALUE_BYTES {
            return Ok(Err(KvError::TooLarge));
        }
        granted!(self.begin_kv_write()?);
        Ok(match self.kv.set(&map, &key, &value, grant.bytes).await {
            Ok(()) => Ok(()),
            Err(SetError::Store(error)) => Err(unavailable(error)),
            Err(SetError::Quota(exceeded)) => {
                self.gate.window.withdraw_side_effect();
                let denied = grant::exceeded_kv_quota(self.grants, grant, exceeded);
                Err(KvError::Unavailable(denied.record(self.gate.window, self.plugin)))
            }
        })
    }

    async fn delete(&mut self, key: String) -> wasmtime::Result<Result<bool, KvError>> {
        let (map, _) = granted!(self.map(&key)?);
        granted!(self.begin_kv_write()?);
        Ok(self.kv.delete(&map, &key).await.map_err(unavailable))
    }
}

fn unavailable(error: impl std::fmt::Display) -> KvError {
    KvError::Unavailable(error.to_string())
}
