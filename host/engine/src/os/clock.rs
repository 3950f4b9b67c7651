//! Clocks of the machine.

use latchwork_core::storage::Clock;

/// Clocks of the machine that this process runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_us(&self) -> i64 {
        now_us()
    }
    fn boot_us(&self) -> i64 {
        i64::try_from(boot_us()).unwrap_or(i64::MAX)
    }
    fn boot_id(&self) -> String {
        boot_id().unwrap_or_default()
    }
}

/// Returns the time of the machine's wall clock in microseconds since 1970-01-01T00:00:00Z.
#[expect(clippy::disallowed_methods, reason = "this is the place that reads it")]
pub fn now_us() -> i64 {
    match std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |us| -us),
    }
}

/// Converts a time in microseconds since 1970 UTC to the type of the standard library.
pub fn system_time(us: i64) -> std::time::SystemTime {
    let distance = std::time::Duration::from_micros(us.unsigned_abs());
    let epoch = std::time::SystemTime::UNIX_EPOCH;
    if us < 0 { epoch - distance } else { epoch + distance }
}

/// Returns the microseconds since the machine was booted, including time asleep. Hosts and stores use this clock by
/// default, so a deadline also passes while the machine sleeps.
pub fn boot_us() -> u64 {
    #[cfg(target_os = "linux")]
    let id = rustix::time::ClockId::Boottime;
    // Systems other than Linux use the monotonic clock, which may stop while the machine sleeps.
    #[cfg(not(target_os = "linux"))]
    let id = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(id);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0) / 1_000
}

/// Returns the id of the current boot of the machine. Values of [`boot_us`] are comparable only with the same
/// id. Returns `None` if the system provides no id.
pub fn boot_id() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_advance() {
        let (wall, boot) = (now_us(), boot_us());
        assert!(wall > 1_600_000_000_000_000, "{wall}");
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(boot_us() >= boot + 2_000);
    }
}
