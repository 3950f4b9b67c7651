//! Formats durations, ages and names for people.

use latchwork_core::event::DecidedBy;

/// Returns `verified` if the name of the person is verified, else `claimed`.
pub(crate) fn assurance_word(by: &DecidedBy) -> &'static str {
    if by.assurance().is_claimed() { "claimed" } else { "verified" }
}

/// Formats an age with one unit, truncated: `0s`, `42s`, `3m`. `us` is the age in microseconds. The smallest unit is
/// one second.
pub(crate) fn age(us: i64) -> String {
    short_duration(us.max(0) / 1_000_000 * 1_000_000).replace("0ms", "0s").replace(".0s", "s")
}

/// Formats a duration with one unit, truncated: `350ms`, `3.4s`, `42s`, `3m`, `2h`, `5d`. `us` is the duration in
/// microseconds.
pub(crate) fn short_duration(us: i64) -> String {
    let ms = us.max(0) / 1_000;
    let secs = ms / 1_000;
    match secs {
        0 => format!("{ms}ms"),
        1..=9 => format!("{secs}.{}s", ms % 1_000 / 100),
        10..=59 => format!("{secs}s"),
        60..=3_599 => format!("{}m", secs / 60),
        // Hours are used up to 72 h 59 min, days from 73 h on.
        3_600..=262_799 => format!("{}h", secs / 3_600),
        _ => format!("{}d", secs / 86_400),
    }
}

/// Formats the duration of something that ended, with four digits below a minute: `0.042 s`, `12.34 s`, `3
/// min 05 s`, `2 h 03 min`. The value is truncated.
pub(crate) fn finished_duration(us: i64) -> String {
    let ms = us.max(0) / 1_000;
    match ms / 1_000 {
        0..10 => format!("{}.{:03} s", ms / 1_000, ms % 1_000),
        10..60 => format!("{}.{:02} s", ms / 1_000, ms % 1_000 / 10),
        secs => minutes(secs),
    }
}

/// Formats the elapsed time of an action that is still running: `0.3 s`, `12.3 s`, `3 min 05 s`.
pub(crate) fn elapsed_time(us: i64) -> String {
    let ms = us.max(0) / 1_000;
    match ms / 1_000 {
        secs @ 0..60 => format!("{secs}.{} s", ms % 1_000 / 100),
        secs => minutes(secs),
    }
}

fn minutes(secs: i64) -> String {
    match secs {
        ..3_600 => format!("{} min {:02} s", secs / 60, secs % 60),
        _ => format!("{} h {:02} min", secs / 3_600, secs % 3_600 / 60),
    }
}

/// Formats the time since a start, with milliseconds in the first minute: `+0.012s`, `+3m05s`, `+2h03m`,
/// `+5d02h`.
pub(crate) fn offset(us: i64) -> String {
    let ms = us.max(0) / 1_000;
    let secs = ms / 1_000;
    match secs {
        0..=59 => format!("+{secs}.{:03}s", ms % 1_000),
        60..=3_599 => format!("+{}m{:02}s", secs / 60, secs % 60),
        3_600..=86_399 => format!("+{}h{:02}m", secs / 3_600, secs % 3_600 / 60),
        _ => format!("+{}d{:02}h", secs / 86_400, secs % 86_400 / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000;

    #[test]
    fn durations_have_one_unit() {
        let cases = [(-5, "0ms"), (350_999, "350ms"), (S, "1.0s"), (9_999_999, "9.9s"), (59 * S, "59s")];
        let longer =
            [(60 * S, "1m"), (3_599 * S, "59m"), (3_600 * S, "1h"), (72 * 3_600 * S, "72h"), (73 * 3_600 * S, "3d")];
        for (us, expected) in cases.into_iter().chain(longer) {
            assert_eq!(short_duration(us), expected, "{us}");
        }
    }

    #[test]
    fn finished_durations_have_four_digits_and_elapsed_times_one_decimal() {
        let cases = [
            (-5, "0.000 s", "0.0 s"),
            (42_999, "0.042 s", "0.0 s"),
            (3_412_000, "3.412 s", "3.4 s"),
            (12_345_678, "12.34 s", "12.3 s"),
            (59_999_999, "59.99 s", "59.9 s"),
            (185 * S, "3 min 05 s", "3 min 05 s"),
            (7_380 * S, "2 h 03 min", "2 h 03 min"),
        ];
        for (us, over, going_on) in cases {
            assert_eq!((finished_duration(us).as_str(), elapsed_time(us).as_str()), (over, going_on), "{us}");
        }
    }

    #[test]
    fn ages_are_whole_seconds() {
        for (us, expected) in
            [(-5, "0s"), (350_999, "0s"), (S, "1s"), (9_999_999, "9s"), (10 * S, "10s"), (60 * S, "1m")]
        {
            assert_eq!(age(us), expected, "{us}");
        }
    }

    #[test]
    fn offsets_are_exact_at_first() {
        let cases = [
            (12_345, "+0.012s"),
            (59_999_999, "+59.999s"),
            (185 * S, "+3m05s"),
            (7_380 * S, "+2h03m"),
            (439_200 * S, "+5d02h"),
        ];
        for (us, expected) in cases {
            assert_eq!(offset(us), expected, "{us}");
        }
    }
}
