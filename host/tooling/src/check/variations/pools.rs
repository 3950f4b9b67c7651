//! The values of all samples, by place.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

/// Greatest number of values of one place.
const VALUES_MAX: usize = 64;

/// The values of samples by their place. All elements of an array have the same place, `array/*`.
#[derive(Default)]
pub(super) struct ValuePools {
    values: BTreeMap<String, Vec<Value>>,
    ranges: BTreeMap<String, NumberRange>,
    /// The members of all objects of a place, each with its first value.
    members: BTreeMap<String, BTreeMap<String, Value>>,
}

/// The numbers of a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NumberRange {
    pub(super) least: f64,
    pub(super) greatest: f64,
    /// Greatest number of fraction digits. 0 if all numbers are integers.
    pub(super) digits: usize,
}

impl NumberRange {
    pub(super) fn of(number: &Number) -> Self {
        let value = number.as_f64().unwrap_or_default();
        Self { least: value, greatest: value, digits: fraction_digits(number) }
    }

    fn with(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
            digits: self.digits.max(other.digits),
        }
    }
}

/// Returns the number of digits after the point. A float has at least one, and at most six count.
fn fraction_digits(number: &Number) -> usize {
    let text = number.to_string();
    text.split_once('.').map_or(usize::from(number.is_f64()), |(_, digits)| digits.len().clamp(1, 6))
}

impl ValuePools {
    /// Collects the values of the samples.
    pub(super) fn of(samples: &[Value]) -> Self {
        let mut pools = Self::default();
        for sample in samples {
            pools.collect(String::new(), sample);
        }
        pools
    }

    fn collect(&mut self, place: String, value: &Value) {
        match value {
            Value::Array(elements) => {
                for element in elements {
                    self.collect(format!("{place}/*"), element);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    let all = self.members.entry(place.clone()).or_default();
                    all.entry(name.clone()).or_insert_with(|| member.clone());
                    self.collect(format!("{place}/{name}"), member);
                }
            }
            Value::Number(number) => {
                let range = NumberRange::of(number);
                self.ranges.entry(place.clone()).and_modify(|all| *all = all.with(range)).or_insert(range);
            }
            _ => {}
        }
        let values = self.values.entry(place).or_default();
        if values.len() < VALUES_MAX && !values.contains(value) {
            values.push(value.clone());
        }
    }

    /// Returns the different values of a place.
    pub(super) fn values(&self, place: &str) -> &[Value] {
        self.values.get(place).map_or(&[], Vec::as_slice)
    }

    /// Returns the range of the numbers of a place, or `None` if it has no numbers.
    pub(super) fn range(&self, place: &str) -> Option<NumberRange> {
        self.ranges.get(place).copied()
    }

    /// Returns the members that objects of a place have and `members` does not have, each with its first value.
    pub(super) fn other_members<'p>(
        &'p self,
        place: &str,
        members: &Map<String, Value>,
    ) -> impl Iterator<Item = (&'p String, &'p Value)> {
        self.members.get(place).into_iter().flatten().filter(|(name, _)| !members.contains_key(*name))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn elements_of_all_arrays_have_one_place() {
        let pools =
            ValuePools::of(&[json!({ "a": [{ "n": 1 }, { "n": 2.25 }] }), json!({ "a": [{ "n": 9, "m": "x" }] })]);
        assert_eq!(pools.values("/a/*/n"), [json!(1), json!(2.25), json!(9)]);
        assert_eq!(pools.range("/a/*/n"), Some(NumberRange { least: 1.0, greatest: 9.0, digits: 2 }));
        let members = json!({ "n": 1 });
        let others = pools.other_members("/a/*", members.as_object().unwrap());
        assert_eq!(others.collect::<Vec<_>>(), [(&"m".to_owned(), &json!("x"))]);
        assert!(pools.values("/b").is_empty() && pools.range("/a/*/m").is_none());
    }
}
