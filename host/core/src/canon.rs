//! Canonical JSON (RFC 8785): one text for one value, so that hashes and keys agree.
//!
//! What has no single meaning is refused rather than guessed: duplicate keys, lone surrogates,
//! numbers beyond the range of a double, and integer literals that a double cannot hold.
//! Decimals round to the nearest double, as the RFC says; `1`, `1.0` and `1e0` are one number.
//!
//! An integer literal is accepted if it is the exact value of a double or is written as the
//! RFC writes that double (`295147905179352830000` for 2^68). Without the second clause a
//! canonical text could itself be refused.

use serde_json::Value;

use crate::error::{Code, Failure};

mod number;
mod parse;
pub(crate) mod raw;
mod write;

#[cfg(test)]
mod tests;

pub use write::value_to_canonical;

/// Objects and arrays may be nested this deep: beyond it no honest payload goes, and every
/// reader down the line (tools in other languages too) can recurse without fear.
pub const DEPTH_MAX: usize = 64;

/// Why a text has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not UTF-8.
    #[error("the text is not valid UTF-8")]
    Utf8,
    /// Not JSON.
    #[error("{0}")]
    Syntax(&'static str),
    /// An object has a key twice.
    #[error("the key {0:?} appears twice in one object; keep one of them")]
    DuplicateKey(String),
    /// Nested deeper than [`DEPTH_MAX`].
    #[error("nested deeper than {DEPTH_MAX} levels")]
    TooDeep,
    /// An integer between two doubles.
    #[error("the integer {0} cannot be held exactly by a double; write it as a string")]
    InexactInteger(String),
    /// A number beyond the largest double.
    #[error("the number {0} is beyond the range of a double; write it as a string")]
    Overflow(String),
    /// Half of a surrogate pair.
    #[error("a \\u escape is half of a surrogate pair, which is no character")]
    LoneSurrogate,
}

/// A refused text: where, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {offset}: {refusal}")]
pub struct CanonError {
    /// Byte offset into the text, from 0.
    pub offset: usize,
    /// What is wrong there.
    pub refusal: Refusal,
}

impl CanonError {
    /// Line and column (both from 1, the column in characters) of the offset in its text.
    pub fn line_column(&self, text: &[u8]) -> (usize, usize) {
        let before = &text[..self.offset.min(text.len())];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        // Continuation bytes are no characters of their own.
        let column = before[line_start..].iter().filter(|byte| **byte & 0xC0 != 0x80).count() + 1;
        (line, column)
    }
}

impl From<CanonError> for Failure {
    fn from(error: CanonError) -> Self {
        Failure::new(Code::InvalidInput, format!("no canonical JSON: {error}"))
    }
}

/// The canonical form of a JSON text.
///
/// ```
/// let bytes = latchwork_core::canon::canonicalize(br#"{"b": 1.0, "a": [2e-3]}"#).unwrap();
/// assert_eq!(bytes, br#"{"a":[0.002],"b":1}"#);
/// ```
pub fn canonicalize(text: &[u8]) -> Result<Vec<u8>, CanonError> {
    parse_strict(text).map(|value| value_to_canonical(&value))
}

/// Parse a JSON text, refusing what has no canonical form. Equal canonical forms give equal
/// values: whole numbers up to 2^53 become integers however they are written, all others doubles.
pub fn parse_strict(text: &[u8]) -> Result<Value, CanonError> {
    let text = std::str::from_utf8(text)
        .map_err(|error| CanonError { offset: error.valid_up_to(), refusal: Refusal::Utf8 })?;
    parse::Parser::new(text).document()
}

/// [`parse_strict`] for lines of evidence files: an event holds a plan, and a line holds the event.
pub(crate) fn parse_record(text: &[u8]) -> Result<Value, CanonError> {
    let text = std::str::from_utf8(text)
        .map_err(|error| CanonError { offset: error.valid_up_to(), refusal: Refusal::Utf8 })?;
    parse::Parser::new(text).deeper(8).document()
}

/// Parse a JSON text of which everything that is wrong is wanted: what has no canonical form but
/// a place in the text is passed over and listed. A text with anything in the list is refused by
/// [`parse_strict`].
pub(crate) fn parse_tolerant(text: &[u8]) -> Result<(Value, Vec<CanonError>), CanonError> {
    let text = std::str::from_utf8(text)
        .map_err(|error| CanonError { offset: error.valid_up_to(), refusal: Refusal::Utf8 })?;
    parse::Parser::tolerant(text)
}

/// Whether [`parse_strict`] would accept what is written of `value`, for values that were
/// built in code or parsed leniently.
pub fn check_value(value: &Value) -> Result<(), Refusal> {
    fn check(value: &Value, room: usize) -> Result<(), Refusal> {
        match value {
            Value::Number(number) => number::check(number),
            Value::Array(_) | Value::Object(_) if room == 0 => Err(Refusal::TooDeep),
            Value::Array(items) => items.iter().try_for_each(|item| check(item, room - 1)),
            Value::Object(fields) => fields.values().try_for_each(|field| check(field, room - 1)),
            Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
        }
    }
    check(value, DEPTH_MAX)
}
