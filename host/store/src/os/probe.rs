//! Crash points: a probe is called at every statement and may kill the process there.

use std::sync::atomic::{AtomicU32, Ordering};

/// Side of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The statement has not been sent yet.
    Before,
    /// The statement was executed, and its answer or failure has arrived.
    After,
}

/// Called at every statement with its name, one of [`crate::STATEMENTS`].
pub trait Probe: Send + Sync {
    /// Called when the store reaches this point.
    fn at(&self, point: &str, side: Side);

    /// Returns true if the answer of the statement just executed is to be discarded, as if the connection had
    /// broken. Only tests return true.
    fn loses_answer(&self, point: &str) -> bool {
        let _ = point;
        false
    }
}

/// Probe that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    fn at(&self, _: &str, _: Side) {}
}

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
            // Another thread may receive the signal. This thread would then run for a moment until the whole process
            // stops. The sleep keeps this thread at the crash point during that moment.
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
}
