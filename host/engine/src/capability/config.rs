//! `latchwork:plugin/config`: the plugin's `config` table.

use std::collections::BTreeMap;

use serde_json::Value;
use wasmtime::component::HasData;

use crate::capability::host_call_gate::HostCallGate;
use crate::guest::bindings::import::config;
use crate::guest::bindings::import::types::Json;

/// The configuration that a tool can read.
pub(crate) struct ConfigView<'a> {
    pub(crate) gate: HostCallGate<'a>,
    pub(crate) config: &'a BTreeMap<String, Value>,
}

/// Type of [`ConfigView`] for the linker.
pub(crate) struct ConfigViewData;

impl HasData for ConfigViewData {
    type Data<'a> = ConfigView<'a>;
}

impl config::Host for ConfigView<'_> {
    fn get(&mut self, key: String) -> wasmtime::Result<Option<Json>> {
        self.gate.pass()?;
        Ok(self.config.get(&key).map(Value::to_string))
    }
}
