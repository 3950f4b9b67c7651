//! Long arrays whose numbers are in no order. A sort of such an array takes each branch.

use serde_json::{Map, Value};

use crate::check::variations::numbering::{is_name, numbered_text};
use crate::check::variations::schema_sample::LocatedSchema;

/// Returns arrays of `count` elements, each with a description. An element is an integer, or an object with a member that is
/// an integer in all elements. First no two integers are equal, then all integers are between those of the case.
pub(super) fn mixed(elements: &[Value], count: usize, schema: &LocatedSchema<'_>) -> Vec<(&'static str, Vec<Value>)> {
    let integers: Option<Vec<i64>> = elements.iter().map(Value::as_i64).collect();
    let objects: Option<Vec<&Map<String, Value>>> = elements.iter().map(Value::as_object).collect();
    let with = |is_distinct: bool| -> Option<Vec<Value>> {
        match (&integers, &objects) {
            _ if elements.is_empty() => None,
            (Some(integers), _) => {
                let range = range(integers, count, schema, is_distinct)?;
                Some((0..count).map(|number| range.at(number).into()).collect())
            }
            (_, Some(objects)) => mixed_objects(objects, count, schema, is_distinct),
            _ => None,
        }
    };
    let all = [("different numbers in no order", true), ("numbers in no order", false)];
    all.into_iter().filter_map(|(what, is_distinct)| Some((what, with(is_distinct)?))).collect()
}

/// Mixes all members that are an integer in all objects. Texts that differ in all objects get a number.
fn mixed_objects(
    objects: &[&Map<String, Value>],
    count: usize,
    schema: &LocatedSchema<'_>,
    is_distinct: bool,
) -> Option<Vec<Value>> {
    let ranges: Vec<(&String, Range)> = objects[0]
        .keys()
        .filter_map(|name| {
            let integers: Option<Vec<i64>> = objects.iter().map(|object| object.get(name)?.as_i64()).collect();
            Some((name, range(&integers?, count, &schema.member(name), is_distinct)?))
        })
        .collect();
    if ranges.is_empty() {
        return None;
    }
    let is_text =
        |name: &str, value: &Value| value.is_string() && is_name(objects, name) && !schema.member(name).is_fixed();
    let element = |number: usize| -> Value {
        let mut element = objects[number % objects.len()].clone();
        for (name, value) in &mut element {
            if let Some((_, range)) = ranges.iter().find(|(of, _)| *of == name) {
                *value = range.at(number).into();
            } else if is_text(name, value) {
                *value = numbered_text(value.as_str().unwrap_or_default(), number).into();
            }
        }
        element.into()
    };
    Some((0..count).map(element).collect())
}

/// Integers from `least`, taken in steps modulo `length`. As the step and the length have no common divisor, no two of
/// `length` integers are equal.
struct Range {
    least: i64,
    length: u64,
    step: u64,
}

impl Range {
    fn at(&self, number: usize) -> i64 {
        let steps = u128::from(number as u64 % self.length) * u128::from(self.step);
        self.least.saturating_add_unsigned((steps % u128::from(self.length)) as u64)
    }
}

/// Returns the integers for an array. Different ones are between the bounds of the schema, and near those of the case if it
/// has none.
fn range(own: &[i64], count: usize, schema: &LocatedSchema<'_>, is_distinct: bool) -> Option<Range> {
    let (mut least, mut greatest) = (*own.iter().min()?, *own.iter().max()?);
    if is_distinct {
        let [minimum, maximum] = schema.bounds().map(|bound| bound.and_then(Value::as_i64));
        let needed = i64::try_from(count).ok()?.checked_sub(1)?;
        greatest = least.checked_add(needed)?;
        if let Some(maximum) = maximum.filter(|maximum| *maximum < greatest) {
            greatest = maximum;
            least = minimum.unwrap_or(0).max(greatest.checked_sub(needed)?);
        }
        if greatest.checked_sub(least)? < needed {
            return None;
        }
    }
    let length = greatest.abs_diff(least).saturating_add(1);
    // About the golden section, so that neighbours are far apart.
    let first = (length as f64 * 0.618) as u64;
    let step = (first.max(1)..).find(|step| divisor(*step, length) == 1)?;
    Some(Range { least, length, step })
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
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    fn of(elements: &Value, count: usize, schema: &Value) -> Vec<Vec<Value>> {
        let schema = LocatedSchema::of(schema);
        mixed(elements.as_array().unwrap(), count, &schema).into_iter().map(|(_, elements)| elements).collect()
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
