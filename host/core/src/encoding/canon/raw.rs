//! Access to one level of a JSON text. Nested values stay unparsed text.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Returns the fields of an object in the order of the text, including duplicates.
pub(crate) fn fields(object: &str) -> Result<Vec<(String, &RawValue)>, serde_json::Error> {
    serde_json::from_str(object).map(|RawFields(fields)| fields)
}

/// Returns the items of an array.
pub(crate) fn items(array: &str) -> Result<Vec<&RawValue>, serde_json::Error> {
    serde_json::from_str(array)
}

struct RawFields<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for RawFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = RawFields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(RawFields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}
