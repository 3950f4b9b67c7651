//! Times shortly before and after the start of a case, in the form of the time that they replace.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;

use crate::check::variations::change::ValueChange;
use crate::check::variations::places::{Place, places_of, replaced};

/// Start time of the cases, in seconds since 1970: 2026-01-05 09:00:00 UTC, a Monday.
pub(in crate::check) const CASE_START_S: i64 = 1_767_603_600;
/// Distances of times near the start of the cases, in seconds.
const NEAR_S: [(&str, i64); 3] =
    [("a minute after the start", 60), ("a minute before the start", -60), ("a day after the start", 86_400)];
/// Seconds since 1970 of the years 1998 to 2223. Smaller and greater numbers are no times.
const SECONDS: std::ops::Range<i64> = 900_000_000..8_000_000_000;

/// Returns copies of a value in which one time is near the start of the cases, each with a description.
pub(in crate::check) fn near_times(value: &Value) -> Vec<(String, Value)> {
    let places = places_of(value, &Value::Null);
    let changes = |place: &Place<'_>| match place.value {
        Value::String(text) => of_text(text),
        Value::Number(number) => number.as_i64().map(of_number).unwrap_or_default(),
        _ => vec![],
    };
    let of_place = |place: &Place<'_>| -> Vec<(String, Value)> {
        let copy = |change: ValueChange<'_>| {
            let what = format!("{} at {:?}", change.what, place.pointer);
            Some((what, replaced(value, &place.pointer, change.into_value())?))
        };
        changes(place).into_iter().flatten().filter_map(copy).collect()
    };
    places.iter().flat_map(of_place).filter(|(_, other)| other != value).collect()
}

/// Returns the changes of a text that begins with a date or is a time of day.
pub(super) fn of_text(text: &str) -> Vec<Vec<ValueChange<'static>>> {
    let near = NEAR_S.iter().filter_map(|(what, distance)| Some((what, at(text, CASE_START_S + distance)?)));
    near.map(|(what, other)| vec![ValueChange::to(format!("a time {what}"), other)]).collect()
}

/// Returns the changes of a number of seconds or milliseconds since 1970.
pub(super) fn of_number(number: i64) -> Vec<Vec<ValueChange<'static>>> {
    let Some(factor) = [1, 1_000].into_iter().find(|factor| SECONDS.contains(&(number / factor))) else {
        return vec![];
    };
    let near = |(what, distance): (&str, i64)| {
        vec![ValueChange::to(format!("a time {what}"), (CASE_START_S + distance) * factor)]
    };
    NEAR_S.into_iter().map(near).collect()
}

/// Returns the text with another time, in seconds since 1970. All characters after the time stay, such as the name of a
/// zone.
fn at(text: &str, seconds: i64) -> Option<String> {
    let since_1970 = Duration::from_secs(seconds.unsigned_abs());
    let whole = humantime::format_rfc3339_seconds(UNIX_EPOCH + since_1970).to_string();
    // `2026-01-05T09:01:00Z`
    let (new_date, new_time) = (&whole[..10], &whole[11..19]);
    if has_form(text, "00:00") && text.len() == "00:00".len() {
        return Some(new_time[..text.len()].to_owned());
    }
    if !has_form(text, "0000-00-00") {
        return None;
    }
    let rest = &text[new_date.len()..];
    let Some(separator) = rest.chars().next() else { return Some(new_date.to_owned()) };
    if !['T', 't', ' '].contains(&separator) {
        return None;
    }
    let time = ["00:00:00", "00:00"].iter().find(|form| has_form(&rest[1..], form))?;
    let after = &rest[1 + time.len()..];
    Some(format!("{new_date}{separator}{}{after}", &new_time[..time.len()]))
}

/// Returns true if the text begins with digits and separators as in the form, in which `0` stands for any digit.
fn has_form(text: &str, form: &str) -> bool {
    let fits = |(byte, of_form): (u8, u8)| if of_form == b'0' { byte.is_ascii_digit() } else { byte == of_form };
    text.len() >= form.len() && text.bytes().zip(form.bytes()).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(groups: Vec<Vec<ValueChange<'static>>>) -> Vec<Value> {
        groups.into_iter().map(|mut group| group.remove(0).into_value().unwrap()).collect()
    }

    #[test]
    fn times_keep_their_form() {
        let after = |text: &str| values(of_text(text)).first().cloned().unwrap_or_default();
        for (text, expected) in [
            ("2025-12-24T18:00:00Z", "2026-01-05T09:01:00Z"),
            ("2025-12-24 18:00", "2026-01-05 09:01"),
            ("2025-12-24T18:00:00.250+02:00", "2026-01-05T09:01:00.250+02:00"),
            ("2025-12-24", "2026-01-05"),
            ("18:00", "09:01"),
        ] {
            assert_eq!(after(text), expected, "{text}");
        }
        for text in ["2025-12-24x", "on 2025-12-24", "2025-12-24T18", "18:00:01", "12:3", "\u{e9}"] {
            assert_eq!(values(of_text(text)).len(), 0, "{text}");
        }
        assert_eq!(values(of_text("2025-12-24")), ["2026-01-05", "2026-01-05", "2026-01-06"]);
        let of_seconds = [1_767_603_660_i64, 1_767_603_540, 1_767_690_000];
        assert_eq!(values(of_number(1_700_000_000)), of_seconds);
        assert_eq!(values(of_number(4_102_444_800)), of_seconds);
        assert_eq!(values(of_number(1_700_000_000_000)), of_seconds.map(|seconds| seconds * 1_000));
        assert_eq!(values(of_number(40)).len(), 0);
        let near = near_times(&serde_json::json!({ "id": 7, "until": ["2025-12-24"] }));
        assert_eq!(near[0].0, "a time a minute after the start at \"/until/0\"");
        assert_eq!(near[0].1, serde_json::json!({ "id": 7, "until": ["2026-01-05"] }));
    }
}
