//! Converts the result of a call to canonical JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Number, Value};
use wasmtime::component::Val;

use latchwork_core::encoding::canon;
use latchwork_core::plan::bindings::child;

use crate::engine::untyped::ty::{EXACT_MAX, Ty};

/// Reason why a value cannot be written as text.
#[derive(Debug, PartialEq)]
pub(super) enum JsonWriteError {
    /// The text would exceed the limit. Contains the beginning of the text.
    TooLong(String),
    /// A part of the value has no JSON form. Contains the part's location and the reason.
    NoForm(String),
}

/// Returns the canonical JSON text of a value, at most `max` bytes.
pub(super) fn canonical_text(ty: Option<&Ty>, value: Option<&Val>, max: usize) -> Result<String, JsonWriteError> {
    let mut writer = Writer { text: String::new(), max };
    match (ty, value) {
        (Some(ty), Some(value)) => writer.value("", ty, value)?,
        _ => writer.push("null")?,
    }
    Ok(writer.text)
}

struct Writer {
    text: String,
    max: usize,
}

type Written = Result<(), JsonWriteError>;

impl Writer {
    fn push(&mut self, more: &str) -> Written {
        if self.text.len() + more.len() <= self.max {
            self.text.push_str(more);
            return Ok(());
        }
        let room = more.floor_char_boundary(self.max - self.text.len());
        self.text.push_str(&more[..room]);
        Err(JsonWriteError::TooLong(std::mem::take(&mut self.text)))
    }

    fn string(&mut self, text: &str) -> Written {
        self.json(&Value::from(text))
    }

    fn json(&mut self, value: &Value) -> Written {
        self.push(&String::from_utf8_lossy(&canon::value_to_canonical(value)))
    }

    fn int(&mut self, value: i128) -> Written {
        match value.abs() <= EXACT_MAX {
            true => self.push(&value.to_string()),
            false => self.push(&format!("\"{value}\"")),
        }
    }

    fn float(&mut self, at: &str, value: f64) -> Written {
        match Number::from_f64(value) {
            Some(number) => self.json(&Value::Number(number)),
            None => Err(JsonWriteError::NoForm(format!(
                "{} is {value}, which JSON has no number for",
                if at.is_empty() { "/" } else { at }
            ))),
        }
    }

    fn items<'v>(&mut self, at: &str, items: impl Iterator<Item = (&'v Ty, &'v Val)>) -> Written {
        self.push("[")?;
        for (index, (ty, value)) in items.enumerate() {
            if index > 0 {
                self.push(",")?;
            }
            self.value(&format!("{at}/{index}"), ty, value)?;
        }
        self.push("]")
    }

    fn single(&mut self, at: &str, name: &str, ty: Option<&Ty>, value: Option<&Val>) -> Written {
        self.push("{")?;
        self.string(name)?;
        self.push(":")?;
        match (ty, value) {
            (Some(ty), Some(value)) => self.value(&child(at, name), ty, value)?,
            _ => self.push("null")?,
        }
        self.push("}")
    }

    fn value(&mut self, at: &str, ty: &Ty, value: &Val) -> Written {
        match (ty, value) {
            (_, Val::Bool(value)) => self.push(if *value { "true" } else { "false" }),
            (_, Val::S8(value)) => self.int((*value).into()),
            (_, Val::U8(value)) => self.int((*value).into()),
            (_, Val::S16(value)) => self.int((*value).into()),
            (_, Val::U16(value)) => self.int((*value).into()),
            (_, Val::S32(value)) => self.int((*value).into()),
            (_, Val::U32(value)) => self.int((*value).into()),
            (_, Val::S64(value)) => self.int((*value).into()),
            (_, Val::U64(value)) => self.int((*value).into()),
            // Writes the shortest decimal that rounds to this `f32`. The same value as an `f64` would have more digits.
            (_, Val::Float32(value)) => {
                let shortest = value.to_string().parse::<f64>().unwrap_or(f64::from(*value));
                self.float(at, if value.is_finite() { shortest } else { f64::from(*value) })
            }
            (_, Val::Float64(value)) => self.float(at, *value),
            (_, Val::Char(value)) => self.string(value.encode_utf8(&mut [0; 4])),
            (_, Val::String(text)) => self.string(text),
            (Ty::Bytes, Val::List(items)) => {
                let bytes: Vec<u8> =
                    items.iter().filter_map(|item| if let Val::U8(byte) = item { Some(*byte) } else { None }).collect();
                self.string(&STANDARD.encode(bytes))
            }
            (Ty::List(item), Val::List(items)) | (Ty::Array(item, _), Val::FixedLengthList(items)) => {
                self.items(at, items.iter().map(|value| (&**item, value)))
            }
            (Ty::Tuple(types), Val::Tuple(items)) => self.items(at, types.iter().zip(items)),
            (Ty::Record(types), Val::Record(fields)) => {
                let mut members: Vec<_> = types.iter().zip(fields).collect();
                // WIT names are ASCII, so byte order equals the order that RFC 8785 requires.
                members.sort_unstable_by(|((a, _), _), ((b, _), _)| a.cmp(b));
                self.push("{")?;
                for (index, ((name, ty), (_, value))) in members.into_iter().enumerate() {
                    if index > 0 {
                        self.push(",")?;
                    }
                    self.string(name)?;
                    self.push(":")?;
                    self.value(&child(at, name), ty, value)?;
                }
                self.push("}")
            }
            (_, Val::Variant(name, None)) | (_, Val::Enum(name)) => self.string(name),
            (Ty::Variant(cases), Val::Variant(name, Some(payload))) => {
                let ty = cases.iter().find(|(case, _)| case == name).and_then(|(_, ty)| ty.as_ref());
                self.single(at, name, ty, Some(payload))
            }
            (_, Val::Option(None)) => self.push("null"),
            (Ty::Option(inner), Val::Option(Some(value))) => match inner.may_be_null() {
                true => self.single(at, "some", Some(inner), Some(value)),
                false => self.value(at, inner, value),
            },
            (Ty::Result(ok, _), Val::Result(Ok(value))) => self.single(at, "ok", ok.as_deref(), value.as_deref()),
            (Ty::Result(_, err), Val::Result(Err(value))) => self.single(at, "err", err.as_deref(), value.as_deref()),
            (_, Val::Flags(names)) => {
                self.push("[")?;
                for (index, name) in names.iter().enumerate() {
                    if index > 0 {
                        self.push(",")?;
                    }
                    self.string(name)?;
                }
                self.push("]")
            }
            // Unreachable: the engine checks every value against the type from which `ty` was read.
            _ => Err(JsonWriteError::NoForm(format!("{at} is not the {} of its type", ty.wit()))),
        }
    }
}
