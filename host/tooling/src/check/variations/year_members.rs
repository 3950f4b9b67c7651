//! Years that are members of their own, beside a member with a month, a quarter, a week or a season.

use serde_json::Value;

use crate::check::variations::periods::{YEARS, name_of};
use crate::check::variations::places::Place;

/// Parts of the names of members with a period, each with the greatest number of such a period.
const NUMBERED: [(&str, u64); 7] =
    [("quarter", 4), ("month", 12), ("week", 52), ("term", 3), ("semester", 2), ("half", 2), ("season", 4)];
/// Names of periods in the order of a year. Names of one list replace each other.
const NAMED: [&[&str]; 6] = [
    &[
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ],
    &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    &["spring", "summer", "autumn", "winter"],
    &["spring", "summer", "fall", "winter"],
    &["q1", "q2", "q3", "q4"],
    &["h1", "h2"],
];
/// Distances of the other periods. A key of quarters or seasons differs for months, or weeks, at these distances.
const DISTANCES: [usize; 3] = [3, 5, 7];
const WEEK_DISTANCES: [usize; 3] = [14, 22, 30];

/// A year beside a period.
pub(super) struct YearMember {
    /// The year of the value.
    pub(super) year: Value,
    /// The pointer of the year, and the next year.
    pub(super) next: (String, Value),
    /// The pointer of the period, and other periods of the same year.
    pub(super) others: Vec<(String, Value)>,
}

/// Returns the years of a value, each with the period beside it.
pub(super) fn year_members(places: &[Place<'_>]) -> Vec<YearMember> {
    let years = places.iter().filter_map(|place| Some((place, next_year(place)?)));
    let found = years.filter_map(|(place, next)| {
        let (object, _) = place.pointer.rsplit_once('/')?;
        let is_beside = |other: &&Place<'_>| {
            other.pointer != place.pointer && other.pointer.rsplit_once('/').is_some_and(|(of, _)| of == object)
        };
        let others = places.iter().filter(is_beside).find_map(|other| {
            let values = other_periods_of(&name_of(&other.pointer)?, other.value);
            (!values.is_empty()).then(|| values.into_iter().map(|value| (other.pointer.clone(), value)).collect())
        })?;
        Some(YearMember { year: place.value.clone(), next: (place.pointer.clone(), next), others })
    });
    found.collect()
}

/// Returns the next year, as a number or a text, if a place contains a year.
fn next_year(place: &Place<'_>) -> Option<Value> {
    name_of(&place.pointer).filter(|name| name.contains("year"))?;
    let year_of = |year: i64| YEARS.contains(&year).then_some(year + 1);
    match place.value {
        Value::Number(number) => Some(year_of(number.as_i64()?)?.into()),
        Value::String(text) if text.len() == 4 => Some(year_of(text.parse().ok()?)?.to_string().into()),
        _ => None,
    }
}

/// Returns other periods of the same kind: other numbers, or other names.
fn other_periods_of(name: &str, value: &Value) -> Vec<Value> {
    let numbered = NUMBERED.iter().find(|(part, _)| name.contains(part));
    let later = |index: usize, count: usize| {
        let distances = if count > 12 { WEEK_DISTANCES } else { DISTANCES };
        let mut indexes: Vec<usize> = distances.map(|distance| (index + distance) % count).to_vec();
        indexes.retain(|other| *other != index);
        indexes
    };
    match (value, numbered) {
        (Value::Number(number), Some((_, count))) => {
            let Some(number) = number.as_u64().filter(|number| (1..=*count).contains(number)) else { return vec![] };
            later(number as usize - 1, *count as usize).into_iter().map(|index| (index + 1).into()).collect()
        }
        (Value::String(text), Some((_, count))) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            let Some(number) = text.parse().ok().filter(|number| (1..=*count).contains(number)) else { return vec![] };
            let indexes = later(number as usize - 1, *count as usize).into_iter();
            indexes.map(|index| format!("{:0width$}", index + 1, width = text.len()).into()).collect()
        }
        (Value::String(text), _) => {
            let lower = text.to_lowercase();
            let found = NAMED.iter().find_map(|names| {
                let index = names.iter().position(|name| *name == lower)?;
                Some((names, index))
            });
            let Some((names, index)) = found else { return vec![] };
            later(index, names.len()).into_iter().map(|index| in_case_of(text, names[index]).into()).collect()
        }
        _ => vec![],
    }
}

/// Returns a name in lower case with the capital letters of another name.
fn in_case_of(text: &str, name: &str) -> String {
    let capitals = text.chars().filter(|letter| letter.is_uppercase()).count();
    match (capitals, name.split_at_checked(1)) {
        (1, Some((first, rest))) => first.to_uppercase() + rest,
        (2.., _) => name.to_uppercase(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::check::variations::places::places_of;

    use super::*;

    #[test]
    fn year_has_period_beside_it() {
        let others = |value: Value| -> Vec<Value> {
            let found = year_members(&places_of(&value, &Value::Null));
            found.into_iter().flat_map(|one| one.others).map(|(_, value)| value).collect()
        };
        assert_eq!(others(json!({ "year": 2026, "month": 11 })), [2, 4, 6]);
        assert_eq!(others(json!({ "year": "2026", "month": "09" })), ["12", "02", "04"]);
        assert_eq!(others(json!({ "year": 2026, "month": "July" })), ["October", "December", "February"]);
        assert_eq!(others(json!({ "fiscal_year": 2026, "quarter": "Q1" })), ["Q4", "Q2", "Q4"]);
        assert_eq!(others(json!({ "year": 2026, "half": 1 })), [2, 2, 2]);
        assert_eq!(others(json!({ "of": { "year": 2026, "week": 50 } })), [12, 20, 28]);
        for value in [
            json!({ "year": 2026 }),
            json!({ "year": 26, "month": 3 }),
            json!({ "year": 2026, "month": 13 }),
            json!({ "year": 2026, "name": "thursday" }),
            json!({ "year": 2026, "of": { "month": 3 } }),
            json!({ "birth_year": 2026, "month": 3 }),
        ] {
            assert!(others(value.clone()).is_empty(), "{value}");
        }
    }
}
