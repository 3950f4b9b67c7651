//! Periods that a key can take for one period, because it has no year, or the year of another calendar.

use serde_json::Value;

use crate::check::variations::periods::{YEARS, later_periods, name_of, next_year};
use crate::check::variations::places::{places_of, replaced};
use crate::check::variations::year_members::year_members;

/// Two days in the first ISO week of two years, and a day of another week for each of them. The days themselves are in one
/// year of the calendar. The other days have the same weekdays. In 2024, the last days of December can be those of a leap
/// year.
const FIRST_WEEKS: [[&str; 4]; 2] = [
    ["2024-01-03", "2024-12-31", "2024-01-10", "2024-01-16"],
    ["2029-01-03", "2029-12-31", "2029-01-10", "2029-01-15"],
];
/// Distances in months of the days with which a day is compared. A key of quarters differs at these distances.
const MONTHS: [u32; 3] = [3, 5, 7];
/// Maximum number of places with a day or another period.
const PLACES_MAX: usize = 8;

/// Values with other days, months, weeks or quarters.
pub(in crate::check) struct OtherPeriods {
    pub(in crate::check) what: String,
    /// Two values with different periods, whose names are alike.
    pub(in crate::check) apart: [Value; 2],
    /// Values with further periods. A key that is equal for one of them has no period.
    pub(in crate::check) others: Vec<Value>,
    /// True if the periods of `apart` are a year apart. They are days in the first weeks of two years otherwise.
    pub(in crate::check) is_next_year: bool,
}

/// Returns values in which one day, month, week or quarter is replaced.
pub(in crate::check) fn other_periods(
    value: &Value,
    schema: &Value,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<OtherPeriods> {
    let mut found = Vec::new();
    let places = places_of(value, schema);
    let texts = places.iter().filter_map(|place| {
        name_of(&place.pointer)?;
        let text = place.value.as_str()?;
        (parts(text).is_some() || next_year(text).is_some()).then_some((&place.pointer, text))
    });
    for (pointer, text) in texts.take(PLACES_MAX) {
        let with = |text: &String| replaced(value, pointer, Some(text.as_str().into())).filter(&is_allowed);
        let mut add = |apart: [String; 2], others: Vec<String>, is_next_year: bool| {
            let what = format!("{:?} and with {:?} at {pointer:?}", apart[0], apart[1]);
            let [Some(first), Some(second)] = apart.each_ref().map(with) else { return };
            let others = others.iter().filter_map(with).collect();
            found.push(OtherPeriods { what, apart: [first, second], others, is_next_year });
        };
        if let Some(next) = next_year(text) {
            add([text.to_owned(), next], later_periods(text), true);
        }
        let Some((year, month, rest)) = parts(text) else { continue };
        for days in FIRST_WEEKS {
            let [first, second, others @ ..] = days.map(|day| format!("{day}{}", &rest[2..]));
            add([first, second], others.to_vec(), false);
        }
        let later = |months: u32| {
            let month = month - 1 + months;
            format!("{}-{:02}-{rest}", year + i64::from(month / 12), month % 12 + 1)
        };
        add([text.to_owned(), later(12)], MONTHS.map(later).to_vec(), true);
    }
    for one in year_members(&places).into_iter().take(PLACES_MAX) {
        let with =
            |(pointer, other): &(String, Value)| replaced(value, pointer, Some(other.clone())).filter(&is_allowed);
        let (Some(next), true) = (with(&one.next), is_allowed(value)) else { continue };
        let what = format!("{} and with {} at {:?}", one.year, one.next.1, one.next.0);
        let others = one.others.iter().filter_map(with).collect();
        found.push(OtherPeriods { what, apart: [value.clone(), next], others, is_next_year: true });
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
        let found = other_periods(&value, &Value::Null, |_| true);
        let days =
            |one: &OtherPeriods| [&one.apart[0], &one.apart[1], &one.others[0]].map(|value| value["day"].clone());
        assert_eq!(days(&found[0]), [json!("2024-01-03T09:00"), json!("2024-12-31T09:00"), json!("2024-01-10T09:00")]);
        assert_eq!(days(&found[2]), [json!("2026-12-04T09:00"), json!("2027-12-04T09:00"), json!("2027-03-04T09:00")]);
        assert_eq!(found[2].others[2]["day"], "2027-07-04T09:00");
        assert_eq!(found.len(), 3);
        let quarters = other_periods(&json!("2026-Q3"), &Value::Null, |_| true);
        assert_eq!(
            (&quarters[0].apart[1], &quarters[0].others),
            (&json!("2027-Q3"), &vec![json!("2026-Q4"), json!("2027-Q1"), json!("2027-Q2")])
        );
        let separate = other_periods(&json!({ "year": 2026, "quarter": 2 }), &Value::Null, |_| true);
        assert_eq!(separate[0].apart[1], json!({ "year": 2027, "quarter": 2 }));
        assert_eq!(separate[0].others[1], json!({ "year": 2026, "quarter": 3 }));
        for text in ["2026-02-30", "2026-1-1", "20260101", "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}"] {
            assert!(parts(text).is_none(), "{text}");
        }
    }
}
