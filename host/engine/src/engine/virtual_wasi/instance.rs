//! Functions of a step's instance for all interfaces of virtual WASI: counts of calls, handles and ends of output.

use wasmtime::component::Resource;

use latchwork_core::model::bounds;

use crate::engine::step_state::StepInstanceState;
use crate::guest::fault::HostFault;

impl StepInstanceState {
    /// Counts one call of virtual WASI as `weight` calls.
    pub(super) fn count_wasi_call(&mut self, weight: u32) -> wasmtime::Result<()> {
        Ok(self.guard.count_wasi_calls(weight)?)
    }

    /// Creates a handle. Fails if the step holds [`bounds::STEP_HANDLES`] handles.
    pub(super) fn new_handle<T: Send + 'static>(&mut self, entry: T) -> wasmtime::Result<Resource<T>> {
        Ok(self.wasi.table.push(entry).map_err(|_| HostFault::TooManyHandles(bounds::STEP_HANDLES))?)
    }

    /// Logs the incomplete last lines of the step's output.
    pub(crate) fn flush_output(&mut self) {
        self.wasi.output.finish(&mut *self.calls);
    }
}
