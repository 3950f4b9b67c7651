//! Probe of crash tests, which kills or suspends the process. Only builds for tests contain it.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::os::probe::{Probe, Side};

/// Probe that kills its own process with `SIGKILL` when a crash point is passed for the `nth` time, counted
/// from 1. Nothing is flushed or dropped.
#[derive(Debug)]
pub struct KillAt {
    name: String,
    side: Side,
    left: AtomicU32,
    signal: rustix::process::Signal,
}

impl KillAt {
    /// Creates a probe that kills the process when this side of the statement `name` is passed for the `nth`
    /// time, counted from 1.
    pub fn new(name: impl Into<String>, side: Side, nth: u32) -> Self {
        Self { name: name.into(), side, left: AtomicU32::new(nth), signal: rustix::process::Signal::KILL }
    }

    /// Makes the probe stop the process with `SIGSTOP` instead of killing it. The stopped process acts like a suspended
    /// machine: time passes until the process is continued.
    #[must_use]
    pub fn suspending(self) -> Self {
        Self { signal: rustix::process::Signal::STOP, ..self }
    }
}

impl Probe for KillAt {
    fn at(&self, point: &str, side: Side) {
        if point == self.name && side == self.side && self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let own = rustix::process::getpid();
            // The call cannot fail, because this process exists and may send signals to itself.
            let _ = rustix::process::kill_process(own, self.signal);
            // Another thread may receive the signal. The sleep keeps this thread at the crash point until the whole
            // process stops.
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
}
