//! Wait steps: their payload and the notation of durations and times in it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum length of a wait: ten years, in milliseconds.
pub const WAIT_MS_MAX: u64 = 3_650 * 24 * 60 * 60 * 1_000;
/// Longest wait for which a job stays `WAITING`. A longer wait parks the job.
///
/// The value equals the longest backoff, so waits and retries park a job after the same time.
pub const SHORT_WAIT_MS: u32 = crate::model::retry::CAP_MS;
/// Maximum number of characters of a correlation key.
pub const KEY_CHARS_MAX: usize = 128;

/// Event for which a wait step waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitKind {
    /// A signal from another system.
    Signal,
    /// A signal that a person sends.
    Human,
    /// A point in time.
    Timer,
}

impl WaitKind {
    /// Names used in plans.
    pub const NAMES: [&str; 3] = ["signal", "human", "timer"];
}

/// Time at which a wait ends without a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// The wait ends this number of milliseconds after the step becomes ready.
    After(u64),
    /// The wait ends at this time, in microseconds since 1970 UTC.
    At(i64),
}

/// Payload of a wait step after its bindings are resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitSpec {
    /// Event for which the step waits.
    pub kind: WaitKind,
    /// Correlation key that a signal must carry. `None` for timers.
    pub key: Option<String>,
    /// Time at which the wait ends without a signal.
    pub end: Option<WaitEnd>,
    /// Output of the step if the wait ends without a signal. Without a default, a wait for a signal then fails.
    pub default: Option<Value>,
    /// True if the job parks even for a short wait.
    pub park: bool,
}

impl WaitSpec {
    /// Parses a payload.
    ///
    /// # Errors
    /// Returns a sentence that describes the error.
    pub fn parse(payload: &Value) -> Result<WaitSpec, String> {
        let fields = payload.as_object().ok_or("the payload of a wait is an object")?;
        let kind = fields.get("wait_kind").cloned().unwrap_or_default();
        let kind: WaitKind = serde_json::from_value(kind).map_err(|_| "`wait_kind` is signal, human or timer")?;
        let span = |name: &str| match fields.get(name) {
            None => Ok(None),
            Some(value) => {
                let read = value.as_str().and_then(parse_duration).map(WaitEnd::After);
                read.map(Some).ok_or_else(|| format!("`{name}` is {value}, not a time such as \"90s\" or \"3d\""))
            }
        };
        let (duration, timeout) = (span("duration")?, span("timeout")?);
        let until = match fields.get("until") {
            None => None,
            Some(value) => {
                let read = value.as_str().and_then(parse_time).map(WaitEnd::At);
                Some(read.ok_or_else(|| format!("`until` is {value}, not a moment such as \"2026-01-31T09:00:00Z\""))?)
            }
        };
        let key = match fields.get("correlation_key") {
            None => None,
            Some(Value::String(key)) if is_correlation_key(key) => Some(key.clone()),
            Some(other) => return Err(format!("`correlation_key` is {other}, not a text of 1 to 128 characters")),
        };
        let when = match kind {
            WaitKind::Timer => Some(duration.or(until).ok_or("a timer has a `duration` or an `until`")?),
            WaitKind::Signal | WaitKind::Human if key.is_none() => {
                return Err("a wait for a signal has a `correlation_key`".to_owned());
            }
            WaitKind::Signal | WaitKind::Human => timeout,
        };
        let park = fields.get("park").and_then(Value::as_bool).unwrap_or(false);
        Ok(WaitSpec { kind, key, end: when, default: fields.get("default").cloned(), park })
    }

    /// Returns the time at which the wait ends without a signal, in microseconds since 1970 UTC. `now_us` is the time
    /// at which the wait starts, in the same unit. Returns `None` if the wait has no end.
    pub fn until_us(&self, now_us: i64) -> Option<i64> {
        self.end.map(|when| match when {
            WaitEnd::After(ms) => now_us.saturating_add_unsigned(ms * 1_000),
            WaitEnd::At(us) => us,
        })
    }
}

/// Returns the correlation key if the payload states it as a text. Returns `None` if the key is a binding, because
/// its value is not known yet.
pub fn literal_key(payload: &Value) -> Option<&str> {
    payload.get("correlation_key").and_then(Value::as_str)
}

/// Returns true if `text` is a valid correlation key.
pub fn is_correlation_key(text: &str) -> bool {
    (1..=KEY_CHARS_MAX).contains(&text.chars().count()) && !text.chars().any(|c| c < ' ' || c == '\u{7f}')
}

/// Parses a duration such as `500ms`, `90s`, `2m`, `12h` or `3d`. Returns milliseconds, from 1 to
/// [`WAIT_MS_MAX`].
pub fn parse_duration(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|char: char| !char.is_ascii_digit())?);
    let unit_ms: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let number: u64 = if number.starts_with('0') { return None } else { number.parse().ok()? };
    number.checked_mul(unit_ms).filter(|span| (1..=WAIT_MS_MAX).contains(span))
}

