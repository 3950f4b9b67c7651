//! `wasi:io/poll`: waiting in virtual time.
//!
//! Streams are always ready; a timer is ready once the step's clock has come to it. Who waits
//! for timers alone sleeps until the earliest, which returns at once and moves the clock there.

use wasmtime::component::Resource;

use super::bindings::io::poll;
use super::handles::Pollable;
use crate::engine::fault::HostFault;
use crate::engine::step::StepState;

impl Pollable {
    fn is_ready(self, now_ns: i64) -> bool {
        match self {
            Pollable::Ready => true,
            Pollable::At(due) => due <= now_ns,
        }
    }
}

/// What comes of waiting for one of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Something is ready now, everything is.
    Over,
    /// Something is ready now, though a timer is not: who asked looked at the clock.
    Looked,
    /// Nothing is ready before this time.
    Until(i64),
}

/// The one rule of waiting, for `poll`, `block` and `ready`.
pub(super) fn wait(all: &[Pollable], now_ns: i64) -> Wait {
    let due = |pollable: &Pollable| match pollable {
        Pollable::At(due) if *due > now_ns => Some(*due),
        _ => None,
    };
    let later = all.iter().filter_map(due);
    match (later.clone().min(), later.count() == all.len()) {
        (None, _) => Wait::Over,
        (Some(earliest), true) => Wait::Until(earliest),
        (Some(_), false) => Wait::Looked,
    }
}

impl StepState {
    fn pollable(&self, handle: &Resource<Pollable>) -> wasmtime::Result<Pollable> {
        Ok(*self.wasi.table.get(handle)?)
    }

    /// Waits for the first of them; the time it is then, as far as the waiting goes.
    fn wait(&mut self, all: &[Pollable]) -> i64 {
        let now = self.now_ns();
        match wait(all, now) {
            Wait::Over => now,
            Wait::Looked => self.look_ns(),
            Wait::Until(due) => {
                self.sleep_until(due);
                due
            }
        }
    }
}

impl poll::HostPollable for StepState {
    fn ready(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<bool> {
        self.wasi_call(1)?;
        let pollable = self.pollable(&pollable)?;
        let now = self.now_ns();
        let is_ready = pollable.is_ready(now);
        if !is_ready {
            // A guest that asks until it is ready looks at the clock each time.
            self.look_ns();
        }
        Ok(is_ready)
    }

    fn block(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<()> {
        self.wasi_call(1)?;
        let pollable = self.pollable(&pollable)?;
        self.wait(&[pollable]);
        Ok(())
    }

    fn drop(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<()> {
        self.wasi.table.delete(pollable)?;
        Ok(())
    }
}

impl poll::Host for StepState {
    fn poll(&mut self, handles: Vec<Resource<Pollable>>) -> wasmtime::Result<Vec<u32>> {
        self.wasi_call(u32::try_from(handles.len()).unwrap_or(u32::MAX))?;
        if handles.is_empty() {
            return Err(HostFault::EmptyPoll.into());
        }
        let all = handles.iter().map(|handle| self.pollable(handle)).collect::<wasmtime::Result<Vec<_>>>()?;
        let now = self.wait(&all);
        Ok((0..).zip(&all).filter(|(_, pollable)| pollable.is_ready(now)).map(|(index, _)| index).collect())
    }
}
