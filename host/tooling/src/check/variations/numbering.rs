//! Copies of a value that differ in their numbers and texts.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::check::variations::schema_sample::LocatedSchema;

/// Returns the text with a number. The first number in the text becomes greater by `number`, so the text keeps its form.
/// A text without a number gets the number at its end.
pub(super) fn numbered_text(text: &str, number: usize) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    let Some(start) = text.find(is_digit) else { return format!("{text}{number}") };
    let end = text[start..].find(|c| !is_digit(c)).map_or(text.len(), |length| start + length);
    match text[start..end].parse::<u64>() {
        Ok(first) => {
            let next = first.saturating_add(number as u64);
            format!("{}{next:0width$}{}", &text[..start], &text[end..], width = end - start)
        }
        Err(_) => format!("{text}{number}"),
    }
}

/// Returns true if a member is a text in all elements, or an integer in all elements, and no two values are equal.
pub(super) fn is_name(objects: &[&Map<String, Value>], name: &str) -> bool {
    let values = || objects.iter().filter_map(|object| object.get(name));
    let is_of_one_kind = values().all(Value::is_string) || values().all(Value::is_i64);
    let different: BTreeSet<String> = values().map(Value::to_string).collect();
    is_of_one_kind && !objects.is_empty() && different.len() == objects.len()
}

/// Returns the value with `-number` at the end of each text, as [`with_texts`].
pub(super) fn numbered(value: &Value, number: usize, schema: &LocatedSchema<'_>, depth: usize) -> Value {
    with_texts(value, schema, depth, &|text| format!("{text}-{number}"))
}

/// Returns the value with other texts. `depth` is the number of levels of arrays and objects in which texts are changed. A
/// text of an enumeration stays.
pub(super) fn with_texts(
    value: &Value,
    schema: &LocatedSchema<'_>,
    depth: usize,
    other: &dyn Fn(&str) -> String,
) -> Value {
    match value {
        Value::String(text) if !schema.is_fixed() => other(text).into(),
        Value::Object(members) if depth > 0 => {
            let member = |(name, value): (&String, &Value)| {
                (name.clone(), with_texts(value, &schema.member(name), depth - 1, other))
            };
            Value::Object(members.iter().map(member).collect())
        }
        Value::Array(elements) if depth > 0 => {
            elements.iter().map(|element| with_texts(element, &schema.items(), depth - 1, other)).collect()
        }
        value => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn copies_keep_the_form_of_a_text_and_the_values_of_an_enumeration() {
        for (text, expected) in [("U099: clay", "U101: clay"), ("clay", "clay2"), ("", "2"), ("9-1", "11-1")] {
            assert_eq!(numbered_text(text, 2), expected);
        }
        let schema = json!({ "properties": { "kind": { "enum": ["a", "b"] } } });
        let value = json!({ "kind": "a", "name": "x", "tags": ["y"] });
        let all = json!({ "kind": "a", "name": "x-3", "tags": ["y-3"] });
        assert_eq!(numbered(&value, 3, &LocatedSchema::of(&schema), 2), all);
        let outer = json!({ "kind": "a", "name": "x-3", "tags": ["y"] });
        assert_eq!(numbered(&value, 3, &LocatedSchema::of(&schema), 1), outer);
    }
}
