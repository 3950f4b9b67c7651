//! Values that are as large as their schema allows.

use serde_json::Value;

use crate::check::variations::arrays::distinct;
use crate::check::variations::change::InputVariation;
use crate::check::variations::mixed::mixed;
use crate::check::variations::places::{Place, places_of, replaced};
use crate::check::variations::schema_sample::LocatedSchema;

/// Greatest length that is tried. An input of a step has at most a few megabytes.
const LENGTH_MAX: usize = 100_000;
/// Length of an array of numbers in no order, if the schema states no greatest length.
const UNBOUNDED: usize = 20_000;

/// Returns the value with one array or text of the greatest length that its schema states. The elements are those of the
/// value with other texts, or else as they are. Further values have numbers in no order, or letters of two bytes. An array
/// without a greatest length becomes large. Returns the values of at most `max` places, and makes those of a place when the
/// first of them is taken.
pub(in crate::check) fn largest_allowed<'v>(
    value: &'v Value,
    schema: &'v Value,
    max: usize,
    is_allowed: impl Fn(&Value) -> bool + 'v,
) -> impl Iterator<Item = InputVariation> + 'v {
    // Elements of one array have one schema.
    let is_first =
        |place: &Place<'_>| place.pointer.split('/').all(|name| !name.parse::<usize>().is_ok_and(|index| index > 0));
    let mut places: Vec<Place<'v>> = places_of(value, schema).into_iter().filter(is_first).collect();
    places.sort_by_key(|place| !place.value.is_array());
    let of_place = places.into_iter().filter_map(move |place| {
        let stated = place.schema.length_max();
        let length = stated.unwrap_or(UNBOUNDED);
        let groups = match place.value {
            _ if length > LENGTH_MAX => return None,
            Value::Array(elements) if stated.is_none() => of_numbers(elements, length, &place.schema.items()),
            Value::Array(elements) if (1..length).contains(&elements.len()) => {
                of_array(elements, length, &place.schema.items())
            }
            _ if stated.is_none() => return None,
            Value::String(text) if (1..=length).contains(&text.chars().count()) => of_text(text, length),
            _ => return None,
        };
        let of_group = |(what, others): (String, Vec<Value>)| {
            let varied = others.into_iter().filter_map(|other| replaced(value, &place.pointer, Some(other)));
            let value = varied.into_iter().find(|varied| varied != value && is_allowed(varied))?;
            let what = format!("{length} {what} at {:?}", place.pointer);
            Some(InputVariation { what, value, is_large: stated.is_none() })
        };
        let found: Vec<InputVariation> = groups.into_iter().filter_map(of_group).collect();
        (!found.is_empty()).then_some(found)
    });
    of_place.take(max).flatten()
}

/// Returns groups of arrays, each with a description. Of each group, the first array that is allowed is used.
fn of_array(elements: &[Value], length: usize, schema: &LocatedSchema<'_>) -> Vec<(String, Vec<Value>)> {
    let repeated = elements.iter().cycle().take(length).cloned().collect::<Vec<_>>();
    let usual = ("elements".to_owned(), vec![distinct(elements, length, schema).into(), repeated.into()]);
    std::iter::once(usual).chain(of_numbers(elements, length, schema)).collect()
}

/// Returns groups of arrays with numbers in no order, as [`of_array`].
fn of_numbers(elements: &[Value], length: usize, schema: &LocatedSchema<'_>) -> Vec<(String, Vec<Value>)> {
    let mixed = mixed(elements, length, schema).into_iter();
    mixed.map(|(what, all)| (format!("elements with {what}"), vec![all.into()])).collect()
}

/// Returns groups of texts, as [`of_array`].
fn of_text(text: &str, length: usize) -> Vec<(String, Vec<Value>)> {
    let own: String = text.chars().cycle().take(length).collect();
    let letters = "\u{e9}".repeat(length);
    vec![("characters".to_owned(), vec![own.into()]), ("letters of two bytes".to_owned(), vec![letters.into()])]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arrays_and_texts_have_the_length_of_their_schema() {
        let schema = json!({ "properties": {
            "names": { "maxItems": 3, "items": { "maxLength": 1 } },
            "text": { "maxLength": 5 },
            "full": { "maxLength": 2, "pattern": "x" },
            "free": {},
            "numbers": { "maxItems": 4 },
        } });
        let value = json!({ "names": ["a", "b"], "text": "xy", "full": "xy", "free": "x", "numbers": [5, 6] });
        let is_short = |value: &Value| {
            let names = value["names"].as_array().unwrap();
            names.iter().all(|name| name.as_str().unwrap().len() == 1) && value["full"] == "xy"
        };
        let found = largest_allowed(&value, &schema, 10, is_short).collect::<Vec<_>>();
        let whats: Vec<&str> = found.iter().map(|one| one.what.as_str()).collect();
        let expected = [
            "3 elements at \"/names\"",
            "4 elements at \"/numbers\"",
            "4 elements with different numbers in no order at \"/numbers\"",
            "4 elements with numbers in no order at \"/numbers\"",
            "5 characters at \"/text\"",
            "5 letters of two bytes at \"/text\"",
        ];
        assert_eq!(whats, expected);
        assert_eq!((&found[0].value["names"], &found[4].value["text"]), (&json!(["a", "b", "a"]), &json!("xyxyx")));
        assert_eq!(
            (&found[2].value["numbers"], &found[5].value["text"]),
            (&json!([5, 8, 7, 6]), &json!("\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}"))
        );
        let (list, any) = (json!([4, 9]), json!({}));
        let free: Vec<InputVariation> = largest_allowed(&list, &any, 10, |_| true).collect();
        assert!(
            free.len() == 2 && free.iter().all(|one| one.is_large && one.value.as_array().unwrap().len() == 20_000)
        );
        let names = json!({ "names": ["a", "b"] });
        let first = largest_allowed(&names, &schema, 1, |_| true).next().unwrap();
        assert_eq!(first.value["names"], json!(["a-0", "b-1", "a-2"]));
    }
}
