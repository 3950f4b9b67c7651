//! JSON Schemas of WIT types. A schema accepts exactly the values that [`crate::engine::untyped::input`] converts.

use serde_json::{Map, Value, json};

use crate::engine::untyped::ty::{FunctionSignature, Int, Ty};

/// Midpoint between the largest `f32` and the next power of two. Every smaller number rounds to a finite
/// `f32`.
pub(super) const F32_OVERFLOW: f64 = 340_282_356_779_733_661_637_539_395_458_142_568_448.0;

/// Matches base64 with padding. The unused bits of the last character must be zero.
const BASE64: &str = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$";

impl FunctionSignature {
    /// Schema of the operator's input: an object with one member per parameter.
    pub(super) fn input_schema(&self) -> Value {
        let mut wide = WideDefinitions::default();
        let schema = record(&self.params, &mut wide);
        wide.define(schema)
    }

    /// Schema of the operator's output.
    pub(super) fn output_schema(&self) -> Value {
        let mut wide = WideDefinitions::default();
        let schema = optional(self.answer_type(), &mut wide);
        wide.define(schema)
    }
}

/// Definitions of 64-bit integers that a schema refers to. The schema must contain these definitions.
#[derive(Default)]
struct WideDefinitions {
    signed: bool,
    unsigned: bool,
}

impl WideDefinitions {
    fn define(self, mut schema: Value) -> Value {
        let mut definitions = Map::new();
        for (needed, signed) in [(self.signed, true), (self.unsigned, false)] {
            if needed {
                let int = Int { signed, bits: 64 };
                definitions.insert(int.type_name(), wide(int));
            }
        }
        if !definitions.is_empty() {
            schema["$defs"] = Value::Object(definitions);
        }
        schema
    }
}

fn optional(ty: Option<&Ty>, wide: &mut WideDefinitions) -> Value {
    ty.map_or_else(|| json!({"type": "null"}), |ty| schema_of(ty, wide))
}

fn schema_of(ty: &Ty, wide: &mut WideDefinitions) -> Value {
    match ty {
        Ty::Bool => json!({"type": "boolean"}),
        Ty::Int(int) if int.is_wide() => {
            *(if int.signed { &mut wide.signed } else { &mut wide.unsigned }) = true;
            json!({"$ref": format!("#/$defs/{}", int.type_name())})
        }
        Ty::Int(int) => json!({"type": "integer", "minimum": int.min() as i64, "maximum": int.max() as i64}),
        Ty::F32 => json!({"type": "number", "exclusiveMinimum": -F32_OVERFLOW, "exclusiveMaximum": F32_OVERFLOW}),
        Ty::F64 => json!({"type": "number"}),
        Ty::Char => json!({"type": "string", "minLength": 1, "maxLength": 1}),
        Ty::String => json!({"type": "string"}),
        Ty::Bytes => json!({"type": "string", "contentEncoding": "base64", "pattern": BASE64}),
        Ty::List(item) => json!({"type": "array", "items": schema_of(item, wide)}),
        Ty::Array(item, len) => {
            json!({"type": "array", "items": schema_of(item, wide), "minItems": len, "maxItems": len})
        }
        Ty::Record(fields) => record(fields, wide),
        Ty::Tuple(items) => {
            let schemas: Vec<_> = items.iter().map(|item| schema_of(item, wide)).collect();
            json!({"type": "array", "prefixItems": schemas, "minItems": items.len(), "maxItems": items.len()})
        }
        Ty::Variant(cases) => {
            let bare: Vec<_> = cases.iter().filter(|(_, ty)| ty.is_none()).map(|(name, _)| name).collect();
            let mut choices = Vec::new();
            if !bare.is_empty() {
                choices.push(json!({"enum": bare}));
            }
            for (name, ty) in cases {
                choices.extend(ty.as_ref().map(|ty| {
                    let payload = schema_of(ty, wide);
                    single(name, payload)
                }));
            }
            json!({"anyOf": choices})
        }
        Ty::Enum(names) => json!({"enum": names}),
        Ty::Option(inner) => {
            let there = schema_of(inner, wide);
            let there = if inner.may_be_null() { single("some", there) } else { there };
            json!({"anyOf": [{"type": "null"}, there]})
        }
        Ty::Result(ok, err) => {
            let (ok, err) = (optional(ok.as_deref(), wide), optional(err.as_deref(), wide));
            json!({"anyOf": [single("ok", ok), single("err", err)]})
        }
        Ty::Flags(names) => json!({"type": "array", "items": {"enum": names}, "uniqueItems": true}),
    }
}

/// Schema of an object with exactly one member.
fn single(name: &str, schema: Value) -> Value {
    json!({"type": "object", "properties": {name: schema}, "required": [name], "additionalProperties": false})
}

fn record(fields: &[(String, Ty)], wide: &mut WideDefinitions) -> Value {
    let properties: Map<String, Value> = fields.iter().map(|(name, ty)| (name.clone(), schema_of(ty, wide))).collect();
    // A field that may be null may also be missing. Both mean `none`.
    let required: Vec<_> = fields.iter().filter(|(_, ty)| !ty.may_be_null()).map(|(name, _)| name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Schema of a 64-bit integer: a number or a string of digits, within the range of the type.
fn wide(int: Int) -> Value {
    let bound = |value: i128| u64::try_from(value).map_or_else(|_| json!(value as i64), |value| json!(value));
    json!({"anyOf": [
        {"type": "integer", "minimum": bound(int.min()), "maximum": bound(int.max())},
        {"type": "string", "pattern": digits(int)},
    ]})
}

/// Returns a regular expression that matches exactly the decimal forms of the type's values.
fn digits(int: Int) -> String {
    let positive = digits_up_to(&int.max().to_string());
    match int.signed {
        false => format!("^(?:0|{positive})$"),
        true => format!("^(?:0|{positive}|-(?:{}))$", digits_up_to(&(-int.min()).to_string())),
    }
}

/// Returns a regular expression for the numbers from 1 to `max`.
fn digits_up_to(max: &str) -> String {
    let digits = max.as_bytes();
    let mut choices = vec![format!("[1-9][0-9]{{0,{}}}", digits.len() - 2)];
    for (at, digit) in digits.iter().enumerate() {
        // Matches numbers with the same digits as `max` up to this position, then a smaller digit, then any
        // digits.
        let least = if at == 0 { b'1' } else { b'0' };
        if *digit > least {
            let class = format!("[{}-{}]", char::from(least), char::from(digit - 1));
            choices.push(format!("{}{class}[0-9]{{{}}}", &max[..at], digits.len() - 1 - at));
        }
    }
    choices.push(max.to_owned());
    choices.join("|")
}
