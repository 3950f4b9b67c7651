//! Clock and entropy of this process. Each host that the program starts gets this machine.

use std::sync::LazyLock;

use latchwork_engine::os::Machine;

static MACHINE: LazyLock<Machine> = LazyLock::new(Machine::system);

/// Returns the machine of this process.
pub(crate) fn machine() -> &'static Machine {
    &MACHINE
}

/// Returns the time in microseconds since 1970 UTC: the time of the database server if one was opened, else the time of
/// this machine.
pub(crate) fn now_us() -> i64 {
    MACHINE.now_us()
}
