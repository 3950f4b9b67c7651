//! The next period in place of a month, a week or a year.

use serde_json::Value;

use crate::check::variations::change::InputVariation;
use crate::check::variations::places::{places_of, replaced};

/// Years that count as years of a calendar.
pub(in crate::check) const YEARS: std::ops::RangeInclusive<i64> = 1990..=2100;

/// Parts of the names of members whose month or year belongs to a thing: an effect does not recur with it.
const NO_PERIODS: [&str; 13] = [
    "expir", "valid", "birth", "born", "model", "built", "until", "install", "joined", "hired", "since", "purchas",
    "acquir",
];

/// Maximum number of periods between two of the same name.
const BETWEEN_MAX: usize = 5;

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

    fn with(&self, year: i64, number: u32) -> String {
        format!("{year}{}{number:0width$}", self.prefix, width = self.digits)
    }
}

/// Returns the year at the start of a text, and the rest.
fn year_of(text: &str) -> Option<(i64, &str)> {
    let (year, rest) = text.split_at_checked(4)?;
    Some((year.parse().ok().filter(|year| YEARS.contains(year))?, rest))
}

/// Returns the period after `2026-03`, `2026-W10`, `2026-Q1` or `2026`.
fn next_period(text: &str) -> Option<String> {
    if let Some((year, "")) = year_of(text) {
        return Some((year + 1).to_string());
    }
    let period = Period::of(text)?;
    let is_last = period.number == period.last;
    Some(if is_last { period.with(period.year + 1, 1) } else { period.with(period.year, period.number + 1) })
}

/// Returns the same month, week or quarter of the next year.
fn next_year(text: &str) -> Option<String> {
    let period = Period::of(text)?;
    Some(period.with(period.year + 1, period.number))
}

/// Returns a month, a week or a quarter, then that of the next year, then some of those between them.
pub(super) fn periods_of_years(text: &str) -> Option<Vec<String>> {
    let period = Period::of(text)?;
    let between = std::iter::successors(next_period(text), |text| next_period(text));
    let count = (period.last as usize - 1).min(BETWEEN_MAX);
    Some(
        [text.to_owned(), period.with(period.year + 1, period.number)].into_iter().chain(between.take(count)).collect(),
    )
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
