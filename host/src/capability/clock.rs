//! `latchwork:plugin/clock`: the injected clock.

use crate::engine::bindings::import::clock;
use crate::engine::step::StepState;

impl clock::Host for StepState {
    fn now(&mut self) -> wasmtime::Result<clock::Instant> {
        self.guard.count_host_call()?;
        let us = self.now_us();
        Ok(clock::Instant {
            seconds: us.div_euclid(1_000_000),
            nanoseconds: u32::try_from(us.rem_euclid(1_000_000)).expect("less than a million") * 1_000,
        })
    }
}
