//! Clock of one host: the clock of its machine, which can follow the time of a database.

use std::sync::{Arc, Mutex, PoisonError};

use latchwork_core::storage::Clock;

use crate::os::clock::SystemClock;

/// Clock of one host. After a call of [`synchronize`](Self::synchronize), the clock shows the time of a database.
pub struct HostClock {
    machine: Arc<dyn Clock>,
    /// Time of the database in microseconds since 1970 UTC, and the boot-clock time at which this time was requested.
    database_time: Mutex<Option<(i64, i64)>>,
}

impl HostClock {
    /// Creates a clock that shows the time of `machine` until [`synchronize`](Self::synchronize) is called.
    pub fn new(machine: Arc<dyn Clock>) -> Self {
        Self { machine, database_time: Mutex::new(None) }
    }

    /// Sets this clock to the time of a database. From then on, this clock advances with the boot-time clock. Machines
    /// that share a database agree about the time, independently of their own wall clocks.
    ///
    /// `asked_boot_us` is the boot-clock time at which the database's time was requested. The answer of the database
    /// counts as its time at the moment of the request. After a slow response, this clock may therefore be ahead of the
    /// database's clock, but is not behind it.
    pub fn synchronize(&self, database_us: i64, asked_boot_us: i64) {
        *self.database_time.lock().unwrap_or_else(PoisonError::into_inner) = Some((database_us, asked_boot_us));
    }

    /// Returns true if [`synchronize`](Self::synchronize) was called.
    pub fn is_synchronized(&self) -> bool {
        self.database_time.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

impl Default for HostClock {
    /// The clock of the machine that this process runs on.
    fn default() -> Self {
        Self::new(Arc::new(SystemClock))
    }
}

impl Clock for HostClock {
    fn now_us(&self) -> i64 {
        let heard = *self.database_time.lock().unwrap_or_else(PoisonError::into_inner);
        heard.map_or_else(
            || self.machine.now_us(),
            |(database_us, asked_us)| database_us + (self.machine.boot_us() - asked_us),
        )
    }
    fn boot_us(&self) -> i64 {
        self.machine.boot_us()
    }
    fn boot_id(&self) -> String {
        self.machine.boot_id()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clock that stands still.
    struct Stopped;

    impl Clock for Stopped {
        fn now_us(&self) -> i64 {
            1_000
        }
        fn boot_us(&self) -> i64 {
            70
        }
        fn boot_id(&self) -> String {
            "boot".to_owned()
        }
    }

    #[test]
    fn hosts_of_one_process_share_no_time() {
        let (one, other) = (HostClock::new(Arc::new(Stopped)), HostClock::new(Arc::new(Stopped)));
        one.synchronize(5_000, 20);
        assert_eq!((one.now_us(), one.boot_us(), one.is_synchronized()), (5_050, 70, true));
        assert_eq!((other.now_us(), other.boot_us(), other.is_synchronized()), (1_000, 70, false));
    }
}
