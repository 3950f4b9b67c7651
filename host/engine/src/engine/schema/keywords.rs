//! Costs of keywords that read a whole text or a whole value, in units of work. One unit is one subschema applied to one
//! value.

use serde_json::Value;

use crate::engine::schema::size::{text_units, units_of};

/// Cost of a division with fractions of any size.
const DIVISION_COST: u64 = 16;

/// Returns the cost of a keyword for each unit of the text that it reads. Returns 0 for a keyword that reads no text.
/// Regular expressions are not included.
pub(super) fn text_cost(keyword: &str) -> u64 {
    match keyword {
        // The characters are counted.
        "minLength" | "maxLength" | "format" => 1,
        // The text is decoded, or parsed into values.
        "contentEncoding" => 4,
        "contentMediaType" => 8,
        _ => 0,
    }
}

/// Returns the cost of a keyword that compares the value with values of the schema, or looks for names. Returns 0 for
/// other keywords.
pub(super) fn comparison_cost(keyword: &str, compared: &Value) -> u64 {
    match (keyword, compared) {
        // A comparison ends where the value and the allowed value differ.
        ("const", allowed) => units_of(allowed),
        ("enum", Value::Array(list)) => list.iter().map(units_of).sum(),
        ("required", names) => names_cost(names),
        ("dependentRequired" | "dependentSchemas" | "dependencies", Value::Object(map)) => {
            map.iter().map(|(name, names)| text_units(name) + names_cost(names)).sum()
        }
        ("properties", Value::Object(map)) => map.keys().map(|name| text_units(name)).sum(),
        ("multipleOf", _) => DIVISION_COST,
        _ => 0,
    }
}

/// Returns the cost of a search for each member of a list. Another value has none.
fn names_cost(list: &Value) -> u64 {
    list.as_array().map_or(0, |names| names.iter().map(units_of).sum())
}
