//! A line of an evidence file: a canonical JSON object that contains its own number and the hash of its other fields.
//! A changed, missing, duplicated or moved line is therefore detected at its place.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::encoding::{canon, truncate};
use crate::model::ids::Hash;

/// Returns a line with the given fields and three more: `record`, the kind of the record; `line`, the number of the
/// line from 1; and `sum`, the SHA-256 of the canonical object without `sum`.
pub(super) fn seal(record: &str, number: u64, fields: &impl Serialize) -> Vec<u8> {
    let value = serde_json::to_value(fields).expect("a record is plain data");
    let Value::Object(mut object) = value else { unreachable!("a record is an object") };
    object.insert("record".to_owned(), record.into());
    object.insert("line".to_owned(), number.into());
    let sum = Hash::of(&[&canon::value_to_canonical(&Value::Object(object.clone()))]);
    object.insert("sum".to_owned(), sum.to_hex().into());
    canon::value_to_canonical(&Value::Object(object))
}

/// Returns the line of an event. Copies the event's bytes exactly as they were hashed.
pub(super) fn seal_event(number: u64, event: &[u8], hash: &Hash, prev_hash: &Hash) -> Vec<u8> {
    let mut text = b"{\"event\":".to_vec();
    text.extend_from_slice(event);
    let rest = format!(",\"hash\":\"{hash}\",\"line\":{number},\"prev_hash\":\"{prev_hash}\",\"record\":\"event\"");
    text.extend_from_slice(rest.as_bytes());
    let sum = Hash::of(&[&text, b"}"]);
    text.extend_from_slice(format!(",\"sum\":\"{sum}\"}}").as_bytes());
    text
}

/// A line whose sum is correct.
#[derive(Clone, Debug)]
pub(super) struct EvidenceLine {
    /// Line number stated in the line itself.
    pub(super) number: u64,
    /// Kind of the record, such as `event`.
    pub(super) record: String,
    /// All other fields of the line.
    pub(super) fields: Map<String, Value>,
}

/// Reason why a line is damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Damage {
    pub(super) what: String,
    pub(super) expected: String,
    pub(super) found: String,
}

/// Parses a line and checks the line against its own sum.
pub(super) fn open(text: &[u8]) -> Result<EvidenceLine, Damage> {
    let damage = |what: String, expected: &str, found: String| Damage { what, expected: expected.to_owned(), found };
    let value = canon::parse_record(text).map_err(|error| {
        let what = format!("byte {} of the line: {}", error.offset + 1, error.refusal);
        damage(what, "one JSON object", excerpt(text))
    })?;
    let canonical = canon::value_to_canonical(&value);
    if canonical != text {
        let at = canonical.iter().zip(text).take_while(|(a, b)| a == b).count();
        let what = format!("byte {} of the line: it is not canonical JSON (RFC 8785)", at + 1);
        return Err(damage(what, &excerpt(&canonical[at..]), excerpt(&text[at..])));
    }
    let Value::Object(mut fields) = value else {
        return Err(damage("the line is not an object".to_owned(), "one JSON object", excerpt(text)));
    };
    let recorded = fields.remove("sum").as_ref().and_then(Value::as_str).map(str::to_owned).unwrap_or_default();
    let sum = Hash::of(&[&canon::value_to_canonical(&Value::Object(fields.clone()))]).to_hex();
    if sum != recorded {
        return Err(damage("the line does not match its sum".to_owned(), &recorded, sum));
    }
    let number = fields.remove("line").as_ref().and_then(Value::as_u64);
    let record = fields.remove("record").as_ref().and_then(Value::as_str).map(str::to_owned);
    match (number, record) {
        (Some(number), Some(record)) => Ok(EvidenceLine { number, record, fields }),
        _ => Err(damage("the line has no field `line` or no field `record`".to_owned(), "both", excerpt(text))),
    }
}

/// Returns the beginning of a text, escaped for display.
pub(super) fn excerpt(text: &[u8]) -> String {
    const BYTES_MAX: usize = 120;
    let text = String::from_utf8_lossy(text);
    let truncated = truncate::at_bytes(&text, BYTES_MAX);
    let mut displayed = truncated.start.escape_debug().to_string();
    if truncated.is_truncated {
        displayed.push(truncate::MARK);
    }
    displayed
}

/// Known values of `schema` in the header, oldest first. A change of the format adds a number.
///
/// Only a file in the second format may have events of version 3. In both formats the job's row refers to the request in
/// the same way as the first event does: by `request_key` or by `request_mac`.
pub const SCHEMAS: [&str; 2] = ["latchwork.evidence/1", "latchwork.evidence/2"];
