//! Changes of many values at once: of all numbers, of all truth values, or of all texts.

use serde_json::Value;

use crate::check::variations::change::InputVariation;
use crate::check::variations::places::{Place, replaced};

/// Odd numbers that replace all numbers at once. A double can hold a large product of even numbers exactly. Such a
/// product would not show that the plugin can produce integers that a double cannot hold.
const ALL_NUMBERS: [i64; 3] = [999_983, 997, 53];
/// Length of a long text in characters: more than most fields of a form may have.
const LONG_TEXT: usize = 5_000;

/// Returns variations of the whole value. Each of them changes values in many places.
pub(super) fn of_whole(
    value: &Value,
    places: &[Place<'_>],
    is_allowed: &impl Fn(&Value) -> bool,
) -> Vec<InputVariation> {
    let mut all = all_numbers(value, places, is_allowed);
    all.extend(extremes(value, places));
    all.extend(all_texts(value, places, is_allowed));
    all
}

/// Replaces all numbers at once: a sum, a product or a limit can depend on several of them.
fn all_numbers(value: &Value, places: &[Place<'_>], is_allowed: &impl Fn(&Value) -> bool) -> Vec<InputVariation> {
    let numbers: Vec<&Place<'_>> = places.iter().filter(|place| place.value.is_number()).collect();
    let with = |number: i64| {
        let mut varied = value.clone();
        for place in &numbers {
            // The usual number stays if the other one is not allowed.
            if let Some(other) =
                replaced(&varied, &place.pointer, Some(number.into())).filter(|other| is_allowed(other))
            {
                varied = other;
            }
        }
        InputVariation { what: format!("{number} for all numbers"), value: varied, is_large: false }
    };
    if numbers.len() < 2 { vec![] } else { ALL_NUMBERS.into_iter().map(with).collect() }
}

/// Replaces all numbers by the least or by the greatest numbers of their schemas, and all truth values by `true`.
fn extremes(value: &Value, places: &[Place<'_>]) -> Vec<InputVariation> {
    let with = |(bound, what): (usize, &str)| {
        let mut varied = value.clone();
        for place in places {
            let other = match place.value {
                // An SDK states the least and the greatest safe integer if the author states no bound.
                Value::Number(_) => {
                    place.schema.bounds()[bound].filter(|stated| !is_limit_of_integers(stated)).cloned()
                }
                Value::Bool(_) => Some(true.into()),
                _ => None,
            };
            if let Some(changed) = other.and_then(|other| replaced(&varied, &place.pointer, Some(other))) {
                varied = changed;
            }
        }
        InputVariation {
            what: format!("the {what} number of its schema for each number, and true for each truth value"),
            value: varied,
            is_large: false,
        }
    };
    [(0, "least"), (1, "greatest")].map(with).into_iter().filter(|one| one.value != *value).collect()
}

/// Returns true for an integer of the greatest size that JSON can hold exactly.
fn is_limit_of_integers(number: &Value) -> bool {
    number.as_f64().is_some_and(|number| number.abs() >= 9_007_199_254_740_991.0)
}

/// Replaces all texts by empty, blank or long ones. An error or a refusal can need one text of several, and two texts can be
/// too long at once.
fn all_texts(value: &Value, places: &[Place<'_>], is_allowed: &impl Fn(&Value) -> bool) -> Vec<InputVariation> {
    let texts: Vec<&Place<'_>> =
        places.iter().filter(|place| place.value.is_string() && !place.schema.is_fixed()).collect();
    let with = |(text, what): (&str, &str)| {
        let mut varied = value.clone();
        for place in &texts {
            if let Some(other) = replaced(&varied, &place.pointer, Some(text.into())).filter(is_allowed) {
                varied = other;
            }
        }
        InputVariation { what: format!("{what} for all texts"), value: varied, is_large: false }
    };
    if texts.len() < 2 {
        vec![]
    } else {
        [("", "an empty text"), (" ", "a blank text"), (&"x".repeat(LONG_TEXT), "a long text")].map(with).into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::check::variations::places::places_of;

    #[test]
    fn all_texts_are_empty_blank_or_long_at_once() {
        let (input, schema) =
            (json!({ "a": "x", "b": ["y"], "kind": "k" }), json!({ "properties": { "kind": { "enum": ["k"] } } }));
        let varied = |input: &Value, is_allowed: &dyn Fn(&Value) -> bool| -> Vec<Value> {
            let found = of_whole(input, &places_of(input, &schema), &is_allowed);
            found.into_iter().map(|one| one.value).collect()
        };
        let all = |text: &str| json!({ "a": text, "b": [text], "kind": "k" });
        let long = "x".repeat(LONG_TEXT);
        assert_eq!(varied(&input, &|_| true), [all(""), all(" "), all(&long)]);
        let found = varied(&input, &|input| input["a"] != "");
        assert_eq!(found, [json!({ "a": "x", "b": [""], "kind": "k" }), all(" "), all(&long)]);
        assert!(varied(&json!({ "a": "x", "b": 1 }), &|_| true).is_empty());
    }
}
