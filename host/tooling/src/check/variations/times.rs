//! Times shortly before and after the start of a case, in the form of the time that they replace.

use serde_json::Value;

use crate::check::variations::change::ValueChange;
use crate::check::variations::places::{Place, places_of, replaced};

/// A time in UTC.
struct Moment {
    what: &'static str,
    date: &'static str,
    time: &'static str,
    /// Seconds since 1970.
    unix: i64,
}

/// Times near the start of the cases, which is 2026-01-05 09:00:00 UTC.
const MOMENTS: [Moment; 3] = [
    Moment { what: "a minute after the start", date: "2026-01-05", time: "09:01:00", unix: 1_767_603_660 },
    Moment { what: "a minute before the start", date: "2026-01-05", time: "08:59:00", unix: 1_767_603_540 },
    Moment { what: "a day after the start", date: "2026-01-06", time: "09:00:00", unix: 1_767_690_000 },
];
/// Seconds since 1970 of the years 2001 to 2096. Smaller and greater numbers are no times.
const SECONDS: std::ops::Range<i64> = 1_000_000_000..4_000_000_000;

/// Returns copies of a value in which one time is near the start of the cases, each with a description.
pub(in crate::check) fn near_times(value: &Value) -> Vec<(String, Value)> {
    let places = places_of(value, &Value::Null);
    let changes = |place: &Place<'_>| match place.value {
        Value::String(text) => of_text(text),
        Value::Number(number) => number.as_i64().map(of_number).unwrap_or_default(),
        _ => vec![],
    };
    let of_place = |place: &Place<'_>| -> Vec<(String, Value)> {
        let copy = |change: ValueChange| {
            let what = format!("{} at {:?}", change.what, place.pointer);
            Some((what, replaced(value, &place.pointer, change.value)?))
        };
        changes(place).into_iter().flatten().filter_map(copy).collect()
    };
    places.iter().flat_map(of_place).filter(|(_, other)| other != value).collect()
}

/// Returns the changes of a text that begins with a date or is a time of day.
pub(super) fn of_text(text: &str) -> Vec<Vec<ValueChange>> {
    let forms = MOMENTS.iter().filter_map(|moment| Some((moment, at(text, moment)?)));
    forms.map(|(moment, other)| vec![ValueChange::to(format!("a time {}", moment.what), other)]).collect()
}

/// Returns the changes of a number of seconds or milliseconds since 1970.
pub(super) fn of_number(number: i64) -> Vec<Vec<ValueChange>> {
    let factor = [1, 1_000].into_iter().find(|factor| SECONDS.contains(&(number / factor)));
    let changes = |factor: i64| {
        MOMENTS.iter().map(move |moment| {
            vec![ValueChange::to(format!("a time {}", moment.what), Value::from(moment.unix * factor))]
        })
    };
    factor.into_iter().flat_map(changes).collect()
}

/// Returns the text with another time. All characters after the time stay, such as the name of a zone.
fn at(text: &str, moment: &Moment) -> Option<String> {
    if has_form(text, "00:00") && text.len() == "00:00".len() {
        return Some(moment.time[.."00:00".len()].to_owned());
    }
    if !has_form(text, "0000-00-00") {
        return None;
    }
    let (date, rest) = text.split_at(moment.date.len());
    let Some(separator) = rest.chars().next().filter(|c| ['T', 't', ' '].contains(c)) else {
        return Some(format!("{}{rest}", moment.date)).filter(|_| date.len() == text.len());
    };
    let of_day = &rest[1..];
    let time = ["00:00:00", "00:00"].iter().find(|form| has_form(of_day, form))?;
    let after = &of_day[time.len()..];
    Some(format!("{}{separator}{}{after}", moment.date, &moment.time[..time.len()]))
}

/// Returns true if the text begins with digits and separators as in the form, in which `0` stands for any digit.
fn has_form(text: &str, form: &str) -> bool {
    let fits = |(byte, of_form): (u8, u8)| if of_form == b'0' { byte.is_ascii_digit() } else { byte == of_form };
    text.len() >= form.len() && text.bytes().zip(form.bytes()).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(groups: Vec<Vec<ValueChange>>) -> Vec<Value> {
        groups.into_iter().map(|mut group| group.remove(0).value.unwrap()).collect()
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
        assert_eq!(values(of_number(1_700_000_000_000)), of_seconds.map(|seconds| seconds * 1_000));
        assert_eq!(values(of_number(40)).len(), 0);
        let near = near_times(&serde_json::json!({ "id": 7, "until": ["2025-12-24"] }));
        assert_eq!(near[0].0, "a time a minute after the start at \"/until/0\"");
        assert_eq!(near[0].1, serde_json::json!({ "id": 7, "until": ["2026-01-05"] }));
    }
}
