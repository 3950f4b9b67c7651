//! Long arrays whose numbers are in no order. A sort of such an array takes each branch.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::check::variations::change::ValueChange;
use crate::check::variations::numbering::{is_name, numbered_text};
use crate::check::variations::schema_sample::LocatedSchema;

/// Returns changes to an array of `count` elements. An element is a number, or an object with a member that is a number in
/// all elements. First no two numbers are equal, then all numbers are between those of the case.
pub(super) fn mixed<'v>(elements: &'v [Value], count: usize, schema: LocatedSchema<'v>) -> Vec<ValueChange<'v>> {
    let all = [("different numbers in no order", true), ("numbers in no order", false)];
    let changes = all.into_iter().filter_map(|(what, is_distinct)| {
        let mixture = Mixture::of(elements, count, schema, is_distinct)?;
        let is_large = mixture.is_unbounded();
        let make = move || (0..count).map(|number| mixture.element(number)).collect::<Vec<Value>>();
        Some(ValueChange::later(format!("{count} elements with {what}"), make).sized(is_large))
    });
    changes.collect()
}

/// The elements of an array whose numbers are in no order.
enum Mixture<'v> {
    Numbers(Range),
    Objects {
        objects: Vec<&'v Map<String, Value>>,
        ranges: BTreeMap<&'v str, Range>,
        /// Texts that differ in all objects. They get a number.
        names: BTreeSet<&'v str>,
    },
}

impl<'v> Mixture<'v> {
    fn of(elements: &'v [Value], count: usize, schema: LocatedSchema<'v>, is_distinct: bool) -> Option<Self> {
        if let Some(range) = Range::of(elements.iter().map(Some), count, schema, is_distinct) {
            return Some(Self::Numbers(range));
        }
        let objects: Vec<&Map<String, Value>> = elements.iter().map(Value::as_object).collect::<Option<_>>()?;
        let first = *objects.first()?;
        let range_of = |name: &'v String| {
            let values = objects.iter().map(|object| object.get(name));
            Some((name.as_str(), Range::of(values, count, schema.member(name), is_distinct)?))
        };
        let ranges: BTreeMap<&str, Range> = first.keys().filter_map(range_of).collect();
        let is_name = |(name, value): &(&'v String, &Value)| {
            value.is_string() && is_name(&objects, name) && !schema.member(name).is_fixed()
        };
        let names = first.iter().filter(is_name).map(|(name, _)| name.as_str()).collect();
        (!ranges.is_empty()).then_some(Self::Objects { objects, ranges, names })
    }

    /// Returns true if some numbers are greater than those of the case, and the schema states no greatest number.
    fn is_unbounded(&self) -> bool {
        match self {
            Self::Numbers(range) => range.is_unbounded,
            Self::Objects { ranges, .. } => ranges.values().any(|range| range.is_unbounded),
        }
    }

    fn element(&self, number: usize) -> Value {
        let (objects, ranges, names) = match self {
            Self::Numbers(range) => return range.at(number),
            Self::Objects { objects, ranges, names } => (objects, ranges, names),
        };
        let mut element = objects[number % objects.len()].clone();
        for (name, value) in &mut element {
            if let Some(range) = ranges.get(name.as_str()) {
                *value = range.at(number);
            } else if names.contains(name.as_str()) {
                *value = numbered_text(value.as_str().unwrap_or_default(), number).into();
            }
        }
        element.into()
    }
}

/// Numbers from `least`, taken in steps modulo `length`. As the step and the length have no common divisor, no two of
/// `length` numbers are equal.
struct Range {
    least: i64,
    length: u64,
    step: u64,
    /// True for integers. Otherwise each number is an integer and a half.
    is_integer: bool,
    /// True if some numbers are greater than those of the case, and the schema states no greatest number.
    is_unbounded: bool,
}

