//! Converts JSON to the argument values of a call.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value};
use wasmtime::component::Val;

use latchwork_core::plan::bindings::child;

use crate::engine::untyped::ty::{FunctionSignature, Int, Ty};

/// Maximum number of problems that a message lists.
const PROBLEMS_SHOWN: usize = 5;

impl FunctionSignature {
    /// Converts a JSON object to the values of the parameters.
    ///
    /// # Errors
    /// Every problem, with its JSON pointer.
    pub(super) fn read_arguments(&self, value: &Value) -> Result<Vec<Val>, String> {
        let mut reader = InputReader::default();
        let fields = reader.fields("", &self.params, value);
        reader.end(fields.map(|fields| fields.into_iter().map(|(_, value)| value).collect()))
    }

    /// Checks that a value fits the operator's result type.
    pub(super) fn check_answer(&self, value: &Value) -> Result<(), String> {
        let mut reader = InputReader::default();
        let read = match self.answer_type() {
            Some(ty) => reader.value("", ty, value).map(|_| ()),
            None => reader.payload("", None, value).map(|_| ()),
        };
        reader.end(read)
    }
}

/// Converts values and collects the problems.
#[derive(Default)]
struct InputReader {
    problems: Vec<String>,
    more: usize,
}

impl InputReader {
    fn end<T>(self, value: Option<T>) -> Result<T, String> {
        match value {
            Some(value) if self.problems.is_empty() => Ok(value),
            _ if self.more == 0 => Err(self.problems.join("; ")),
            _ => Err(format!("{}; and {} more", self.problems.join("; "), self.more)),
        }
    }

    fn add_problem<T>(&mut self, at: &str, why: impl std::fmt::Display) -> Option<T> {
        if self.problems.len() < PROBLEMS_SHOWN {
            self.problems.push(format!("{} {why}", if at.is_empty() { "/" } else { at }));
        } else {
            self.more += 1;
        }
        None
    }

