//! Changes of an object.

use serde_json::{Map, Value};

use crate::check::variations::change::ValueChange;
use crate::check::variations::references::of_map;
use crate::check::variations::schema_sample::{LocatedSchema, sample};

/// A text in the form that many steps require for a date.
const DATE: &str = "2026-02-28";

/// Returns changes of an object. Each change adds one member that the schema names and the object lacks. If the schema
/// names no members, the object is a map. In this case the changes let the keys of the map refer to each other.
pub(super) fn of_object(members: &Map<String, Value>, schema: &LocatedSchema<'_>) -> Vec<Vec<ValueChange<'static>>> {
    if schema.is_map() {
        return of_map(members);
    }
    let with = |name: &str, value: Value| {
        let mut members = members.clone();
        members.insert(name.to_owned(), value);
        members
    };
    let added = |(name, of_member): (&String, LocatedSchema<'_>)| {
        let value = sample(&of_member)?;
        let date =
            value.is_string().then(|| vec![ValueChange::to(format!("a date for {name:?}"), with(name, DATE.into()))]);
        let value = vec![ValueChange::to(format!("a value for {name:?}"), with(name, value))];
        Some(std::iter::once(value).chain(date))
    };
    schema.properties().filter(|(name, _)| !members.contains_key(*name)).filter_map(added).flatten().collect()
}

/// Returns an object with more members that its schema does not name. Their values are those of the members of a map, or of
/// the schema of other members.
pub(super) fn with_keys(members: &Map<String, Value>, schema: &LocatedSchema<'_>, keys: &[String]) -> Option<Value> {
    let of_map = members.values().next().filter(|_| schema.is_map()).cloned();
    let value = of_map.or_else(|| sample(&schema.values())).or_else(|| (!schema.is_map()).then(|| "x".into()))?;
    let mut members = members.clone();
    for key in keys.iter().filter(|key| schema.properties().all(|(name, _)| name != *key)) {
        members.entry(key.clone()).or_insert_with(|| value.clone());
    }
    Some(Value::Object(members))
}
