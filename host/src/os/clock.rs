//! The one place that reads a clock.

use std::sync::{Mutex, PoisonError};

/// A database's time, and this machine's boot-time clock when it was heard.
static HEARD: Mutex<Option<(i64, i64)>> = Mutex::new(None);

/// Microseconds since 1970-01-01T00:00:00Z: by the database that this process follows, else by the
/// machine's wall clock.
pub fn now_us() -> i64 {
    let heard = *HEARD.lock().unwrap_or_else(PoisonError::into_inner);
    heard.map_or_else(wall_us, |(database_us, at_us)| database_us + (signed_boot_us() - at_us))
}

/// Go by this database time from now on, as it passes on the boot-time clock: machines that share a
/// database agree about the time, whatever their own clocks say. It counts from when it was asked for
/// ([`boot_us`] of then): an answer that was long on its way does not set the clock back.
pub fn follow(database_us: i64, asked_boot_us: u64) {
    let asked_us = i64::try_from(asked_boot_us).unwrap_or(i64::MAX);
    *HEARD.lock().unwrap_or_else(PoisonError::into_inner) = Some((database_us, asked_us));
}

/// Whether [`follow`] was called.
pub fn follows() -> bool {
    HEARD.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

fn signed_boot_us() -> i64 {
    i64::try_from(boot_us()).unwrap_or(i64::MAX)
}

#[expect(clippy::disallowed_methods, reason = "this is the place that reads it")]
fn wall_us() -> i64 {
    match std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |us| -us),
    }
}

/// A recorded time, as the system writes times.
pub fn system_time(us: i64) -> std::time::SystemTime {
    let distance = std::time::Duration::from_micros(us.unsigned_abs());
    let epoch = std::time::SystemTime::UNIX_EPOCH;
    if us < 0 { epoch - distance } else { epoch + distance }
}

/// Microseconds since the machine was booted, time asleep included. Deadlines of calls go by
/// this clock: a call whose time passed while the machine slept has passed.
pub fn boot_us() -> u64 {
    #[cfg(target_os = "linux")]
    let id = rustix::time::ClockId::Boottime;
    // Elsewhere the monotonic clock is the nearest there is; it may stand still during sleep.
    #[cfg(not(target_os = "linux"))]
    let id = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(id);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0) / 1_000
}

/// Names this boot of the machine: readings of [`boot_us`] compare only under one name. None
/// where the system does not tell.
pub fn boot_id() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_go_forward() {
        let (wall, boot) = (now_us(), boot_us());
        assert!(wall > 1_600_000_000_000_000, "{wall}");
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(boot_us() >= boot + 2_000);
    }
}
