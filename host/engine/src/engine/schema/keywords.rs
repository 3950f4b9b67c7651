//! Costs of keywords that read a whole text or a whole value, in units of work. One unit is one subschema applied to one
//! value.

use serde_json::Value;

/// Bytes whose comparison takes as long as one unit of work.
const COMPARED_BYTES: u64 = 256;
/// Bytes of a name whose hash takes as long as one unit of work.
const HASHED_BYTES: u64 = 64;

/// Returns the cost of a keyword for each unit of the text that it reads. Returns 0 for a keyword that reads no text.
/// Regular expressions are not included.
pub(super) fn text_cost(keyword: &str, value: &Value) -> u64 {
    match (keyword, value.as_str()) {
        // The characters are counted.
        ("minLength" | "maxLength", _) => 1,
        // The text is decoded, or parsed into values.
        ("contentEncoding", _) => 2,
        ("contentMediaType", _) => 8,
        // The text is parsed as a regular expression. A class such as `\p{L}` has hundreds of ranges.
        ("format", Some("regex")) => 500,
        ("format", _) => 1,
        _ => 0,
    }
}

/// Returns the cost of a comparison with an allowed value.
pub(super) fn comparison_cost(allowed: &Value) -> u64 {
    let text = |text: &str| text.len() as u64 / COMPARED_BYTES;
    match allowed {
        Value::String(value) => 1 + text(value),
        Value::Array(items) => 1 + items.iter().map(comparison_cost).sum::<u64>(),
        Value::Object(members) => {
            1 + members.iter().map(|(name, member)| 1 + text(name) + comparison_cost(member)).sum::<u64>()
        }
        _ => 1,
    }
}

/// Returns the cost of a search for a member.
pub(super) fn name_cost(name: &str) -> u64 {
    1 + name.len() as u64 / HASHED_BYTES
}

/// Returns the cost of a search for each member of a list. Entries that are no text cost 1.
pub(super) fn names_cost(names: &[Value]) -> u64 {
    names.iter().map(|name| name.as_str().map_or(1, name_cost)).sum()
}
