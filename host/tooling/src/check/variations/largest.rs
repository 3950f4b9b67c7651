//! Values that are as large as their schema allows.

use serde_json::Value;

use crate::check::variations::arrays::distinct;
use crate::check::variations::change::{InputVariation, ValueChange};
use crate::check::variations::mixed::mixed;
use crate::check::variations::places::{Place, places_of, replaced};
use crate::check::variations::schema_sample::LocatedSchema;

/// Greatest stated length that is tried, and greatest number of bytes. A run has at most a few megabytes of input.
const LENGTH_MAX: usize = 100_000;
const BYTES_MAX: usize = 8_000_000;
/// Length of an array of numbers in no order, if the schema states no greatest length or a longer one.
const UNBOUNDED: usize = 20_000;

/// Returns the value with one array or text of the greatest length that its schema states. The elements are those of the
/// value with other texts, or else as they are. Further values have numbers in no order, or letters of two bytes. An array
/// without a greatest length becomes large. Returns the values of at most `max` places, and makes each when it is taken.
pub(in crate::check) fn largest_allowed<'v>(
    value: &'v Value,
    schema: &'v Value,
    max: usize,
    is_allowed: impl Fn(&Value) -> bool + Copy + 'v,
) -> impl Iterator<Item = InputVariation> + 'v {
    let mut places: Vec<Place<'v>> = places_of(value, schema).into_iter().filter(Place::is_in_first_elements).collect();
    places.sort_by_key(|place| !place.value.is_array());
    let of_place = places.into_iter().filter_map(move |place| {
        let groups = match place.value {
            Value::Array(elements) => of_array(elements, place.schema),
            Value::String(text) => of_text(text, place.schema.length_max()?),
            _ => vec![],
        };
        let of_change = move |pointer: &str, change: ValueChange<'v>| {
            let (what, is_large) = (format!("{} at {pointer:?}", change.what), change.is_large);
            let value = replaced(value, pointer, change.into_value()).filter(|varied| varied != value)?;
            is_allowed(&value).then_some(InputVariation { what, value, is_large })
        };
        let of_group =
            move |group: Vec<ValueChange<'v>>| group.into_iter().find_map(|change| of_change(&place.pointer, change));
        let mut found = groups.into_iter().filter_map(of_group).peekable();
        found.peek().is_some().then_some(found)
    });
    of_place.take(max).flatten()
}

/// Returns groups of changes of an array. Of each group, the first change that is allowed is made.
fn of_array<'v>(elements: &'v [Value], schema: LocatedSchema<'v>) -> Vec<Vec<ValueChange<'v>>> {
    let stated = schema.length_max().filter(|length| *length <= LENGTH_MAX);
    let length = stated.unwrap_or(UNBOUNDED);
    let bytes: usize = elements.iter().map(|element| element.to_string().len()).sum();
    if !(1..=length).contains(&elements.len()) || bytes / elements.len() * length > BYTES_MAX {
        return vec![];
    }
    let items = schema.items();
    let mut groups = Vec::new();
    if stated.is_some() && elements.len() < length {
        let what = format!("{length} elements");
        let usual = |change: ValueChange<'v>| change.sized(false);
        groups.push(vec![
            usual(ValueChange::later(what.as_str(), move || distinct(elements, length, &items))),
            usual(ValueChange::later(what.as_str(), move || {
                elements.iter().cycle().take(length).cloned().collect::<Vec<_>>()
            })),
        ]);
    }
    let is_large = stated.is_none();
    let of_numbers = mixed(elements, length, items).into_iter();
    groups.extend(of_numbers.map(|change| {
        vec![{
            let is_large = is_large || change.is_large;
            change.sized(is_large)
        }]
    }));
    groups
}

/// Returns groups of changes of a text, as [`of_array`].
fn of_text(text: &str, length: usize) -> Vec<Vec<ValueChange<'static>>> {
    if length > LENGTH_MAX || !(1..=length).contains(&text.chars().count()) {
        return vec![];
    }
    let own: String = text.chars().cycle().take(length).collect();
    let letters = "\u{e9}".repeat(length);
    let all = [("characters", own), ("letters of two bytes", letters)];
    all.into_iter().map(|(what, text)| vec![ValueChange::to(format!("{length} {what}"), text)]).collect()
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
        for any in [json!({}), json!({ "maxItems": 1_000_000 })] {
            let list = json!([4, 9]);
            let free: Vec<InputVariation> = largest_allowed(&list, &any, 10, |_| true).collect();
            assert!(
                free.len() == 2 && free.iter().all(|one| one.is_large && one.value.as_array().unwrap().len() == 20_000)
            );
        }
        let names = json!({ "names": ["a", "b"] });
        let first = largest_allowed(&names, &schema, 1, |_| true).next().unwrap();
        assert_eq!(first.value["names"], json!(["a-0", "b-1", "a-2"]));
    }

    #[test]
    fn full_arrays_get_numbers_in_no_order_and_huge_ones_are_left_out() {
        let schema = json!({ "maxItems": 3, "items": { "maximum": 9 } });
        let full = json!([7, 7, 8]);
        let found: Vec<Value> = largest_allowed(&full, &schema, 10, |_| true).map(|one| one.value).collect();
        assert_eq!(found, [json!([7, 8, 9]), json!([7, 8, 7])]);
        let wide = json!(["x".repeat(1_000)]);
        assert_eq!(largest_allowed(&wide, &json!({ "maxItems": 50_000 }), 10, |_| true).count(), 0);
    }
}
