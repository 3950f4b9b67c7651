//! `wasi:clocks`: both WASI clocks show the step's own clock (§8).
//!
//! The monotonic clock counts nanoseconds since 1970, like the wall clock. The reason: a toolchain may read the clock
//! at build time and store the reading in the component. If the clock started at zero in each step, it could show an
//! earlier time than the stored reading. Programs do not expect a monotonic clock to go back.

use wasmtime::component::Resource;

use crate::engine::step_state::StepInstanceState;
use crate::engine::virtual_wasi::bindings::clocks::{monotonic_clock, wall_clock};
use crate::engine::virtual_wasi::handles::Pollable;
use crate::guest::fault::HostFault;
use crate::guest::step_calls::{NondeterminismSource, StepCalls, Stop};
use crate::guest::step_clock::StepClock;

/// Resolution that both clocks report, in nanoseconds. Equals the amount by which one clock read advances the clock.
const RESOLUTION_NS: u32 = 1_000;

impl StepInstanceState {
    /// Prepares another run in the same instance. The clock is reset, as if the earlier run had not advanced it.
    pub(crate) fn begin_next_run(&mut self, calls: Box<dyn StepCalls>) {
        self.calls = calls;
        self.wasi.clock = StepClock::default();
    }

    /// Announces that the guest reads this source.
    pub(super) fn before_read(&mut self, source: NondeterminismSource) -> wasmtime::Result<()> {
        Ok(self.calls.before_read(source).map_err(|Stop| HostFault::Stopped)?)
    }

    /// Returns the time in nanoseconds without advancing the clock.
    pub(super) fn now_ns(&mut self) -> i64 {
        let heard = self.calls.now_us();
        self.wasi.clock.now_ns(heard)
    }

    /// Returns the time in nanoseconds for a clock read of the guest, and advances the clock.
    pub(super) fn read_clock_ns(&mut self) -> i64 {
        let heard = self.calls.now_us();
        self.wasi.clock.read(heard)
    }

    pub(super) fn sleep_until(&mut self, due_ns: i64) {
        self.wasi.clock.sleep_until(due_ns);
    }
}

impl wall_clock::Host for StepInstanceState {
    fn now(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        self.count_wasi_call(1)?;
        // WASI cannot represent times before 1970, so they are reported as 1970.
        self.before_read(NondeterminismSource::Clock)?;
        let ns = self.read_clock_ns().max(0).unsigned_abs();
        Ok(wall_clock::Datetime {
            seconds: ns / 1_000_000_000,
            nanoseconds: u32::try_from(ns % 1_000_000_000).expect("less than a second"),
        })
    }

    fn resolution(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        self.count_wasi_call(1)?;
        Ok(wall_clock::Datetime { seconds: 0, nanoseconds: RESOLUTION_NS })
    }
}

impl monotonic_clock::Host for StepInstanceState {
    fn now(&mut self) -> wasmtime::Result<u64> {
        self.count_wasi_call(1)?;
        self.before_read(NondeterminismSource::Clock)?;
        Ok(self.read_clock_ns().max(0).unsigned_abs())
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        self.count_wasi_call(1)?;
        Ok(u64::from(RESOLUTION_NS))
    }

    fn subscribe_instant(&mut self, when: u64) -> wasmtime::Result<Resource<Pollable>> {
        self.count_wasi_call(1)?;
        self.new_handle(Pollable::At(saturated(when)))
    }

    fn subscribe_duration(&mut self, when: u64) -> wasmtime::Result<Resource<Pollable>> {
        self.count_wasi_call(1)?;
        let due = self.now_ns().saturating_add(saturated(when));
        self.new_handle(Pollable::At(due))
    }
}

/// Converts to `i64`. A number that is too large becomes `i64::MAX`, which is a time in the year 2262. A sleep
/// therefore ends in 2262 at the latest.
fn saturated(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}