    /// Adds a problem that names the kind of the value but not the value, because values may be large or
    /// private.
    fn wrong_type<T>(&mut self, at: &str, wanted: impl std::fmt::Display, found: &Value) -> Option<T> {
        let kind = match found {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        self.add_problem(at, format_args!("is {kind} where {wanted} belongs"))
    }

    fn value(&mut self, at: &str, ty: &Ty, value: &Value) -> Option<Val> {
        match (ty, value) {
            (Ty::Bool, Value::Bool(value)) => Some(Val::Bool(*value)),
            (Ty::Bool, _) => self.wrong_type(at, "true or false", value),
            (Ty::Int(int), _) => self.int(at, *int, value),
            (Ty::F32, Value::Number(number)) => {
                let nearest = number.as_f64().map(|number| number as f32).filter(|number| number.is_finite());
                nearest.map(Val::Float32).or_else(|| self.add_problem(at, "is beyond the range of an f32"))
            }
            (Ty::F64, Value::Number(number)) => {
                number.as_f64().map(Val::Float64).or_else(|| self.add_problem(at, "is beyond the range of an f64"))
            }
            (Ty::F32 | Ty::F64, _) => self.wrong_type(at, "a number", value),
            (Ty::Char, Value::String(text)) => {
                let mut characters = text.chars();
                match (characters.next(), characters.next()) {
                    (Some(character), None) => Some(Val::Char(character)),
                    _ => self.add_problem(at, "is not exactly one character"),
                }
            }
            (Ty::Char, _) => self.wrong_type(at, "a string of one character", value),
            (Ty::String, Value::String(text)) => Some(Val::String(text.clone())),
            (Ty::String, _) => self.wrong_type(at, "a string", value),
            (Ty::Bytes, Value::String(text)) => match STANDARD.decode(text) {
                Ok(bytes) => Some(Val::List(bytes.into_iter().map(Val::U8).collect())),
                Err(_) => self.add_problem(at, "is not base64 with its padding"),
            },
            (Ty::Bytes, _) => self.wrong_type(at, "a string of bytes in base64", value),
            (Ty::List(item), Value::Array(items)) => {
                self.items(at, items.iter().map(|value| (&**item, value))).map(Val::List)
            }
            (Ty::Array(item, len), Value::Array(items)) if items.len() == *len as usize => {
                self.items(at, items.iter().map(|value| (&**item, value))).map(Val::FixedLengthList)
            }
            (Ty::Tuple(types), Value::Array(items)) if items.len() == types.len() => {
                self.items(at, types.iter().zip(items)).map(Val::Tuple)
            }
            (Ty::List(_), _) => self.wrong_type(at, "an array", value),
            (Ty::Array(_, len), _) => self.wrong_type(at, format_args!("an array of {len} items"), value),
            (Ty::Tuple(types), _) => self.wrong_type(at, format_args!("an array of {} items", types.len()), value),
            (Ty::Record(fields), _) => self.fields(at, fields, value).map(Val::Record),
            (Ty::Variant(cases), _) => self.variant(at, cases, value),
            (Ty::Enum(names), Value::String(name)) if names.contains(name) => Some(Val::Enum(name.clone())),
            (Ty::Enum(names), _) => self.wrong_type(at, format_args!("one of {}", names.join(", ")), value),
            (Ty::Option(_), Value::Null) => Some(Val::Option(None)),
            (Ty::Option(inner), _) => {
                let there = match inner.may_be_null() {
                    false => self.value(at, inner, value),
                    true => match single_member(value) {
                        Some(("some", there)) => self.value(&child(at, "some"), inner, there),
                        _ => self.wrong_type(at, "null or {\"some\": …}", value),
                    },
                };
                there.map(|there| Val::Option(Some(Box::new(there))))
            }
            (Ty::Result(ok, err), _) => match single_member(value) {
                Some(("ok", value)) => {
                    self.payload(&child(at, "ok"), ok.as_deref(), value).map(|value| Val::Result(Ok(value)))
                }
                Some(("err", value)) => {
                    self.payload(&child(at, "err"), err.as_deref(), value).map(|value| Val::Result(Err(value)))
                }
                _ => self.wrong_type(at, "{\"ok\": …} or {\"err\": …}", value),
            },
            (Ty::Flags(names), Value::Array(items)) => self.flags(at, names, items),
            (Ty::Flags(_), _) => self.wrong_type(at, "an array of names", value),
        }
    }

    fn int(&mut self, at: &str, int: Int, value: &Value) -> Option<Val> {
        let found = match value {
            Value::Number(number) => integer_value(number),
            Value::String(text) if int.is_wide() => parse_digits(text),
            _ if int.is_wide() => return self.wrong_type(at, "an integer, or a string of its digits,", value),
            _ => return self.wrong_type(at, "an integer", value),
        };
        let Some(found) = found else {
            return self.add_problem(at, format_args!("is not the whole number that a {} is", int.type_name()));
        };
        if !(int.min()..=int.max()).contains(&found) {
            return self.add_problem(at, format_args!("is not between {} and {}", int.min(), int.max()));
        }
        // The casts are safe because the range was checked above.
        Some(match (int.signed, int.bits) {
            (true, 8) => Val::S8(found as i8),
            (true, 16) => Val::S16(found as i16),
            (true, 32) => Val::S32(found as i32),
            (true, _) => Val::S64(found as i64),
            (false, 8) => Val::U8(found as u8),
            (false, 16) => Val::U16(found as u16),
            (false, 32) => Val::U32(found as u32),
            (false, _) => Val::U64(found as u64),
        })
    }

    fn items<'v>(&mut self, at: &str, items: impl Iterator<Item = (&'v Ty, &'v Value)>) -> Option<Vec<Val>> {
        let mut read = Vec::with_capacity(items.size_hint().0);
        let mut all = true;
        for (index, (ty, value)) in items.enumerate() {
            match self.value(&format!("{at}/{index}"), ty, value) {
                Some(value) => read.push(value),
                None => all = false,
            }
        }
        all.then_some(read)
    }

