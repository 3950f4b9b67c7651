//! Reads the parts of a JSON Schema from which values can be made.

use serde_json::{Map, Value};

/// Maximum depth of a value that is made from a schema.
const DEPTH_MAX: usize = 6;

/// A schema within a document. References of the schema are resolved in the document.
#[derive(Clone, Copy)]
pub(super) struct LocatedSchema<'s> {
    root: &'s Value,
    own: &'s Value,
}

impl<'s> LocatedSchema<'s> {
    /// Returns the schema of a document.
    pub(super) fn of(root: &'s Value) -> Self {
        Self { root, own: root }
    }

    fn at(self, own: &'s Value) -> Self {
        Self { own, ..self }.resolved()
    }

    /// Follows a reference, or the first alternative that is not null.
    fn resolved(self) -> Self {
        let mut own = self.own;
        for _ in 0..DEPTH_MAX {
            let referred = own.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
            let next = match referred {
                Some(pointer) => self.root.pointer(pointer),
                None => ["anyOf", "oneOf", "allOf"].iter().find_map(|word| {
                    let schemas = own.get(*word)?.as_array()?;
                    schemas.iter().find(|schema| schema["type"] != "null")
                }),
            };
            let Some(next) = next else { break };
            own = next;
        }
        Self { own, ..self }
    }

    /// Returns the schema of the elements of an array.
    pub(super) fn items(self) -> Self {
        self.at(self.own.get("items").unwrap_or(&Value::Null))
    }

    /// Returns the schema of a member of an object.
    pub(super) fn property(self, name: &str) -> Self {
        self.at(self.own.get("properties").and_then(|all| all.get(name)).unwrap_or(&Value::Null))
    }

    /// Returns the schema of a member of an object, or of a value of a map.
    pub(super) fn member(self, name: &str) -> Self {
        if self.is_map() { self.values() } else { self.property(name) }
    }

    /// Returns the members that the schema names.
    pub(super) fn properties(self) -> impl Iterator<Item = (&'s String, LocatedSchema<'s>)> {
        let members = self.own.get("properties").and_then(Value::as_object);
        members.into_iter().flatten().map(move |(name, own)| (name, self.at(own)))
    }

    /// Returns true if the schema demands a member.
    pub(super) fn is_required(self, name: &str) -> bool {
        self.own.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|one| one == name))
    }

    /// Returns the schema of the values of a map.
    pub(super) fn values(self) -> Self {
        self.at(self.own.get("additionalProperties").unwrap_or(&Value::Null))
    }

    /// Returns true for an object with any keys.
    pub(super) fn is_map(self) -> bool {
        let names_some = self.own.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
        self.is_of_type("object") && !names_some && self.own.get("additionalProperties") != Some(&Value::Bool(false))
    }

    /// Returns true for an object that may have members which the schema does not name.
    pub(super) fn allows_other_members(self) -> bool {
        self.own.get("additionalProperties") != Some(&Value::Bool(false))
    }

    /// Returns true if the schema lists the values that it allows.
    pub(super) fn is_fixed(self) -> bool {
        ["enum", "const"].iter().any(|word| self.own.get(*word).is_some())
    }

    /// Returns true if the schema allows values of this JSON type, and of no other type but null.
    pub(super) fn is_of_type(self, name: &str) -> bool {
        match self.own.get("type") {
            Some(Value::Array(kinds)) => {
                kinds.iter().any(|kind| kind == name) && kinds.iter().all(|kind| kind == name || kind == "null")
            }
            Some(kind) => kind == name,
            None => false,
        }
    }

    /// Returns the greatest number of the integer type that the schema names, if it states no greatest number.
    pub(super) fn type_max(self) -> Option<f64> {
        if self.bounds()[1].is_some() {
            return None;
        }
        match self.own.get("format")?.as_str()? {
            "uint8" => Some(f64::from(u8::MAX)),
            "int8" => Some(f64::from(i8::MAX)),
            "uint16" => Some(f64::from(u16::MAX)),
            "int16" => Some(f64::from(i16::MAX)),
            "uint32" => Some(f64::from(u32::MAX)),
            "int32" => Some(f64::from(i32::MAX)),
            _ => None,
        }
    }

    /// Returns the least and the greatest number that the schema allows, as far as it states them.
    pub(super) fn bounds(self) -> [Option<&'s Value>; 2] {
        ["minimum", "maximum"].map(|word| self.own.get(word))
    }

    /// Returns the least and the greatest integer that the schema allows, as far as it states them.
    pub(super) fn integer_bounds(self) -> [Option<i64>; 2] {
        let number = |word: &str| self.own.get(word).and_then(Value::as_f64);
        let least = [number("minimum").map(f64::ceil), number("exclusiveMinimum").map(|bound| bound.floor() + 1.0)];
        let greatest = [number("maximum").map(f64::floor), number("exclusiveMaximum").map(|bound| bound.ceil() - 1.0)];
        [
            least.into_iter().flatten().reduce(f64::max).map(|bound| bound as i64),
            greatest.into_iter().flatten().reduce(f64::min).map(|bound| bound as i64),
        ]
    }

    /// Returns the greatest length of an array or a text that the schema states.
    pub(super) fn length_max(self) -> Option<usize> {
        let length = ["maxItems", "maxLength"].iter().find_map(|word| self.own.get(*word)?.as_u64())?;
        usize::try_from(length).ok()
    }

    /// Returns the values of an enumeration.
    pub(super) fn alternatives(self) -> impl Iterator<Item = &'s Value> {
        self.own.get("enum").and_then(Value::as_array).into_iter().flatten()
    }
}

