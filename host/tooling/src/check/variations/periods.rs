//! The next period in place of a month, a week or a year.

use serde_json::Value;

use crate::check::variations::change::InputVariation;
use crate::check::variations::places::{places_of, replaced};

/// Years that count as years of a calendar.
pub(in crate::check) const YEARS: std::ops::RangeInclusive<i64> = 1990..=2100;

/// Parts of the names of members whose month or year belongs to a thing: an effect does not recur with it.
const NO_PERIODS: [&str; 21] = [
    "expir", "valid", "birth", "born", "model", "built", "until", "install", "joined", "hired", "since", "purchas",
    "acquir", "publish", "release", "founded", "regist", "vintage", "edition", "manufact", "graduat",
];

/// Distances of the periods with which a period is compared, by the greatest number of such a period in a year. A key of
/// quarters differs between months, or weeks, at these distances.
const DISTANCES: [(u32, [usize; 3]); 3] = [(4, [1, 2, 3]), (12, [3, 5, 7]), (53, [5, 9, 13])];

/// Returns the name of a member that can have a period, in lower case.
pub(super) fn name_of(pointer: &str) -> Option<String> {
    let name = pointer.rsplit('/').next().unwrap_or_default().to_lowercase();
    NO_PERIODS.iter().all(|part| !name.contains(part)).then_some(name)
}

/// Returns copies of a value in which one month, week, quarter or year is the next one, or that of the next year.
pub(in crate::check) fn next_periods(
    value: &Value,
    schema: &Value,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<InputVariation> {
    let places = places_of(value, schema);
    let next = places.iter().filter_map(|place| {
        let name = name_of(&place.pointer)?;
        let is_year = name.contains("year");
        let next: Vec<Value> = match place.value {
            Value::String(text) if text.len() > 4 || is_year => {
                next_period(text).into_iter().chain(next_year(text)).map(Value::from).collect()
            }
            Value::Number(number) if is_year => {
                vec![number.as_i64().filter(|year| YEARS.contains(year))?.saturating_add(1).into()]
            }
            _ => return None,
        };
        let variation = move |next: Value| {
            let what = format!("{next} at {:?}", place.pointer);
            Some(InputVariation { what, value: replaced(value, &place.pointer, Some(next))?, is_large: false })
        };
        Some(next.into_iter().filter_map(variation))
    });
    next.flatten().filter(|one| is_allowed(&one.value)).collect()
}

/// A period in a text: its year, the characters before its number, its number, the greatest number of such a period, and
/// the number of digits.
struct Period<'t> {
    year: i64,
    prefix: &'t str,
    number: u32,
    last: u32,
    digits: usize,
}

impl<'t> Period<'t> {
    /// Reads `2026-03`, `2026-W10` or `2026-Q1`.
    fn of(text: &'t str) -> Option<Self> {
        let (year, rest) = year_of(text)?;
        ["-W", "-Q", "Q", "-"].into_iter().zip([53, 4, 4, 12]).find_map(|(prefix, last)| {
            let number = rest.strip_prefix(prefix)?;
            let digits = if last == 4 { 1 } else { 2 };
            let number = number.parse().ok().filter(|one| number.len() == digits && (1..=last).contains(one))?;
            Some(Self { year, prefix: &rest[..prefix.len()], number, last, digits })
        })
    }

    /// Returns the greatest number of such a period in a year.
    fn last_in(&self, year: i64) -> u32 {
        if self.last == 53 && !has_53_weeks(year) { 52 } else { self.last }
    }

    fn next(self) -> Self {
        if self.number >= self.last_in(self.year) {
            return Self { year: self.year + 1, number: 1, ..self };
        }
        Self { number: self.number + 1, ..self }
    }

    /// Returns the period of the next year. Most years have no week 53.
    fn next_year(self) -> Option<Self> {
        let year = self.year + 1;
        (self.number <= self.last_in(year)).then_some(Self { year, ..self })
    }

    fn text(&self) -> String {
        format!("{}{}{:0width$}", self.year, self.prefix, self.number, width = self.digits)
    }
}

/// Returns true if an ISO year has 53 weeks: it begins or ends on a Thursday.
fn has_53_weeks(year: i64) -> bool {
    // The weekday of 31 December, with 0 for Sunday.
    let last_day = |year: i64| (year + year / 4 - year / 100 + year / 400) % 7;
    last_day(year) == 4 || last_day(year - 1) == 3
}

/// Returns the year at the start of a text, and the rest.
fn year_of(text: &str) -> Option<(i64, &str)> {
    let (year, rest) = text.split_at_checked(4)?;
    Some((year.parse().ok().filter(|year| YEARS.contains(year))?, rest))
}

/// Returns the period after `2026-03`, `2026-W10`, `2026-Q1` or `2026`.
fn next_period(text: &str) -> Option<String> {
    match year_of(text) {
        Some((year, "")) => Some((year + 1).to_string()),
        _ => Some(Period::of(text)?.next().text()),
    }
}

/// Returns the same month, week or quarter of the next year.
pub(super) fn next_year(text: &str) -> Option<String> {
    Some(Period::of(text)?.next_year()?.text())
}

/// Returns later months, weeks or quarters with other numbers.
pub(super) fn later_periods(text: &str) -> Vec<String> {
    let Some(period) = Period::of(text) else { return vec![] };
    let last = period.last;
    let later = |distance: usize| (0..distance).fold(Period::of(text), |period, _| Some(period?.next()));
    let distances = DISTANCES.iter().find(|(of, _)| *of == last).map(|(_, distances)| distances);
    distances.into_iter().flatten().filter_map(|distance| Some(later(*distance)?.text())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn months_weeks_and_years_have_a_next_one() {
        for (period, next) in [
            ("2026-03", "2026-04"),
            ("2026-12", "2027-01"),
            ("2026-W09", "2026-W10"),
            ("2026-Q4", "2027-Q1"),
            ("2026", "2027"),
        ] {
            assert_eq!(next_period(period).as_deref(), Some(next));
        }
        // The years 2026 and 2032 have 53 weeks.
        for (period, next) in
            [("2025-W52", "2026-W01"), ("2026-W52", "2026-W53"), ("2026-W53", "2027-W01"), ("2032-W52", "2032-W53")]
        {
            assert_eq!(next_period(period).as_deref(), Some(next));
        }
        assert_eq!(next_year("2026-W53"), None);
        assert_eq!(later_periods("2026-11"), ["2027-02", "2027-04", "2027-06"]);
        assert_eq!(later_periods("2025-W50"), ["2026-W03", "2026-W07", "2026-W11"]);
        assert_eq!(later_periods("2026-Q3"), ["2026-Q4", "2027-Q1", "2027-Q2"]);
        assert_eq!(next_year("2026-Q2").as_deref(), Some("2027-Q2"));
        assert_eq!(next_year("2026-12").as_deref(), Some("2027-12"));
        assert_eq!(next_year("2026"), None);
        for other in ["2026-13", "2026-03-01", "1026", "20", "2026-x1", "\u{e9}\u{e9}\u{e9}", ""] {
            assert_eq!(next_period(other), None, "{other}");
        }
        let found = next_periods(&json!({ "year": 2026, "count": 2026 }), &Value::Null, |_| true);
        assert_eq!(
            found.into_iter().map(|one| one.value).collect::<Vec<_>>(),
            [json!({ "year": 2027, "count": 2026 })]
        );
    }
}
