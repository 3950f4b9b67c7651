//! The next period in place of a month, a week or a year.

use serde_json::Value;

use crate::check::variations::change::InputVariation;
use crate::check::variations::places::{places_of, replaced};

/// Years that count as years of a calendar.
const YEARS: std::ops::RangeInclusive<i64> = 1990..=2100;

/// Parts of the names of members whose month or year belongs to a thing: an effect does not recur with it.
const NO_PERIODS: [&str; 7] = ["expir", "valid", "birth", "born", "model", "built", "until"];

/// Returns copies of a value in which one month, week or year is the next one.
pub(in crate::check) fn next_periods(
    value: &Value,
    schema: &Value,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<InputVariation> {
    let places = places_of(value, schema);
    let next = places.iter().filter_map(|place| {
        let name = place.pointer.rsplit('/').next().unwrap_or_default().to_lowercase();
        if NO_PERIODS.iter().any(|part| name.contains(part)) {
            return None;
        }
        let is_year = name.contains("year");
        let next: Value = match place.value {
            Value::String(text) if text.len() > 4 || is_year => next_period(text)?.into(),
            Value::Number(number) if is_year => {
                number.as_i64().filter(|year| YEARS.contains(year))?.saturating_add(1).into()
            }
            _ => return None,
        };
        let what = format!("{next} at {:?}", place.pointer);
        Some(InputVariation { what, value: replaced(value, &place.pointer, Some(next))?, is_large: false })
    });
    next.filter(|one| is_allowed(&one.value)).collect()
}

/// Returns the period after `2026-03`, `2026-W10` or `2026`.
fn next_period(text: &str) -> Option<String> {
    let (year, rest) = text.split_at_checked(4)?;
    let year: i64 = year.parse().ok().filter(|year| YEARS.contains(year))?;
    let part = |prefix: &str, last: u32| -> Option<String> {
        let digits = rest.strip_prefix(prefix).filter(|digits| digits.len() == 2)?;
        let number: u32 = digits.parse().ok().filter(|number| (1..=last).contains(number))?;
        let (year, number) = if number == last { (year + 1, 1) } else { (year, number + 1) };
        Some(format!("{year}{prefix}{number:02}"))
    };
    if rest.is_empty() { Some((year + 1).to_string()) } else { part("-W", 53).or_else(|| part("-", 12)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn months_weeks_and_years_have_a_next_one() {
        for (period, next) in
            [("2026-03", "2026-04"), ("2026-12", "2027-01"), ("2026-W09", "2026-W10"), ("2026", "2027")]
        {
            assert_eq!(next_period(period).as_deref(), Some(next));
        }
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