/// Makes a value that a schema describes. Supports simple schemas only.
pub(super) fn sample(schema: &LocatedSchema<'_>) -> Option<Value> {
    sample_at(schema, 0)
}

fn sample_at(schema: &LocatedSchema<'_>, depth: usize) -> Option<Value> {
    if depth == DEPTH_MAX {
        return None;
    }
    if let Some(value) = schema.own.get("const").or_else(|| schema.alternatives().next()) {
        return Some(value.clone());
    }
    let kind = match schema.own.get("type")? {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null")?.as_str()?,
        kind => kind.as_str()?,
    };
    match kind {
        "string" => Some("x".into()),
        "boolean" => Some(true.into()),
        "integer" | "number" => Some(schema.own.get("minimum").cloned().unwrap_or_else(|| 1.into())),
        "array" => Some(Value::Array(sample_at(&schema.items(), depth + 1).into_iter().collect())),
        "object" => {
            let member = |(name, of_member): (&String, LocatedSchema<'_>)| {
                Some((name.clone(), sample_at(&of_member, depth + 1)?))
            };
            Some(Value::Object(schema.properties().filter_map(member).collect::<Map<_, _>>()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn map_can_be_null() {
        let is_map = |kind: Value| LocatedSchema::of(&json!({ "type": kind })).is_map();
        assert!(is_map(json!("object")) && is_map(json!(["object", "null"])));
        assert!(!is_map(json!(["object", "string"])) && !is_map(json!("array")));
    }

    #[test]
    fn samples_have_the_types_of_the_schema() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": { "type": ["string", "null"] },
                "kind": { "enum": ["a", "b"] },
                "rider": { "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/rider" }] },
                "any": {},
            },
            "$defs": { "rider": { "type": "object", "properties": { "limits": { "type": "array", "items": { "type": "integer" } } } } },
        });
        let expected = json!({ "name": "x", "kind": "a", "rider": { "limits": [1] } });
        assert_eq!(sample(&LocatedSchema::of(&schema)), Some(expected));
        let endless = json!({ "type": "object", "properties": { "next": { "$ref": "#" } } });
        assert!(sample(&LocatedSchema::of(&endless)).is_some());
    }
}
