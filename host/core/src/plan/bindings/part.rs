//! Search for a part of an output in the JSON text of the output.
//!
//! Outputs are stored as received, so some of their values may have no canonical form. Only the selected part must
//! have a canonical form.
//!
//! The other parts are skipped as text, because parsing them into values would silently round inexact integers.

use serde_json::value::RawValue;

use crate::encoding::canon::raw;
use crate::encoding::pointer;

/// Returns the text of the part of `output` at the JSON pointer `pointer`, or a message if this part does not exist.
pub(super) fn find<'a>(output: &'a [u8], pointer: &str) -> Result<&'a str, String> {
    let whole: &RawValue =
        serde_json::from_slice(output).map_err(|error| format!("the output is not JSON: {error}"))?;
    let mut text = whole.get();
    let mut walked = String::new();
    for token in pointer::tokens(pointer) {
        let next = pointer::child(&walked, &token);
        let here = std::mem::replace(&mut walked, next);
        let missing = |what: String| format!("the output has nothing at {walked:?}: {what}");
        let found = match text.as_bytes().first() {
            Some(b'{') => field(text, &token).map_err(|error| format!("the object at {here:?}: {error}"))?,
            Some(b'[') => item(text, &token).map_err(|error| format!("the array at {here:?}: {error}"))?,
            _ => return Err(missing(format!("at {here:?} is neither object nor array"))),
        };
        text = found.ok_or_else(|| missing(format!("it ends at {here:?}")))?.get();
    }
    Ok(text)
}

fn item<'a>(array: &'a str, token: &str) -> Result<Option<&'a RawValue>, serde_json::Error> {
    let items = raw::items(array)?;
    Ok(pointer::index(token).and_then(|index| items.get(index).copied()))
}

fn field<'a>(object: &'a str, key: &str) -> Result<Option<&'a RawValue>, String> {
    let fields = raw::fields(object).map_err(|error| error.to_string())?;
    let mut named = fields.into_iter().filter(|(name, _)| name == key).map(|(_, value)| value);
    match (named.next(), named.next()) {
        (_, Some(_)) => Err(format!("the key {key:?} appears twice")),
        (found, None) => Ok(found),
    }
}
