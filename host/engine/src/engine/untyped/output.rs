//! Converts the result of a call to canonical JSON.

use std::cell::{Cell, OnceCell};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use wasmtime::component::Val;

use latchwork_core::encoding::{canon, truncate};
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

/// Returns the canonical JSON text of a value. The text has at most `max` bytes.
///
/// # Errors
/// The text is too long, or a part of the value has no JSON form. If both are true, the error names the problem that
/// comes first in the text.
pub(super) fn canonical_text(ty: Option<&Ty>, value: Option<&Val>, max: usize) -> Result<String, JsonWriteError> {
    let progress = Progress { max, bytes_min: Cell::new(0), no_form: OnceCell::new() };
    let bytes = match (ty, value) {
        (Some(ty), Some(value)) => {
            canon::data_to_canonical(&TypedValue { at: String::new(), depth: 0, ty, value, progress: &progress })
        }
        _ => canon::data_to_canonical(&()),
    };
    let text = String::from_utf8(bytes).expect("canonical JSON is UTF-8");
    let no_form = progress.no_form.into_inner();
    // A part without a JSON form is written as `null`. After this `null`, the text contains only the closing brackets
    // of the containers around the part. Only the text before `null` counts for the maximum length.
    let valid = text.len() - no_form.as_ref().map_or(0, |part| "null".len() + part.depth);
    if valid > max {
        return Err(JsonWriteError::TooLong(truncate::at_bytes(&text, max).start.to_owned()));
    }
    match no_form {
        None => Ok(text),
        Some(part) => Err(JsonWriteError::NoForm(part.why)),
    }
}

/// Progress of writing one value.
struct Progress {
    /// Maximum length of the text, in bytes.
    max: usize,
    /// Lower bound of the length of the text that is written so far, in bytes.
    bytes_min: Cell<usize>,
    /// First part without a JSON form.
    no_form: OnceCell<NoForm>,
}

struct NoForm {
    /// Number of containers around the part.
    depth: usize,
    why: String,
}

impl Progress {
    fn add(&self, bytes: usize) {
        self.bytes_min.set(self.bytes_min.get().saturating_add(bytes));
    }

    /// Returns true if the result is already known to be an error. All containers then end early, so that no memory is
    /// used for text that is not needed.
    fn is_over(&self) -> bool {
        self.bytes_min.get() > self.max || self.no_form.get().is_some()
    }
}

/// A value with its type, serialized as JSON.
struct TypedValue<'a> {
    /// JSON pointer to the value.
    at: String,
    /// Number of containers around the value.
    depth: usize,
    ty: &'a Ty,
    value: &'a Val,
    progress: &'a Progress,
}

impl TypedValue<'_> {
    fn part<'p>(&'p self, at: String, ty: &'p Ty, value: &'p Val) -> TypedValue<'p> {
        TypedValue { at, depth: self.depth + 1, ty, value, progress: self.progress }
    }

    fn string<S: Serializer>(&self, serializer: S, text: &str) -> Result<S::Ok, S::Error> {
        self.progress.add(text.len());
        serializer.serialize_str(text)
    }

    fn int<S: Serializer>(&self, serializer: S, value: i128) -> Result<S::Ok, S::Error> {
        match i64::try_from(value) {
            Ok(exact) if value.abs() <= EXACT_MAX => serializer.serialize_i64(exact),
            _ => serializer.serialize_str(&value.to_string()),
        }
    }

    fn float<S: Serializer>(&self, serializer: S, value: f64) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            return serializer.serialize_f64(value);
        }
        let at = if self.at.is_empty() { "/" } else { &self.at };
        self.no_form(serializer, format!("{at} is {value}, which JSON has no number for"))
    }

    fn no_form<S: Serializer>(&self, serializer: S, why: String) -> Result<S::Ok, S::Error> {
        self.progress.no_form.get_or_init(|| NoForm { depth: self.depth, why });
        serializer.serialize_unit()
    }

    fn items<'v, S: Serializer>(
        &self,
        serializer: S,
        items: impl Iterator<Item = (&'v Ty, &'v Val)>,
    ) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for (index, (ty, value)) in items.enumerate().take_while(|_| !self.progress.is_over()) {
            list.serialize_element(&self.part(format!("{}/{index}", self.at), ty, value))?;
        }
        list.end()
    }

    fn members<'v, S: Serializer>(
        &self,
        serializer: S,
        members: impl Iterator<Item = (&'v str, Option<(&'v Ty, &'v Val)>)>,
    ) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        for (name, value) in members.take_while(|_| !self.progress.is_over()) {
            self.progress.add(name.len());
            match value {
                Some((ty, value)) => object.serialize_entry(name, &self.part(child(&self.at, name), ty, value))?,
                None => object.serialize_entry(name, &())?,
            }
        }
        object.end()
    }

    fn single<S: Serializer>(
        &self,
        serializer: S,
        name: &str,
        ty: Option<&Ty>,
        value: Option<&Val>,
    ) -> Result<S::Ok, S::Error> {
        self.members(serializer, std::iter::once((name, ty.zip(value))))
    }
}

