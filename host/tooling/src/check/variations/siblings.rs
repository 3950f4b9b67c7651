//! Two elements of an array that differ in one member.

use serde_json::{Map, Value};

use crate::check::variations::change::InputVariation;
use crate::check::variations::numbering::{is_name, numbered_text};
use crate::check::variations::places::{places_of, replaced};
use crate::check::variations::schema_sample::LocatedSchema;

/// Returns the value with one more element in an array of objects: a copy of the first element with another value of one
/// text or integer. The other value comes from another element, if one has another value. Returns at most `max` values.
pub(in crate::check) fn siblings(
    value: &Value,
    schema: &Value,
    max: usize,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<InputVariation> {
    let places = places_of(value, schema);
    let of_place = places.iter().flat_map(|place| {
        let elements = place.value.as_array().map_or(&[][..], Vec::as_slice);
        let objects: Vec<&Map<String, Value>> = elements.iter().filter_map(Value::as_object).collect();
        let copies = if objects.len() == elements.len() { copies(&objects, &place.schema.items()) } else { vec![] };
        copies.into_iter().filter_map(|(name, copy)| {
            let first = elements.first()?.clone();
            let more = [first, copy].into_iter().chain(elements[1..].iter().cloned());
            Some(InputVariation {
                what: format!("an element twice, with another {name:?}, at {:?}", place.pointer),
                value: replaced(value, &place.pointer, Some(more.collect()))?,
                is_large: false,
            })
        })
    });
    of_place.filter(|one| is_allowed(&one.value)).take(max).collect()
}

/// Returns the value with a copy of the first element in an array. Returns at most `max` values.
pub(in crate::check) fn repeated_elements(
    value: &Value,
    schema: &Value,
    max: usize,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<InputVariation> {
    let repeated = |elements: &[Value]| Some(elements.iter().chain([elements.first()?]).cloned().collect());
    other_arrays(value, schema, "the first element once more,", repeated)
        .filter(|one| is_allowed(&one.value))
        .take(max)
        .collect()
}

/// Returns the value without the first element of an array of several. Returns at most `max` values.
pub(in crate::check) fn without_first(
    value: &Value,
    schema: &Value,
    max: usize,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<InputVariation> {
    let rest = |elements: &[Value]| (elements.len() > 1).then(|| elements[1..].to_vec());
    other_arrays(value, schema, "without the first element", rest)
        .filter(|one| is_allowed(&one.value))
        .take(max)
        .collect()
}

/// Returns the value with other elements in one array, for each array.
fn other_arrays<'v>(
    value: &'v Value,
    schema: &'v Value,
    what: &'v str,
    other: impl Fn(&[Value]) -> Option<Vec<Value>> + 'v,
) -> impl Iterator<Item = InputVariation> + 'v {
    places_of(value, schema).into_iter().filter_map(move |place| {
        let other = other(place.value.as_array()?)?;
        let what = format!("{what} at {:?}", place.pointer);
        Some(InputVariation { what, value: replaced(value, &place.pointer, Some(other.into()))?, is_large: false })
    })
}

/// Returns copies of the first object, each with the name of the member that has another value.
fn copies(objects: &[&Map<String, Value>], schema: &LocatedSchema<'_>) -> Vec<(String, Value)> {
    let Some(first) = objects.first() else { return vec![] };
    let copy = |(name, own): (&String, &Value)| {
        // A value of another element would be there twice if the values of all elements differ.
        let of_others = || objects.iter().filter_map(|object| object.get(name)).find(|other| *other != own);
        let is_free = objects.len() == 1 || is_name(objects, name) && !schema.property(name).is_fixed();
        let other = match own {
            Value::String(_) | Value::Number(_) if !is_free && of_others().is_some() => of_others().cloned()?,
            Value::String(text) if is_free && objects.len() > 1 => free_text(objects, name, text)?.into(),
            Value::String(text) if !schema.property(name).is_fixed() => numbered_text(text, 1).into(),
            Value::Number(number) => {
                let greatest = objects.iter().filter_map(|object| object.get(name)?.as_i64()).max();
                greatest.or(number.as_i64())?.saturating_add(1).into()
            }
            _ => return None,
        };
        let mut changed = (*first).clone();
        changed.insert(name.clone(), other);
        Some((name.clone(), Value::Object(changed)))
    };
    first.iter().filter_map(copy).collect()
}

/// Returns the text with a number, so that it differs from the member of every object.
fn free_text(objects: &[&Map<String, Value>], name: &str, text: &str) -> Option<String> {
    let is_free = |text: &String| objects.iter().all(|object| object.get(name) != Some(&Value::from(text.as_str())));
    (1..=objects.len()).map(|number| numbered_text(text, number)).find(is_free)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_second_element_differs_in_one_member() {
        let schema = json!({ "properties": { "list": { "items": { "properties": { "kind": { "enum": ["a"] } } } } } });
        let value = json!({ "list": [{ "id": "x1", "n": 4, "kind": "a", "is": true }, { "id": "x9", "n": 4 }] });
        let found = siblings(&value, &schema, 9, |_| true);
        let second: Vec<_> = found.iter().map(|one| one.value["list"][1].clone()).collect();
        let expected = [
            json!({ "id": "x2", "n": 4, "kind": "a", "is": true }),
            json!({ "id": "x1", "n": 5, "kind": "a", "is": true }),
        ];
        assert_eq!(second, expected);
        assert_eq!(found[0].what, "an element twice, with another \"id\", at \"/list\"");
        assert_eq!(found[0].value["list"].as_array().unwrap().len(), 3);
    }
}
