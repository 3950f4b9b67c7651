//! The database clock on SQLite: this machine's.

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
