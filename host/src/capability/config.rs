//! `latchwork:plugin/config`: the plugin's `config` table.

use crate::engine::bindings::import::config;
use crate::engine::bindings::import::types::Json;
use crate::engine::tool_state::ToolState;

impl config::Host for ToolState {
    fn get(&mut self, key: String) -> wasmtime::Result<Option<Json>> {
        self.begin_host_call()?;
        Ok(self.settings.config.get(&key).map(serde_json::Value::to_string))
    }
}
