//! Changes of one member in all elements of an array, or in all values of a map, at once.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::check::variations::change::ValueChange;
use crate::check::variations::numbering::numbered;
use crate::check::variations::schema_sample::LocatedSchema;

/// Maximum number of members that are changed.
const MEMBERS_MAX: usize = 6;
/// Number of elements of an array in which all numbers are changed.
const ELEMENTS: usize = 4;
/// Fractions whose sum depends on the order of the additions, because a double does not hold them exactly.
const FRACTIONS: [f64; 4] = [0.1, 0.2, 0.3, 0.7];
/// Primes of several magnitudes. The first row that is allowed is used. The product of three primes of the first two
/// rows is above 2^53, and so is their least common multiple.
const PRIMES: [[i64; ELEMENTS]; 5] = [
    [999_983, 999_979, 999_961, 999_959],
    [99_991, 99_989, 99_971, 99_961],
    [9_973, 9_967, 9_949, 9_941],
    [997, 991, 983, 977],
    [97, 89, 83, 79],
];
/// Primes for the elements that have no large prime.
const SMALL_PRIMES: [i64; ELEMENTS] = [5, 7, 11, 13];
/// Maximum number of integers of an array that has all integers of a range.
const RANGE_MAX: i64 = 400;
/// Greatest number of a bit in 64 bits.
const LAST_BIT: i64 = 63;
/// Numbers of elements that have a large prime.
const LARGE_PRIMES: [usize; 3] = [2, 3, ELEMENTS];