impl Serialize for TypedValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.progress.add(1);
        match (self.ty, self.value) {
            (_, Val::Bool(value)) => serializer.serialize_bool(*value),
            (_, Val::S8(value)) => self.int(serializer, (*value).into()),
            (_, Val::U8(value)) => self.int(serializer, (*value).into()),
            (_, Val::S16(value)) => self.int(serializer, (*value).into()),
            (_, Val::U16(value)) => self.int(serializer, (*value).into()),
            (_, Val::S32(value)) => self.int(serializer, (*value).into()),
            (_, Val::U32(value)) => self.int(serializer, (*value).into()),
            (_, Val::S64(value)) => self.int(serializer, (*value).into()),
            (_, Val::U64(value)) => self.int(serializer, (*value).into()),
            // Writes the shortest decimal that rounds to this `f32`. The same value as an `f64` would have more digits.
            (_, Val::Float32(value)) => {
                let shortest = value.to_string().parse::<f64>().unwrap_or(f64::from(*value));
                self.float(serializer, if value.is_finite() { shortest } else { f64::from(*value) })
            }
            (_, Val::Float64(value)) => self.float(serializer, *value),
            (_, Val::Char(value)) => self.string(serializer, value.encode_utf8(&mut [0; 4])),
            (_, Val::String(text)) => self.string(serializer, text),
            (Ty::Bytes, Val::List(items)) => {
                let bytes: Vec<u8> =
                    items.iter().filter_map(|item| if let Val::U8(byte) = item { Some(*byte) } else { None }).collect();
                self.string(serializer, &STANDARD.encode(bytes))
            }
            (Ty::List(item), Val::List(items)) | (Ty::Array(item, _), Val::FixedLengthList(items)) => {
                self.items(serializer, items.iter().map(|value| (&**item, value)))
            }
            (Ty::Tuple(types), Val::Tuple(items)) => self.items(serializer, types.iter().zip(items)),
            (Ty::Record(types), Val::Record(fields)) => {
                let mut members: Vec<_> = types.iter().zip(fields).collect();
                // The members are sorted by name, so they are visited in the order in which the text contains them. The
                // first problem that is found is then the first in the text. WIT names are ASCII, so byte order equals
                // the order of RFC 8785.
                members.sort_unstable_by(|((a, _), _), ((b, _), _)| a.cmp(b));
                let members = members.into_iter().map(|((name, ty), (_, value))| (name.as_str(), Some((ty, value))));
                self.members(serializer, members)
            }
            (_, Val::Variant(name, None)) | (_, Val::Enum(name)) => self.string(serializer, name),
            (Ty::Variant(cases), Val::Variant(name, Some(payload))) => {
                let ty = cases.iter().find(|(case, _)| case == name).and_then(|(_, ty)| ty.as_ref());
                self.single(serializer, name, ty, Some(payload))
            }
            (_, Val::Option(None)) => serializer.serialize_unit(),
            (Ty::Option(inner), Val::Option(Some(value))) => match inner.may_be_null() {
                true => self.single(serializer, "some", Some(inner), Some(value)),
                false => TypedValue { at: self.at.clone(), ty: inner, value, ..*self }.serialize(serializer),
            },
            (Ty::Result(ok, _), Val::Result(Ok(value))) => {
                self.single(serializer, "ok", ok.as_deref(), value.as_deref())
            }
            (Ty::Result(_, err), Val::Result(Err(value))) => {
                self.single(serializer, "err", err.as_deref(), value.as_deref())
            }
            (_, Val::Flags(names)) => {
                names.iter().for_each(|name| self.progress.add(name.len()));
                names.serialize(serializer)
            }
            // Unreachable: the engine checks every value against the type from which `ty` was read.
            _ => self.no_form(serializer, format!("{} is not the {} of its type", self.at, self.ty.wit())),
        }
    }
}
