//! Values that are as large as their schema allows.

use serde_json::Value;

use crate::check::variations::arrays::distinct;
use crate::check::variations::change::InputVariation;
use crate::check::variations::places::{places_of, replaced};

/// Greatest length that is tried. An input of a step has at most a few megabytes.
const LENGTH_MAX: usize = 100_000;

/// Returns the value with one array or text of the greatest length that its schema states. The elements are those of the
/// value, first with other texts, and else as they are. Returns at most `max` values.
pub(in crate::check) fn largest_allowed(
    value: &Value,
    schema: &Value,
    max: usize,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<InputVariation> {
    let places = places_of(value, schema);
    let of_place = places.iter().filter_map(|place| {
        let length = place.schema.length_max().filter(|length| *length <= LENGTH_MAX)?;
        let (unit, others): (&str, Vec<Value>) = match place.value {
            Value::Array(elements) if (1..length).contains(&elements.len()) => {
                let repeated = elements.iter().cycle().take(length).cloned().collect::<Vec<_>>();
                ("elements", vec![distinct(elements, length, &place.schema.items()).into(), repeated.into()])
            }
            Value::String(text) if (1..length).contains(&text.chars().count()) => {
                ("characters", vec![text.chars().cycle().take(length).collect::<String>().into()])
            }
            _ => return None,
        };
        let varied = others.into_iter().filter_map(|other| replaced(value, &place.pointer, Some(other)));
        let value = varied.into_iter().find(&is_allowed)?;
        Some(InputVariation { what: format!("{length} {unit} at {:?}", place.pointer), value, is_large: false })
    });
    of_place.take(max).collect()
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
            "full": { "maxLength": 2 },
            "free": {},
        } });
        let value = json!({ "names": ["a", "b"], "text": "xy", "full": "xy", "free": "x" });
        let is_short =
            |value: &Value| value["names"].as_array().unwrap().iter().all(|name| name.as_str().unwrap().len() == 1);
        let found = largest_allowed(&value, &schema, 10, is_short);
        let whats: Vec<&str> = found.iter().map(|one| one.what.as_str()).collect();
        assert_eq!(whats, ["3 elements at \"/names\"", "5 characters at \"/text\""]);
        assert_eq!((&found[0].value["names"], &found[1].value["text"]), (&json!(["a", "b", "a"]), &json!("xyxyx")));
        let found = largest_allowed(&value, &schema, 1, |_| true);
        assert_eq!(found[0].value["names"], json!(["a-0", "b-1", "a-2"]));
    }
}
