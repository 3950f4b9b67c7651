//! `latchwork:plugin/events`: informational events.

use crate::engine::HostFault;
use crate::engine::bindings::import::events;
use crate::engine::bindings::import::types::Json;
use crate::engine::step::StepState;
use crate::os::clock;

impl events::Host for StepState {
    async fn emit(&mut self, name: String, payload: Json) -> wasmtime::Result<()> {
        self.guard.host_call()?;
        let since = clock::boot_us();
        let emitted = self.calls.emit(name, payload).await;
        self.guard.waited_since(since);
        Ok(emitted.map_err(|_| HostFault::Stopped)?)
    }
}
