//! The real clock and real entropy, for tools only. Their values are not part of replay.

use std::time::Duration;

use crate::data::Timestamp;
use crate::host;

/// Returns the current time.
pub fn now() -> Timestamp {
    host::wall_now()
}

/// Returns `len` random bytes of the operating system.
pub fn random(len: usize) -> Vec<u8> {
    host::wall_random(len)
}

/// Blocks for `time`. The time counts against the timeout of the call.
pub fn sleep(time: Duration) {
    host::wall_sleep(time);
}
