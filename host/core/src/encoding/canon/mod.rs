//! Canonical JSON (RFC 8785): exactly one text for each value. Equal values therefore have equal hashes and keys.
//!
//! Ambiguous input is refused: duplicate keys, lone surrogates, numbers beyond the range of a double, and integer
//! literals that a double cannot hold exactly. Decimals round to the nearest double, as the RFC specifies. `1`, `1.0`
//! and `1e0` are the same number.
//!
//! An integer literal is accepted if it is the exact value of a double. It is also accepted if it is the text that the
//! RFC writes for a double, such as `295147905179352830000` for 2^68. Without this second case, some canonical texts
//! would be refused.
//!
//! The crate `serde_json_canonicalizer` writes the canonical form. This module has its own parser. The parser of
//! `serde_json` cannot be used: it keeps the last of two equal keys, rounds integers, reports errors without a byte
//! offset, and has another depth limit.

mod error;
mod number;
mod parse;
pub(crate) mod raw;
mod write;

use std::borrow::Cow;

use serde_json::Value;

#[cfg(test)]
mod tests;

pub use error::{CanonError, CanonErrorKind, JSON_NESTING};
pub use write::{data_to_canonical, value_to_canonical};

/// Returns the canonical form of a JSON text.
///
/// ```
/// let bytes = latchwork_core::encoding::canon::canonicalize(br#"{"b": 1.0, "a": [2e-3]}"#).unwrap();
/// assert_eq!(bytes, br#"{"a":[0.002],"b":1}"#);
/// ```
pub fn canonicalize(text: &[u8]) -> Result<Vec<u8>, CanonError> {
    parse_strict(text).map(|value| value_to_canonical(&value))
}

/// Returns the canonical form of a JSON text. Returns the text itself if it has no canonical form. Arguments are
/// compared in this form.
pub fn canonicalize_or_keep(text: &str) -> Cow<'_, str> {
    match canonicalize(text.as_bytes()) {
        Ok(bytes) => Cow::Owned(String::from_utf8(bytes).expect("canonical JSON is UTF-8")),
        Err(_) => Cow::Borrowed(text),
    }
}

/// Parses a JSON text and refuses a text without a canonical form. Equal canonical forms give equal values. A whole
/// number up to 2^53 becomes an integer, in any notation. All other numbers become doubles.
pub fn parse_strict(text: &[u8]) -> Result<Value, CanonError> {
    let text = std::str::from_utf8(text)
        .map_err(|error| CanonError { offset: error.valid_up_to(), refusal: CanonErrorKind::Utf8 })?;
    parse::Parser::new(text).document()
}

/// Parses a line of an evidence file like [`parse_strict`], but allows eight more levels of nesting. The extra levels
/// are needed because a line contains an event, and an event can contain a plan.
pub(crate) fn parse_record(text: &[u8]) -> Result<Value, CanonError> {
    let text = std::str::from_utf8(text)
        .map_err(|error| CanonError { offset: error.valid_up_to(), refusal: CanonErrorKind::Utf8 })?;
    parse::Parser::new(text).with_extra_depth(8).document()
}

/// Returns the canonical form of a value that was built in code or parsed by another parser.
///
/// # Errors
/// Fails if [`parse_strict`] would refuse the serialized value.
pub fn canonicalize_value(value: &Value) -> Result<String, CanonErrorKind> {
    check_value(value)?;
    Ok(String::from_utf8(value_to_canonical(value)).expect("canonical JSON is UTF-8"))
}

/// Parses a JSON text even if some of its values have no canonical form. Also returns a list of the duplicate keys
/// and of the numbers without a canonical form. If the list is not empty, [`parse_strict`] refuses the text.
pub(crate) fn parse_tolerant(text: &[u8]) -> Result<(Value, Vec<CanonError>), CanonError> {
    let text = std::str::from_utf8(text)
        .map_err(|error| CanonError { offset: error.valid_up_to(), refusal: CanonErrorKind::Utf8 })?;
    parse::Parser::tolerant(text)
}

/// Checks that [`parse_strict`] would accept the serialized `value`. Use this check for values that were built in code
/// or parsed by another parser.
pub fn check_value(value: &Value) -> Result<(), CanonErrorKind> {
    fn check(value: &Value, room: usize) -> Result<(), CanonErrorKind> {
        match value {
            Value::Number(number) => number::check(number),
            Value::Array(_) | Value::Object(_) if room == 0 => Err(CanonErrorKind::TooDeep),
            Value::Array(items) => items.iter().try_for_each(|item| check(item, room - 1)),
            Value::Object(fields) => fields.values().try_for_each(|field| check(field, room - 1)),
            Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
        }
    }
    check(value, JSON_NESTING)
}
