//! A moment in UTC, and its text forms.

use std::fmt;
use std::time::Duration;

/// A moment in UTC.
///
/// ```
/// use latchwork_guest::clock::Timestamp;
///
/// let start = Timestamp { seconds: 1_763_766_000, nanoseconds: 250_000_000 };
/// assert_eq!(start.to_string(), "2025-11-21T23:00:00.250Z");
/// assert_eq!(start.date(), (2025, 11, 21));
/// assert_eq!(start.rfc2822(), "Fri, 21 Nov 2025 23:00:00 +0000");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Nanoseconds of the second.
    pub nanoseconds: u32,
}

const DAY: i64 = 86_400;
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

impl Timestamp {
    /// Returns year, month (1 to 12) and day of the month (1 to 31), in UTC.
    pub fn date(self) -> (i64, u32, u32) {
        // Counts days in 400-year cycles that begin on 1 March, so that a leap day is the last day of its year.
        let days = self.seconds.div_euclid(DAY) + 719_468;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        (year, u32::try_from(month).unwrap_or(0), u32::try_from(day).unwrap_or(0))
    }

    /// Returns hour (0 to 23), minute and second, in UTC.
    pub fn time(self) -> (u32, u32, u32) {
        let second = u32::try_from(self.seconds.rem_euclid(DAY)).unwrap_or(0);
        (second / 3600, second / 60 % 60, second % 60)
    }

    /// Formats the time for the `Date` header of a mail, as RFC 5322 defines it. RFC 5322 replaced RFC 2822.
    pub fn rfc2822(self) -> String {
        let ((year, month, day), (hour, minute, second)) = (self.date(), self.time());
        let weekday = WEEKDAYS[usize::try_from(self.seconds.div_euclid(DAY).rem_euclid(7)).unwrap_or(0)];
        let month = MONTHS[month as usize - 1];
        format!("{weekday}, {day} {month} {year:04} {hour:02}:{minute:02}:{second:02} +0000")
    }

    /// Returns the sum of this time and the duration `later`. Seconds saturate at `i64::MAX`.
    #[must_use]
    pub fn plus(self, later: Duration) -> Self {
        let nanoseconds = self.nanoseconds + later.subsec_nanos();
        let carry = nanoseconds / 1_000_000_000;
        let seconds = i64::try_from(later.as_secs()).unwrap_or(i64::MAX);
        Self {
            seconds: self.seconds.saturating_add(seconds).saturating_add(i64::from(carry)),
            nanoseconds: nanoseconds % 1_000_000_000,
        }
    }
}

/// Formats the time as RFC 3339 with milliseconds, in UTC.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((year, month, day), (hour, minute, second)) = (self.date(), self.time());
        let millisecond = self.nanoseconds / 1_000_000;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_format_as_rfc3339() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799, "9999-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(Timestamp { seconds, nanoseconds: 0 }.to_string(), text);
        }
    }

    #[test]
    fn plus_carries_nanoseconds() {
        let sum = Timestamp { seconds: 1, nanoseconds: 900_000_000 }.plus(Duration::from_millis(1_200));
        assert_eq!(sum, Timestamp { seconds: 3, nanoseconds: 100_000_000 });
    }
}
