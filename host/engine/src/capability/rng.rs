//! `latchwork:plugin/rng`: the injected random number generator.

use crate::capability::step_view::StepView;
use crate::guest::bindings::import::rng;
use crate::guest::fault::HostFault;

/// Maximum number of bytes of one call. The maximum limits the host's allocation and suffices for any key.
pub(crate) const BYTES_MAX: u32 = 65_536;

impl rng::Host for StepView<'_> {
    fn bytes(&mut self, len: u32) -> wasmtime::Result<Vec<u8>> {
        self.guard.count_host_call()?;
        if len > BYTES_MAX {
            return Err(HostFault::RandomBytes(len).into());
        }
        let mut bytes = vec![0; len as usize];
        self.calls.random(&mut bytes);
        Ok(bytes)
    }

    fn next_u32(&mut self) -> wasmtime::Result<u32> {
        self.guard.count_host_call()?;
        Ok(self.calls.next_u32())
    }

    fn below(&mut self, bound: u32) -> wasmtime::Result<u32> {
        self.guard.count_host_call()?;
        Ok(if bound == 0 { 0 } else { self.calls.below(bound) })
    }
}
