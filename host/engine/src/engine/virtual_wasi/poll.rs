//! `wasi:io/poll`: waiting in virtual time.
//!
//! Streams are always ready. A timer is ready when the step's clock reaches its time. A guest that waits only for
//! timers sleeps until the earliest timer: the call returns immediately and advances the clock to the time of that
//! timer.

use wasmtime::component::Resource;

use crate::engine::step_state::StepInstanceState;
use crate::engine::virtual_wasi::bindings::io::poll;
use crate::engine::virtual_wasi::handles::Pollable;
use crate::guest::fault::HostFault;

impl Pollable {
    fn is_ready(self, now_ns: i64) -> bool {
        match self {
            Pollable::Ready => true,
            Pollable::At(due) => due <= now_ns,
        }
    }
}

/// Result of waiting for one of several pollables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// All pollables are ready now. The clock is not advanced.
    AllReady,
    /// At least one pollable is ready now, and at least one timer is not. The poll then counts as a clock read and
    /// advances the clock. Otherwise, a guest that polls until the timer is ready would poll forever.
    SomeReady,
    /// Nothing is ready before this time, in nanoseconds.
    Until(i64),
}

/// Determines how long to wait for pollables. Both `poll` and `block` use this rule.
pub(super) fn wait_result(all: &[Pollable], now_ns: i64) -> Wait {
    let due = |pollable: &Pollable| match pollable {
        Pollable::At(due) if *due > now_ns => Some(*due),
        _ => None,
    };
    let later = all.iter().filter_map(due);
    match (later.clone().min(), later.count() == all.len()) {
        (None, _) => Wait::AllReady,
        (Some(earliest), true) => Wait::Until(earliest),
        (Some(_), false) => Wait::SomeReady,
    }
}

impl StepInstanceState {
    fn pollable(&self, handle: &Resource<Pollable>) -> wasmtime::Result<Pollable> {
        Ok(*self.wasi.table.get(handle)?)
    }

    /// Waits until one of the pollables is ready. Returns the time at which the wait ends. A timer is ready if its time
    /// is not later than the returned time.
    fn wait(&mut self, all: &[Pollable]) -> i64 {
        let now = self.now_ns();
        match wait_result(all, now) {
            Wait::AllReady => now,
            Wait::SomeReady => self.read_clock_ns(),
            Wait::Until(due) => {
                self.sleep_until(due);
                due
            }
        }
    }
}

impl poll::HostPollable for StepInstanceState {
    fn ready(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<bool> {
        self.count_wasi_call(1)?;
        let pollable = self.pollable(&pollable)?;
        let now = self.now_ns();
        let is_ready = pollable.is_ready(now);
        if !is_ready {
            // Each read advances the clock. Otherwise, a guest that polls in a loop until the timer is ready
            // would loop forever.
            self.read_clock_ns();
        }
        Ok(is_ready)
    }

    fn block(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<()> {
        self.count_wasi_call(1)?;
        let pollable = self.pollable(&pollable)?;
        self.wait(&[pollable]);
        Ok(())
    }

    fn drop(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<()> {
        self.wasi.table.delete(pollable)?;
        Ok(())
    }
}

impl poll::Host for StepInstanceState {
    fn poll(&mut self, handles: Vec<Resource<Pollable>>) -> wasmtime::Result<Vec<u32>> {
        self.count_wasi_call(u32::try_from(handles.len()).unwrap_or(u32::MAX))?;
        if handles.is_empty() {
            return Err(HostFault::EmptyPoll.into());
        }
        let all = handles.iter().map(|handle| self.pollable(handle)).collect::<wasmtime::Result<Vec<_>>>()?;
        let now = self.wait(&all);
        Ok((0..).zip(&all).filter(|(_, pollable)| pollable.is_ready(now)).map(|(index, _)| index).collect())
    }
}
