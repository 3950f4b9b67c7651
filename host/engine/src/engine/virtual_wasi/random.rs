//! `wasi:random`: all three interfaces draw from the step's random stream (§8).
//!
//! Each call takes the next bytes of the stream, in the order of the calls. Calls of `latchwork:plugin/rng`
//! take their bytes from the same stream. A call for `len` bytes takes `len` bytes. A number takes eight bytes
//! in little-endian order. A seed consists of two numbers. The insecure interfaces give numbers of the same
//! quality.

use latchwork_core::model::bounds;

use crate::engine::step_state::StepInstanceState;
use crate::engine::virtual_wasi::bindings::random::{insecure, insecure_seed, random};
use crate::guest::fault::HostFault;
use crate::guest::step_calls::NondeterminismSource;

/// Number of random bytes per counted WASI call. A call for random bytes counts as one call against the limit of WASI
/// calls, plus one for each full 1,024 bytes. Generating random bytes uses no fuel, so only this limit bounds the work.
const BYTES_PER_CALL: u32 = 1_024;

impl StepInstanceState {
    fn draw(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        if len > bounds::RANDOM_BYTES {
            return Err(HostFault::RandomBytes(len).into());
        }
        self.count_wasi_call(1 + len / BYTES_PER_CALL)?;
        self.before_read(NondeterminismSource::Random)?;
        let mut bytes = vec![0; len as usize];
        self.calls.random(&mut bytes);
        Ok(bytes)
    }

    fn draw_u64(&mut self) -> wasmtime::Result<u64> {
        self.count_wasi_call(1)?;
        self.before_read(NondeterminismSource::Random)?;
        let mut bytes = [0; 8];
        self.calls.random(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }
}

impl random::Host for StepInstanceState {
    fn get_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        self.draw(len)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.draw_u64()
    }
}

impl insecure::Host for StepInstanceState {
    fn get_insecure_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        self.draw(len)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.draw_u64()
    }
}

impl insecure_seed::Host for StepInstanceState {
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        Ok((self.draw_u64()?, self.draw_u64()?))
    }
}