/// Parses an RFC 3339 time with an offset, such as `2026-01-31T09:00:00Z`. Returns microseconds since 1970 UTC.
/// The year must be from 1970 to 9999, and a fraction of a second may have at most six digits.
pub fn parse_time(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = bytes.get(from..to)?;
        digits.iter().all(u8::is_ascii_digit).then(|| digits.iter().fold(0, |n, d| n * 10 + i64::from(d - b'0')))
    };
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if !text.is_ascii() || separators.iter().any(|(at, byte)| bytes.get(*at) != Some(byte)) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1970..=9999).contains(&year) || !(1..=days).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut rest = &text[19..];
    let mut micros = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if !(1..=6).contains(&digits) {
            return None;
        }
        micros = fraction[..digits].parse::<i64>().ok()? * 10_i64.pow(6 - digits as u32);
        rest = &fraction[digits..];
    }
    let offset_s = offset_seconds(rest)?;
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset_s;
    Some(seconds * 1_000_000 + micros).filter(|us| *us >= 0)
}

/// Parses an offset such as `Z` or `+02:00` into seconds.
fn offset_seconds(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = text[1..].split_once(':')?;
    let two = |part: &str, max: i64| -> Option<i64> {
        let plain = part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
        part.parse().ok().filter(|n| plain && *n <= max)
    };
    Some(sign * (two(hours, 23)? * 3_600 + two(minutes, 59)? * 60))
}

/// Returns the number of days from 1970-01-01 to a date of the proleptic Gregorian calendar. The calculation counts
/// years from March to February. The leap day is therefore the last day of a year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn durations_need_a_unit_and_have_a_maximum() {
        for (text, ms) in [("1ms", 1), ("90s", 90_000), ("2m", 120_000), ("12h", 43_200_000), ("3d", 259_200_000)] {
            assert_eq!(parse_duration(text), Some(ms), "{text}");
        }
        assert_eq!(parse_duration("3650d"), Some(WAIT_MS_MAX));
        for text in ["", "s", "1", "0s", "01s", "1.5s", "-1s", "1 s", "1w", "3651d", "99999999999999999999d"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    #[test]
    fn times_follow_rfc_3339() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2026-01-31T09:00:00Z", 1_769_850_000),
            ("2026-01-31T11:00:00+02:00", 1_769_850_000),
            ("2026-01-31T03:30:00-05:30", 1_769_850_000),
        ] {
            assert_eq!(parse_time(text), Some(seconds * 1_000_000), "{text}");
        }
        assert_eq!(parse_time("2026-01-31T09:00:00.25Z"), Some(1_769_850_000_250_000));
        for text in [
            "",
            "2026-01-31",
            "2026-01-31T09:00:00",
            "2026-01-31 09:00:00Z",
            "2026-02-29T09:00:00Z",
            "2026-13-01T09:00:00Z",
            "2026-01-31T24:00:00Z",
            "2026-01-31T09:00:60Z",
            "2026-01-31T09:00:00.Z",
            "2026-01-31T09:00:00.1234567Z",
            "2026-01-31T09:00:00+2:00",
            "2026-01-31T09:00:00Zulu",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+01:00",
            "２026-01-31T09:00:00Z",
        ] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }

    #[test]
    fn wait_payload_is_parsed_or_refused_with_a_reason() {
        let signal = json!({ "wait_kind": "signal", "correlation_key": "k", "timeout": "2s", "default": 7 });
        let wait = WaitSpec::parse(&signal).unwrap();
        assert_eq!((wait.kind, wait.key.as_deref(), wait.park), (WaitKind::Signal, Some("k"), false));
        assert_eq!((wait.until_us(1_000), wait.default), (Some(2_001_000), Some(json!(7))));
        let timer = WaitSpec::parse(&json!({ "wait_kind": "timer", "until": "1970-01-01T00:00:09Z" })).unwrap();
        assert_eq!(timer.until_us(1), Some(9_000_000));
        for (payload, word) in [
            (json!(1), "an object"),
            (json!({}), "wait_kind"),
            (json!({ "wait_kind": "signal" }), "correlation_key"),
            (json!({ "wait_kind": "human", "correlation_key": "" }), "correlation_key"),
            (json!({ "wait_kind": "timer" }), "duration"),
            (json!({ "wait_kind": "timer", "duration": 5 }), "duration"),
            (json!({ "wait_kind": "timer", "until": "soon" }), "until"),
        ] {
            let refused = WaitSpec::parse(&payload).unwrap_err();
            assert!(refused.contains(word), "{payload}: {refused}");
        }
    }
}
