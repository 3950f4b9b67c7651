//! Numbers: conversion of a literal to a double.

use serde_json::Number;

use crate::encoding::canon::{CanonErrorKind, write};
use crate::encoding::truncate;

/// The number 2^53. A double can hold every integer up to this number exactly.
const SAFE_MAX: f64 = 9_007_199_254_740_992.0;
/// Integers with at most this many digits are below 2^53 and need no further check.
const SAFE_DIGITS: usize = 15;
/// Maximum length of a refused literal in a message, in characters.
const SHOWN_DIGITS_MAX: usize = 40;

/// Returns the number that a valid JSON literal denotes. `is_integer` is true if the literal has no dot and no
/// exponent.
pub(super) fn from_literal(literal: &str, is_integer: bool) -> Result<Number, CanonErrorKind> {
    let digits = literal.strip_prefix('-').unwrap_or(literal);
    if is_integer && digits.len() <= SAFE_DIGITS {
        let integer: i64 = literal.parse().expect("at most 15 digits and a sign fit");
        return Ok(integer.into());
    }
    let double: f64 = literal.parse().expect("every JSON number is one for Rust");
    if double.is_infinite() {
        return Err(CanonErrorKind::Overflow(truncated(literal)));
    }
    if is_integer && !is_exact_double(digits, double.abs()) {
        return Err(CanonErrorKind::InexactInteger(truncated(literal)));
    }
    Ok(from_double(double))
}

/// Checks that a double can hold the number exactly. The number may come from any parser.
pub(super) fn check(number: &Number) -> Result<(), CanonErrorKind> {
    if number.is_f64() {
        return Ok(());
    }
    from_literal(&number.to_string(), true).map(|_| ())
}

/// Converts a double to a JSON number. Whole numbers in the safe range become integers, so `1` and `1.0` are equal
/// values.
fn from_double(double: f64) -> Number {
    if double.fract() == 0.0 && double.abs() <= SAFE_MAX {
        return Number::from(double as i64);
    }
    Number::from_f64(double).expect("finite")
}

/// Returns true if `double` represents the integer `digits` exactly, or if RFC 8785 writes `double` as
/// `digits`.
fn is_exact_double(digits: &str, double: f64) -> bool {
    format!("{double:.0}") == digits || write::data_to_canonical(&double) == digits.as_bytes()
}

fn truncated(literal: &str) -> String {
    // A literal of exactly the maximum length also gets the truncation mark, although no digit is removed. Recorded
    // failures contain this text, so it must not change.
    match literal.len() < SHOWN_DIGITS_MAX {
        true => literal.to_owned(),
        false => {
            let start = truncate::at_characters(literal, SHOWN_DIGITS_MAX).start;
            format!("{start}{} ({} characters)", truncate::MARK, literal.len())
        }
    }
}
