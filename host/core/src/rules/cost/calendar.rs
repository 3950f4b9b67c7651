//! Calendar days and months of event times, in UTC.

const DAY_US: i64 = 24 * 60 * 60 * 1_000_000;

/// Converts a time, in microseconds since 1970 UTC, to its day, such as `2026-11-22`.
pub fn day(time_us: i64) -> String {
    let (year, month, day) = date(time_us.div_euclid(DAY_US));
    format!("{year:04}-{month:02}-{day:02}")
}

/// Converts a time, in microseconds since 1970 UTC, to its month, such as `2026-11`.
pub fn month(time_us: i64) -> String {
    let (year, month, _) = date(time_us.div_euclid(DAY_US));
    format!("{year:04}-{month:02}")
}

/// Converts a number of days since 1970-01-01 to year, month and day in the Gregorian calendar. The calculation uses
/// eras: periods of 400 years that begin on 1 March.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}