/// Returns the changes of an array or a map of which all elements are objects or all are numbers. Of each group, the first
/// change that is allowed is made.
pub(super) fn of_columns(value: &Value, schema: &LocatedSchema<'_>) -> Vec<Vec<ValueChange<'static>>> {
    let table = match value {
        Value::Array(elements) => Table { keys: None, rows: elements.clone(), schema: schema.items() },
        Value::Object(members) if schema.is_map() => Table {
            keys: Some(members.keys().cloned().collect()),
            rows: members.values().cloned().collect(),
            schema: schema.values(),
        },
        _ => return vec![],
    };
    if table.rows.is_empty() {
        return vec![];
    }
    if table.rows.iter().all(Value::is_number) {
        let range = of_range(value, &table.schema).map(|change| vec![change]);
        return range.into_iter().chain(table.of_numbers("", &table.schema, |_, number| number)).collect();
    }
    let Some(rows) = table.rows.iter().map(Value::as_object).collect::<Option<Vec<_>>>() else { return vec![] };
    let names: BTreeSet<&String> = rows.iter().flat_map(|row| row.keys()).collect();
    names.into_iter().take(MEMBERS_MAX).flat_map(|name| table.of_member(name, &rows)).collect()
}

/// Returns an array of all integers that the schema of an element allows, if there are few. A schema without a maximum
/// stands for the numbers of bits.
fn of_range(value: &Value, schema: &LocatedSchema<'_>) -> Option<ValueChange<'static>> {
    let [least, greatest] = schema.integer_bounds();
    let (least, greatest) = (least.unwrap_or_default(), greatest.unwrap_or(LAST_BIT));
    let is_short = greatest.checked_sub(least).is_some_and(|length| length < RANGE_MAX);
    (value.is_array() && is_short).then(|| {
        ValueChange::to(format!("all integers from {least} to {greatest}"), (least..=greatest).collect::<Vec<_>>())
    })
}

/// The elements of an array, or the values of a map with their keys.
struct Table<'s> {
    keys: Option<Vec<String>>,
    rows: Vec<Value>,
    /// Schema of a row.
    schema: LocatedSchema<'s>,
}

impl Table<'_> {
    /// Returns the changes of one member of the rows, which are objects.
    fn of_member(&self, name: &str, rows: &[&Map<String, Value>]) -> Vec<Vec<ValueChange<'static>>> {
        let schema = self.schema.property(name);
        let change = |what: String, rows: Vec<Value>| vec![ValueChange::to(what, self.with_rows(rows))];
        let mut groups = Vec::new();
        // A member that some rows lack is optional.
        let without = |row: &&Map<String, Value>| {
            let mut row = (*row).clone();
            row.remove(name);
            Value::Object(row)
        };
        groups.push(change(format!("no {name:?} in any element"), rows.iter().map(without).collect()));
        let set = |row: Value, other: Value| match row {
            Value::Object(mut row) => {
                row.insert(name.to_owned(), other);
                Value::Object(row)
            }
            row => row,
        };
        match rows.iter().find_map(|row| row.get(name)) {
            Some(Value::String(text)) if !schema.is_fixed() => {
                let unknown = |(number, row): (usize, Value)| set(row, format!("{text}x{number}").into());
                let rows = self.many_rows().into_iter().enumerate().map(unknown).collect();
                groups.push(change(format!("another text as {name:?} in each element"), rows));
            }
            Some(Value::Number(_)) => groups.extend(self.of_numbers(&format!(" as {name:?}"), &schema, set)),
            _ => {}
        }
        groups
    }

    /// Returns rows with other numbers. `set` puts a number into a row.
    fn of_numbers(
        &self,
        place: &str,
        schema: &LocatedSchema<'_>,
        set: impl Fn(Value, Value) -> Value,
    ) -> Vec<Vec<ValueChange<'static>>> {
        let with = |what: String, number: &dyn Fn(usize) -> Value| {
            let rows = self.many_rows().into_iter().enumerate().map(|(row, value)| set(value, number(row)));
            ValueChange::to(what, self.with_rows(rows.collect()))
        };
        let mut groups = Vec::new();
        if !schema.is_of_type("integer") {
            let fractions = |above: f64| {
                with(format!("inexact fractions{place}"), &|row| (above + FRACTIONS[row % ELEMENTS]).into())
            };
            groups.push(vec![fractions(0.0), fractions(1.0), fractions(10.0)]);
        }
        for large in LARGE_PRIMES {
            let of = |primes: &[i64; ELEMENTS]| {
                let number = |row: usize| if row % ELEMENTS < large { primes } else { &SMALL_PRIMES }[row % ELEMENTS];
                with(format!("primes{place}, {large} of {ELEMENTS} large"), &|row| number(row).into())
            };
            groups.push(PRIMES.iter().map(of).collect());
        }
        groups
    }

    /// Returns the rows and, if there are few, copies of them with other texts.
    fn many_rows(&self) -> Vec<Value> {
        if self.keys.is_some() || self.rows.len() >= ELEMENTS {
            return self.rows.clone();
        }
        let copies = self.rows.iter().cycle().take(ELEMENTS).enumerate().map(|(number, row)| {
            if number < self.rows.len() { row.clone() } else { numbered(row, number, &self.schema, 1) }
        });
        copies.collect()
    }

    fn with_rows(&self, rows: Vec<Value>) -> Value {
        match &self.keys {
            None => Value::Array(rows),
            Some(keys) => Value::Object(keys.iter().cloned().zip(rows).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(value: &Value, schema: &Value) -> Vec<(String, Value)> {
        let groups = of_columns(value, &LocatedSchema::of(schema));
        let first = |mut group: Vec<ValueChange<'static>>| group.remove(0);
        groups.into_iter().map(first).map(|change| (change.what.clone(), change.into_value().unwrap())).collect()
    }

    #[test]
    fn member_changes_in_all_elements() {
        let value = json!([{ "name": "a", "ms": 3 }, { "name": "b" }]);
        let found = found(&value, &json!({}));
        let at = |what: &str| &found.iter().find(|(name, _)| name == what).unwrap_or_else(|| panic!("{what}")).1;
        assert_eq!(*at("no \"ms\" in any element"), json!([{ "name": "a" }, { "name": "b" }]));
        let texts = at("another text as \"name\" in each element");
        assert_eq!(texts[1], json!({ "name": "ax1" }));
        let fractions = at("inexact fractions as \"ms\"");
        assert_eq!(
            (&fractions[1], &fractions[2]),
            (&json!({ "name": "b", "ms": 0.2 }), &json!({ "name": "a-2", "ms": 0.3 }))
        );
        let primes = at("primes as \"ms\", 3 of 4 large");
        assert_eq!((&primes[2]["ms"], &primes[3]["ms"]), (&json!(999_961), &json!(13)));
    }

    #[test]
    fn array_has_all_integers_of_a_range() {
        let schema = json!({ "items": { "type": "integer", "minimum": 2, "maximum": 5 } });
        assert_eq!(found(&json!([3]), &schema)[0], ("all integers from 2 to 5".to_owned(), json!([2, 3, 4, 5])));
    }

    #[test]
    fn values_of_a_map_change_and_its_keys_stay() {
        let schema = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
        let found = found(&json!({ "a": 1, "b": 2 }), &schema);
        assert_eq!(found[0], ("primes, 2 of 4 large".to_owned(), json!({ "a": 999_983, "b": 999_979 })));
        assert!(found.iter().all(|(what, _)| !what.contains("fractions")), "{found:?}");
        assert!(of_columns(&json!({ "a": 1 }), &LocatedSchema::of(&json!({ "properties": { "a": {} } }))).is_empty());
    }
}
