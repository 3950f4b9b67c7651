//! Serialization of the canonical form.

use serde::Serialize;
use serde_json::Value;

/// Returns the canonical form of a value.
///
/// Integers that a double cannot represent are rounded. Check a value with [`crate::encoding::canon::check_value`]
/// first, if it does not come from [`crate::encoding::canon::parse_strict`].
pub fn value_to_canonical(value: &Value) -> Vec<u8> {
    data_to_canonical(value)
}

/// Returns the canonical form of data that serializes to JSON. Values from [`crate::encoding::canon::parse_strict`]
/// never cause a panic.
///
/// # Panics
/// Panics if the data does not serialize, or contains a number that is not finite. Also panics if a map contains a key
/// twice or a key that is not a string.
pub fn data_to_canonical(data: &impl Serialize) -> Vec<u8> {
    serde_json_canonicalizer::to_vec(data).expect("plain data has a canonical form")
}
