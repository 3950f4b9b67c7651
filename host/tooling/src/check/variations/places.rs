//! The places of a value: each value within it, with its JSON pointer.

use serde_json::Value;

use crate::check::variations::schema_sample::LocatedSchema;

/// Number of elements at the start of an array that are changed individually.
const ELEMENTS_MAX: usize = 2;

/// A part of the varied value, with its JSON pointer and its schema.
pub(super) struct Place<'v> {
    pub(super) pointer: String,
    pub(super) value: &'v Value,
    pub(super) schema: LocatedSchema<'v>,
}

impl Place<'_> {
    /// Returns true if the place is in no second element of an array. Elements of one array have one schema.
    pub(super) fn is_in_first_elements(&self) -> bool {
        self.pointer.split('/').all(|name| name != "1")
    }
}

/// Returns all values in a value. `schema` is the schema of the whole value.
pub(super) fn places_of<'v>(value: &'v Value, schema: &'v Value) -> Vec<Place<'v>> {
    let mut places = Vec::new();
    collect_places(value, LocatedSchema::of(schema), String::new(), &mut places);
    places
}

/// Collects all values, outer values last.
fn collect_places<'v>(value: &'v Value, schema: LocatedSchema<'v>, pointer: String, places: &mut Vec<Place<'v>>) {
    match value {
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate().take(ELEMENTS_MAX).rev() {
                collect_places(element, schema.items(), format!("{pointer}/{index}"), places);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                collect_places(member, schema.property(name), format!("{pointer}/{escaped}"), places);
            }
        }
        _ => {}
    }
    places.push(Place { pointer, value, schema });
}

/// Returns the value with `other` at the place `pointer`, or without this place if `other` is `None`.
pub(super) fn replaced(value: &Value, pointer: &str, other: Option<Value>) -> Option<Value> {
    let mut value = value.clone();
    let Some(other) = other else {
        let (parent, name) = pointer.rsplit_once('/')?;
        let members = value.pointer_mut(parent)?.as_object_mut()?;
        members.remove(&name.replace("~1", "/").replace("~0", "~"))?;
        return Some(value);
    };
    *value.pointer_mut(pointer)? = other;
    Some(value)
}
