//! Whose clock decides: on SQLite this machine's, on PostgreSQL the database's.

use std::sync::Arc;

use latchwork_core::storage::{Clock, StoreError};
use rustix::time::{ClockId, clock_gettime};

/// The clocks of this machine: the wall clock for event times; for leases and deadlines the
/// boot-time clock, which goes on in sleep and which nobody can set, with the boot id.
#[derive(Debug)]
pub struct SystemClock {
    boot_id: String,
}

impl SystemClock {
    /// Read the boot id.
    pub fn new() -> Result<Self, StoreError> {
        const PATH: &str = "/proc/sys/kernel/random/boot_id";
        let text = std::fs::read_to_string(PATH).map_err(|error| {
            StoreError::Unavailable(format!("cannot read the kernel's boot id from {PATH}: {error}"))
        })?;
        Ok(Self { boot_id: text.trim().to_owned() })
    }
}

impl Clock for SystemClock {
    fn now_us(&self) -> i64 {
        read(ClockId::Realtime)
    }
    fn boot_us(&self) -> i64 {
        read(ClockId::Boottime)
    }
    fn boot_id(&self) -> String {
        self.boot_id.clone()
    }
}

fn read(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}

/// What a database's decisions about time rest on.
#[derive(Clone)]
pub(crate) enum Time {
    /// A clock of this process: all of the database's processes are on one machine.
    Machine(Arc<dyn Clock>),
    /// The database's own: its processes may be anywhere.
    Database,
}

/// A reading of the clocks.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    /// For events, timers and waits.
    pub(crate) now_us: i64,
    /// For leases and deadlines.
    pub(crate) boot_us: i64,
    /// Which boot the second counts from; the database's time counts from none.
    pub(crate) boot_id: Option<String>,
}

impl Time {
    /// Now, where no database has to be asked.
    pub(crate) fn here(&self) -> Option<Moment> {
        let Self::Machine(clock) = self else { return None };
        Some(Moment { now_us: clock.now_us(), boot_us: clock.boot_us(), boot_id: Some(clock.boot_id()) })
    }

    /// Now, where the database says that it is `now_us`.
    pub(crate) fn at(&self, now_us: i64) -> Moment {
        self.here().unwrap_or(Moment { now_us, boot_us: now_us, boot_id: None })
    }
}
