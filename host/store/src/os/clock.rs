//! Time sources: this machine's clock on SQLite, the server's clock on PostgreSQL.

use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};

use latchwork_core::storage::{Clock, StoreError};

/// Clocks of this machine. Event times use the wall clock. Leases and deadlines use the boot-time clock together with
/// the boot id. The boot-time clock continues during sleep and cannot be set.
#[derive(Debug)]
pub struct StoreClock {
    boot_id: String,
}

impl StoreClock {
    /// Reads the boot id.
    pub fn new() -> Result<Self, StoreError> {
        const PATH: &str = "/proc/sys/kernel/random/boot_id";
        let text = std::fs::read_to_string(PATH).map_err(|error| {
            StoreError::Unavailable(format!("cannot read the kernel's boot id from {PATH}: {error}"))
        })?;
        Ok(Self { boot_id: text.trim().to_owned() })
    }
}

impl Clock for StoreClock {
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

/// Source of the time that decides about leases, deadlines and timers of a database.
#[derive(Clone)]
pub(crate) enum TimeSource {
    /// Clock of this machine. All processes of the database run on this machine.
    Machine(Arc<dyn Clock>),
    /// Clock of the database server. Processes may run on any machine.
    Database,
}

/// One reading of the clocks.
#[derive(Clone, Debug)]
pub(crate) struct Timestamps {
    /// Time for events, timers and waits.
    pub(crate) now_us: i64,
    /// Time for leases and deadlines.
    pub(crate) boot_us: i64,
    /// Boot from which `boot_us` counts. `None` if the time comes from a server.
    pub(crate) boot_id: Option<String>,
}

impl TimeSource {
    /// Returns the time of this machine's clock. Returns `None` if the clock of a server is the source.
    pub(crate) fn local_now(&self) -> Option<Timestamps> {
        let Self::Machine(clock) = self else { return None };
        Some(Timestamps { now_us: clock.now_us(), boot_us: clock.boot_us(), boot_id: Some(clock.boot_id()) })
    }

    /// Returns the current time. `now_us` is the time that a server reported. If this machine's clock is the source of
    /// the time, `now_us` is ignored.
    pub(crate) fn at_server_time(&self, now_us: i64) -> Timestamps {
        self.local_now().unwrap_or(Timestamps { now_us, boot_us: now_us, boot_id: None })
    }
}
