//! The real clock and real entropy: for tools only, and part of no replay.

use std::time::Duration;

use crate::clock::Timestamp;
use crate::host;

/// What time it is.
pub fn now() -> Timestamp {
    host::wall_now()
}

/// Random bytes from the operating system.
pub fn random(len: usize) -> Vec<u8> {
    host::wall_random(len)
}

/// Wait for so long.
pub fn sleep(time: Duration) {
    host::wall_sleep(time);
}
