//! Serialization of the canonical form.

use std::cmp::Ordering;

use serde_json::Value;

use crate::encoding::canon::number;

/// Returns the canonical form of a value.
///
/// Integers that a double cannot represent are rounded. Values that do not come from [`crate::encoding::canon::parse_strict`]
/// must be checked with [`crate::encoding::canon::check_value`] first.
pub fn value_to_canonical(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => number::write(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::Object(fields) => {
            // The RFC requires keys in the order of UTF-16 code units. A serde_json map sorts its keys by code
            // points, or keeps the insertion order if some crate enables the feature `preserve_order`.
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by(|(a, _), (b, _)| utf16_order(a, b));
            out.push(b'{');
            for (index, (key, field)) in fields.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_string(key, out);
                out.push(b':');
                write(field, out);
            }
            out.push(b'}');
        }
    }
}

/// Compares two strings in the order of their UTF-16 code units, without building the units.
///
/// The first byte that differs decides. The result differs from byte order in one case: this byte belongs to a
/// four-byte character in one string, and to a character from U+E000 to U+FFFF in the other string. A four-byte
/// character is a surrogate pair in UTF-16.
fn utf16_order(a: &str, b: &str) -> Ordering {
    match a.bytes().zip(b.bytes()).find(|(x, y)| x != y) {
        None => a.len().cmp(&b.len()),
        // A lead byte EE or EF begins a character from U+E000 to U+FFFF. A lead byte from F0 begins a character
        // that is a surrogate pair in UTF-16. Its units, D800 to DFFF, are smaller than E000.
        Some((x @ 0xEE..=0xEF, y @ 0xF0..)) | Some((x @ 0xF0.., y @ 0xEE..=0xEF)) => y.cmp(&x),
        Some((x, y)) => x.cmp(&y),
    }
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut start = 0;
    for (index, byte) in bytes.iter().enumerate() {
        if *byte >= 0x20 && *byte != b'"' && *byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[start..index]);
        start = index + 1;
        write_escape(*byte, out);
    }
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0C => b'f',
        b'\r' => b'r',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