impl Range {
    /// Returns the numbers for an array. Different ones are between the bounds of the schema, and near those of the case if it
    /// has none.
    fn of<'v>(
        own: impl Iterator<Item = Option<&'v Value>>,
        count: usize,
        schema: LocatedSchema<'_>,
        is_distinct: bool,
    ) -> Option<Self> {
        let own: Vec<&Value> = own.collect::<Option<_>>()?;
        let is_integer = own.iter().all(|value| value.is_i64());
        // A double does not hold each integer.
        let floor = |value: &Value| value.as_i64().or_else(|| Some(value.as_f64()?.floor() as i64));
        let own: Vec<i64> = own.into_iter().map(floor).collect::<Option<_>>()?;
        let (mut least, own_greatest) = (*own.iter().min()?, *own.iter().max()?);
        let (mut greatest, mut is_unbounded) = (own_greatest, false);
        if is_distinct {
            let [minimum, maximum] = schema.integer_bounds();
            let maximum = maximum.map(|bound| bound.saturating_sub(i64::from(!is_integer)));
            let needed = i64::try_from(count).ok()?.checked_sub(1)?;
            greatest = least.checked_add(needed)?;
            is_unbounded = maximum.is_none() && greatest > own_greatest;
            if let Some(maximum) = maximum.filter(|maximum| *maximum < greatest) {
                greatest = maximum;
                least = minimum.unwrap_or(0).max(greatest.checked_sub(needed)?);
            }
            if greatest.checked_sub(least)? < needed {
                return None;
            }
        }
        let length = greatest.abs_diff(least).saturating_add(1);
        if length < 2 {
            return None;
        }
        // About the golden section, so that neighbours are far apart.
        let first = (length as f64 * 0.618) as u64;
        let step = (first.max(1)..).find(|step| divisor(*step, length) == 1)?;
        Some(Self { least, length, step, is_integer, is_unbounded })
    }

    fn at(&self, number: usize) -> Value {
        let steps = u128::from(number as u64 % self.length) * u128::from(self.step);
        let integer = self.least.saturating_add_unsigned((steps % u128::from(self.length)) as u64);
        if self.is_integer { integer.into() } else { (integer as f64 + 0.5).into() }
    }
}

/// Returns the greatest common divisor.
fn divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(elements: &Value, count: usize, schema: &Value) -> Vec<Vec<Value>> {
        let changes = mixed(elements.as_array().unwrap(), count, LocatedSchema::of(schema)).into_iter();
        changes.map(|change| change.into_value().unwrap().as_array().unwrap().clone()).collect()
    }

    fn integers(elements: &[Value]) -> Vec<i64> {
        elements.iter().map(|element| element.as_i64().unwrap()).collect()
    }

    #[test]
    fn numbers_are_in_no_order_and_within_their_schema() {
        let found = of(&json!([900, 12, 40]), 8_000, &json!({ "minimum": 1, "maximum": 8000 }));
        let (different, usual) = (integers(&found[0]), integers(&found[1]));
        assert_eq!(different.iter().collect::<BTreeSet<_>>().len(), 8_000);
        assert_eq!((different.iter().min(), different.iter().max()), (Some(&1), Some(&8_000)));
        assert_eq!((usual.len(), usual.iter().min(), usual.iter().max()), (8_000, Some(&12), Some(&900)));
        let rises = different.windows(2).filter(|two| two[0] < two[1]).count();
        assert!((1_000..7_000).contains(&rises), "{rises}");
        // The schema has fewer integers than elements.
        assert_eq!(of(&json!([1, 3]), 100, &json!({ "maximum": 50 })).len(), 1);
        assert!(of(&json!(["a"]), 10, &json!({})).is_empty() && of(&json!([]), 10, &json!({})).is_empty());
        assert!(of(&json!([i64::MAX, i64::MIN]), 10, &json!({}))[0].iter().all(Value::is_i64));
        let large = of(&json!([9_007_199_254_740_993_i64, 9_007_199_254_740_995_i64]), 9, &json!({}));
        assert!(integers(&large[1]).iter().all(|one| (9_007_199_254_740_993..=9_007_199_254_740_995).contains(one)));
        // All numbers of the case are equal.
        assert_eq!(of(&json!([7]), 10, &json!({})).len(), 1);
        let weights = of(&json!([0.25, 3]), 4, &json!({ "exclusiveMaximum": 5.0 }));
        assert_eq!(weights[0], [0.5, 3.5, 2.5, 1.5].map(Value::from));
    }

    #[test]
    fn numbers_above_those_of_the_case_are_large_without_a_bound() {
        let large = |elements: &Value, schema: &Value| -> Vec<bool> {
            let changes = mixed(elements.as_array().unwrap(), 3, LocatedSchema::of(schema)).into_iter();
            changes.map(|change| change.is_large).collect()
        };
        assert_eq!(large(&json!([1, 2]), &json!({})), [true, false]);
        assert_eq!(large(&json!([1, 9]), &json!({})), [false, false]);
        assert_eq!(large(&json!([1, 2]), &json!({ "maximum": 3.0 })), [false, false]);
        assert_eq!(large(&json!([{ "copies": 1 }, { "copies": 2 }]), &json!({})), [true, false]);
    }

    #[test]
    fn objects_have_other_numbers_and_names() {
        let rows = json!([{ "id": "a", "kilos": 3, "kind": "k" }, { "id": "b", "kilos": 9, "kind": "k" }]);
        let found = of(&rows, 5, &json!({}));
        let of_first: Vec<&Value> = found[0].iter().map(|row| &row["kilos"]).collect();
        assert_eq!(of_first, [3, 6, 4, 7, 5]);
        let ids: Vec<&Value> = found[0].iter().map(|row| &row["id"]).collect();
        assert_eq!(ids, ["a0", "b1", "a2", "b3", "a4"]);
        assert!(found[1].iter().all(|row| (3..=9).contains(&row["kilos"].as_i64().unwrap()) && row["kind"] == "k"));
    }
}
