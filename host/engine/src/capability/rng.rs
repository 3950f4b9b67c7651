//! `latchwork:plugin/rng`: the injected random number generator.

use latchwork_core::model::bounds;

use crate::capability::step_call_view::StepCallView;
use crate::guest::bindings::import::rng;
use crate::guest::fault::HostFault;
use crate::guest::step_calls::{NondeterminismSource, Stop};

impl StepCallView<'_> {
    fn before_read(&mut self) -> wasmtime::Result<()> {
        Ok(self.calls.before_read(NondeterminismSource::Random).map_err(|Stop| HostFault::Stopped)?)
    }
}

impl rng::Host for StepCallView<'_> {
    fn bytes(&mut self, len: u32) -> wasmtime::Result<Vec<u8>> {
        self.guard.count_host_call()?;
        if len > bounds::RANDOM_BYTES {
            return Err(HostFault::RandomBytes(len).into());
        }
        self.before_read()?;
        let mut bytes = vec![0; len as usize];
        self.calls.random(&mut bytes);
        Ok(bytes)
    }

    fn next_u32(&mut self) -> wasmtime::Result<u32> {
        self.guard.count_host_call()?;
        self.before_read()?;
        Ok(self.calls.next_u32())
    }

    fn below(&mut self, bound: u32) -> wasmtime::Result<u32> {
        self.guard.count_host_call()?;
        self.before_read()?;
        Ok(if bound == 0 { 0 } else { self.calls.below(bound) })
    }
}
