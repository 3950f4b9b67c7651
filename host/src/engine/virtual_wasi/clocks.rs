//! `wasi:clocks`: one clock with two faces, the step's own (§8).
//!
//! Both tell the same time: the monotonic clock counts nanoseconds since 1970 like the wall
//! clock, so that an origin which a toolchain read at build time lies before it.

use wasmtime::component::Resource;

use super::bindings::clocks::{monotonic_clock, wall_clock};
use super::handles::Pollable;
use crate::engine::step::{StepCalls, StepState};

/// What one look at either clock moves it by: a loop that waits for time to pass ends.
pub(super) const LOOK_NS: i64 = 1_000;
/// What both clocks say of themselves: what a look moves them by.
const RESOLUTION_NS: u32 = 1_000;

/// How far a step's looking and sleeping has moved its clock: nanoseconds since 1970 UTC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(i64);

impl Default for Clock {
    /// Not moved: earlier than any time there is.
    fn default() -> Self {
        Self(i64::MIN)
    }
}

impl Clock {
    /// The time, if the step began or heard something at `heard_us` last. Never earlier than before.
    pub(super) fn now_ns(&mut self, heard_us: i64) -> i64 {
        self.0 = self.0.max(heard_us.saturating_mul(1_000));
        self.0
    }

    /// The time, which then moves on.
    pub(super) fn look(&mut self, heard_us: i64) -> i64 {
        let now = self.now_ns(heard_us);
        self.0 = now.saturating_add(LOOK_NS);
        now
    }

    /// Sleeping takes no time of the machine's.
    pub(super) fn sleep_until(&mut self, due_ns: i64) {
        self.0 = self.0.max(due_ns);
    }
}

impl StepState {
    /// The step's clock, microseconds since 1970 UTC: what it began at, heard, looked at and slept.
    pub(crate) fn now_us(&mut self) -> i64 {
        let heard = self.calls.now_us();
        heard.max(self.wasi.clock.now_ns(heard).div_euclid(1_000))
    }

    /// Another run begins in what this one leaves: its clock has not moved.
    pub(crate) fn begin_again(&mut self, calls: Box<dyn StepCalls>) {
        self.calls = calls;
        self.wasi.clock = Clock::default();
    }

    /// The time in nanoseconds, unmoved.
    pub(super) fn now_ns(&mut self) -> i64 {
        let heard = self.calls.now_us();
        self.wasi.clock.now_ns(heard)
    }

    /// The time in nanoseconds, for a guest that looks.
    pub(super) fn look_ns(&mut self) -> i64 {
        let heard = self.calls.now_us();
        self.wasi.clock.look(heard)
    }

    pub(super) fn sleep_until(&mut self, due_ns: i64) {
        self.wasi.clock.sleep_until(due_ns);
    }
}

impl wall_clock::Host for StepState {
    fn now(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        self.wasi_call(1)?;
        // Time before 1970 cannot be told.
        let ns = self.look_ns().max(0).unsigned_abs();
        Ok(wall_clock::Datetime {
            seconds: ns / 1_000_000_000,
            nanoseconds: u32::try_from(ns % 1_000_000_000).expect("less than a second"),
        })
    }

    fn resolution(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        self.wasi_call(1)?;
        Ok(wall_clock::Datetime { seconds: 0, nanoseconds: RESOLUTION_NS })
    }
}

impl monotonic_clock::Host for StepState {
    fn now(&mut self) -> wasmtime::Result<u64> {
        self.wasi_call(1)?;
        Ok(self.look_ns().max(0).unsigned_abs())
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        self.wasi_call(1)?;
        Ok(u64::from(RESOLUTION_NS))
    }

    fn subscribe_instant(&mut self, when: u64) -> wasmtime::Result<Resource<Pollable>> {
        self.wasi_call(1)?;
        self.handle(Pollable::At(saturated(when)))
    }

    fn subscribe_duration(&mut self, when: u64) -> wasmtime::Result<Resource<Pollable>> {
        self.wasi_call(1)?;
        let due = self.now_ns().saturating_add(saturated(when));
        self.handle(Pollable::At(due))
    }
}

/// Time ends in 2262; who sleeps longer wakes then.
fn saturated(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}
