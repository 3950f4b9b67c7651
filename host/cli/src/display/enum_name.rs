//! Serialized names of enum values.

use serde::Serialize;
use serde_json::Value;

/// Returns the serialized name of an enum value without data.
pub(crate) fn enum_name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        other => panic!("an enum without data is a word: {other:?}"),
    }
}
