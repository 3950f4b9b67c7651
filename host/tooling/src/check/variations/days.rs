//! Days that a key can take for the same period, because it has no year or the year of another calendar.

use serde_json::Value;

use crate::check::variations::periods::{NO_PERIODS, YEARS};
use crate::check::variations::places::{places_of, replaced};

/// Two days in the first ISO week of two years. The days themselves are in one year of the calendar.
const FIRST_WEEKS: [[&str; 2]; 2] = [["2024-01-03", "2024-12-31"], ["2029-01-03", "2029-12-31"]];

/// Values with other days.
pub(in crate::check) struct OtherDays {
    pub(in crate::check) what: String,
    /// Two values with days that are about a year apart.
    pub(in crate::check) apart: [Value; 2],
    /// The first value with a day of the next month.
    pub(in crate::check) next_month: Value,
}

/// Returns values in which one day is replaced.
pub(in crate::check) fn days_of_years(
    value: &Value,
    schema: &Value,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<OtherDays> {
    let mut found = Vec::new();
    for place in places_of(value, schema) {
        let name = place.pointer.rsplit('/').next().unwrap_or_default().to_lowercase();
        let Some((year, month, rest)) = place.value.as_str().and_then(parts) else { continue };
        if NO_PERIODS.iter().any(|part| name.contains(part)) {
            continue;
        }
        let (day, time) = rest.split_at(2);
        let own = |year: i64| format!("{year}-{month:02}-{day}{time}");
        let weeks = FIRST_WEEKS.map(|days| days.map(|day| format!("{day}{time}")));
        for [one, other] in weeks.into_iter().chain([[own(year), own(year + 1)]]) {
            let Some((year, month, rest)) = parts(&one) else { continue };
            let next = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
            let next = format!("{}-{:02}-{rest}", next.0, next.1);
            let with = |text: &str| replaced(value, &place.pointer, Some(text.into())).filter(&is_allowed);
            if let (Some(first), Some(second), Some(next_month)) = (with(&one), with(&other), with(&next)) {
                let what = format!("{one:?} and with {other:?} at {:?}", place.pointer);
                found.push(OtherDays { what, apart: [first, second], next_month });
            }
        }
    }
    found
}

/// Returns the year, the month and the rest of a text that begins with a day, such as `2026-05-04`. The day is one that
/// every month has.
fn parts(text: &str) -> Option<(i64, u32, &str)> {
    let day = text.get(..10).filter(|day| day.as_bytes()[4] == b'-' && day.as_bytes()[7] == b'-')?;
    let year = day[..4].parse().ok().filter(|year| YEARS.contains(year))?;
    let month = day[5..7].parse().ok().filter(|month| (1..=12).contains(month))?;
    day[8..].parse().ok().filter(|day: &u32| (1..=28).contains(day))?;
    Some((year, month, &text[8..]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn days_are_about_a_year_apart() {
        let value = json!({ "day": "2026-12-04T09:00", "birthday": "1990-01-01", "no": 7 });
        let found = days_of_years(&value, &Value::Null, |_| true);
        let days = |one: &OtherDays| [&one.apart[0], &one.apart[1], &one.next_month].map(|value| value["day"].clone());
        assert_eq!(days(&found[0]), [json!("2024-01-03T09:00"), json!("2024-12-31T09:00"), json!("2024-02-03T09:00")]);
        assert_eq!(days(&found[2]), [json!("2026-12-04T09:00"), json!("2027-12-04T09:00"), json!("2027-01-04T09:00")]);
        assert_eq!(found.len(), 3);
        for text in ["2026-02-30", "2026-1-1", "20260101", "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}"] {
            assert!(parts(text).is_none(), "{text}");
        }
    }
}
