//! Crash points: a probe is told of every statement, and may end the process there.

use std::sync::atomic::{AtomicU32, Ordering};

/// Which side of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It has not been handed over yet.
    Before,
    /// It has been executed, and its answer or failure is there.
    After,
}

/// Told of every statement by its name, one of [`crate::STATEMENTS`].
pub trait Probe: Send + Sync {
    /// The store is at this point.
    fn at(&self, point: &str, side: Side);

    /// Whether the answer of the statement that was just executed is to be lost, as if the
    /// connection had broken. For tests of what the store does then.
    fn loses_answer(&self, point: &str) -> bool {
        let _ = point;
        false
    }
}

/// Lets everything pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    fn at(&self, _: &str, _: Side) {}
}

/// Kills the own process (`SIGKILL`: nothing is flushed, nothing is dropped) the `nth` time, from
/// 1, that a point is passed.
#[derive(Debug)]
pub struct KillAt {
    name: String,
    side: Side,
    left: AtomicU32,
    signal: rustix::process::Signal,
}

impl KillAt {
    /// Kill at the `nth` passing (from 1) of this side of the statement `name`.
    pub fn new(name: impl Into<String>, side: Side, nth: u32) -> Self {
        Self { name: name.into(), side, left: AtomicU32::new(nth), signal: rustix::process::Signal::KILL }
    }

    /// Stop the process there instead, as a machine does that is suspended: whoever continues it
    /// finds that time has passed.
    #[must_use]
    pub fn stopping(self) -> Self {
        Self { signal: rustix::process::Signal::STOP, ..self }
    }
}

impl Probe for KillAt {
    fn at(&self, point: &str, side: Side) {
        if point == self.name && side == self.side && self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let own = rustix::process::getpid();
            // It can only fail for a process that does not exist, and we do.
            let _ = rustix::process::kill_process(own, self.signal);
            // Another thread may take the signal, and this one go on a little until all stand still.
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
}
