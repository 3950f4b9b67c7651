//! Numbers: literal to double, and double to the text of RFC 8785.

use serde_json::Number;

use super::Refusal;

/// Up to 2^53 every integer is a double.
const SAFE_MAX: f64 = 9_007_199_254_740_992.0;
/// Integers of so many digits are below 2^53 and need no second look.
const SAFE_DIGITS: usize = 15;
/// How much of a refused literal a message shows.
const SHOWN_DIGITS_MAX: usize = 40;

/// The number that a valid JSON literal denotes; `is_integer` if it has neither dot nor exponent.
pub(super) fn from_literal(literal: &str, is_integer: bool) -> Result<Number, Refusal> {
    let digits = literal.strip_prefix('-').unwrap_or(literal);
    if is_integer && digits.len() <= SAFE_DIGITS {
        let integer: i64 = literal.parse().expect("at most 15 digits and a sign fit");
        return Ok(integer.into());
    }
    let double: f64 = literal.parse().expect("every JSON number is one for Rust");
    if double.is_infinite() {
        return Err(Refusal::Overflow(shown(literal)));
    }
    if is_integer && !is_held(digits, double.abs()) {
        return Err(Refusal::InexactInteger(shown(literal)));
    }
    Ok(from_double(double))
}

/// Whether a number that came from elsewhere is the text of a double.
pub(super) fn check(number: &Number) -> Result<(), Refusal> {
    if number.is_f64() {
        return Ok(());
    }
    from_literal(&number.to_string(), true).map(|_| ())
}

/// Append the shortest text that reads back as `number`, in the form of ECMAScript.
pub(super) fn write(number: &Number, out: &mut Vec<u8>) {
    let double = number.as_f64().expect("without arbitrary precision every number has a double");
    out.extend_from_slice(ryu_js::Buffer::new().format_finite(double).as_bytes());
}

/// Whole numbers in the safe range become integers, so that `1` and `1.0` are equal values.
fn from_double(double: f64) -> Number {
    if double.fract() == 0.0 && double.abs() <= SAFE_MAX {
        return Number::from(double as i64);
    }
    Number::from_f64(double).expect("finite")
}

/// Whether the integer `digits` is `double`, either exactly or as the RFC writes it.
fn is_held(digits: &str, double: f64) -> bool {
    format!("{double:.0}") == digits || ryu_js::Buffer::new().format_finite(double) == digits
}

fn shown(literal: &str) -> String {
    match literal.get(..SHOWN_DIGITS_MAX) {
        Some(start) => format!("{start}… ({} characters)", literal.len()),
        None => literal.to_owned(),
    }
}