    fn fields(&mut self, at: &str, fields: &[(String, Ty)], value: &Value) -> Option<Vec<(String, Val)>> {
        let Value::Object(members) = value else { return self.wrong_type(at, "an object", value) };
        self.report_unknown_members(at, fields, members);
        let mut read = Vec::with_capacity(fields.len());
        for (name, ty) in fields {
            let value = match members.get(name) {
                Some(value) => self.value(&child(at, name), ty, value),
                None if ty.may_be_null() => Some(Val::Option(None)),
                None => self.add_problem(&child(at, name), format_args!("is missing: {}", ty.wit())),
            };
            read.extend(value.map(|value| (name.clone(), value)));
        }
        (read.len() == fields.len()).then_some(read)
    }

    fn report_unknown_members(&mut self, at: &str, fields: &[(String, Ty)], members: &Map<String, Value>) {
        let known: std::collections::BTreeSet<_> = fields.iter().map(|(name, _)| name.as_str()).collect();
        for name in members.keys().filter(|name| !known.contains(name.as_str())) {
            let meant = latchwork_core::encoding::suggest::did_you_mean(name, known.iter().copied());
            self.add_problem::<()>(&child(at, name), format_args!("is not known{meant}"));
        }
    }

    fn variant(&mut self, at: &str, cases: &[(String, Option<Ty>)], value: &Value) -> Option<Val> {
        let found = match value {
            Value::String(name) => {
                cases.iter().find(|(case, ty)| case == name && ty.is_none()).map(|case| (case, None))
            }
            _ => single_member(value).and_then(|(name, payload)| {
                let case = cases.iter().find(|(case, ty)| case == name && ty.is_some())?;
                Some((case, Some(payload)))
            }),
        };
        match found {
            None => {
                let forms = cases.iter().map(|(name, ty)| match ty {
                    None => format!("{name:?}"),
                    Some(_) => format!("{{{name:?}: …}}"),
                });
                self.wrong_type(at, format_args!("one of {}", forms.collect::<Vec<_>>().join(", ")), value)
            }
            Some(((name, Some(ty)), Some(payload))) => {
                let payload = self.value(&child(at, name), ty, payload)?;
                Some(Val::Variant(name.clone(), Some(Box::new(payload))))
            }
            Some(((name, _), _)) => Some(Val::Variant(name.clone(), None)),
        }
    }

    fn payload(&mut self, at: &str, ty: Option<&Ty>, value: &Value) -> Option<Option<Box<Val>>> {
        match (ty, value) {
            (Some(ty), value) => self.value(at, ty, value).map(|value| Some(Box::new(value))),
            (None, Value::Null) => Some(None),
            (None, _) => self.wrong_type(at, "null", value),
        }
    }

    fn flags(&mut self, at: &str, names: &[String], items: &[Value]) -> Option<Val> {
        let mut set = std::collections::BTreeSet::new();
        let mut all = true;
        for (index, item) in items.iter().enumerate() {
            let at = format!("{at}/{index}");
            let named = item.as_str().and_then(|name| names.iter().position(|known| known == name));
            all &= match named {
                None => self.wrong_type(&at, format_args!("one of {}", names.join(", ")), item),
                Some(flag) if !set.insert(flag) => self.add_problem(&at, "is there twice"),
                Some(_) => Some(()),
            }
            .is_some();
        }
        all.then(|| Val::Flags(set.into_iter().map(|flag| names[flag].clone()).collect()))
    }
}

/// Returns name and value of an object's only member, or `None` for any other value.
fn single_member(value: &Value) -> Option<(&str, &Value)> {
    let members = value.as_object().filter(|members| members.len() == 1)?;
    members.iter().next().map(|(name, value)| (name.as_str(), value))
}

/// Converts a number if it is an integer in any notation, such as `1.0`.
fn integer_value(number: &Number) -> Option<i128> {
    let exact = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    // Numbers of 1e30 or more fit no integer type. Below this bound, the cast to `i128` is exact.
    exact.or_else(|| number.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 1e30).map(|f| f as i128))
}

/// Parses decimal digits without leading zeros.
fn parse_digits(text: &str) -> Option<i128> {
    let positive = text.strip_prefix('-').unwrap_or(text);
    let plain = !positive.is_empty() && positive.len() <= 20 && positive.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = text == "0" || !positive.starts_with('0');
    if plain && canonical { text.parse().ok() } else { None }
}
