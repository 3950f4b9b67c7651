//! `latchwork:plugin/clock`: the injected clock.

use crate::guest::fault::HostFault;
use crate::guest::limits::Guard;
use crate::guest::step_calls::{NondeterminismSource, StepCalls, Stop};
use crate::guest::step_clock::StepClock;
use wasmtime::component::HasData;

use crate::guest::bindings::import::clock;

/// The parts of a running step that its clock needs.
pub(crate) struct ClockView<'a> {
    pub(crate) calls: &'a mut dyn StepCalls,
    pub(crate) clock: &'a mut StepClock,
    pub(crate) guard: &'a mut Guard,
}

/// Type of [`ClockView`] for the linker.
pub(crate) struct ClockViewData;

impl HasData for ClockViewData {
    type Data<'a> = ClockView<'a>;
}

impl clock::Host for ClockView<'_> {
    fn now(&mut self) -> wasmtime::Result<clock::Instant> {
        self.guard.count_host_call()?;
        self.calls.before_read(NondeterminismSource::Clock).map_err(|Stop| HostFault::Stopped)?;
        let us = self.clock.now_us(self.calls.now_us());
        Ok(clock::Instant {
            seconds: us.div_euclid(1_000_000),
            nanoseconds: u32::try_from(us.rem_euclid(1_000_000)).expect("less than a million") * 1_000,
        })
    }
}
