//! D074: addresses that leave a step. An address is recognized by its form, or because it moves with the memory.

use serde_json::Value;

use crate::check::dynamic::baseline::CaseBaseline;
use crate::check::dynamic::trace::{FirstDifference, HostCall, RunEnd, Trace};
use crate::check::finding::Finding;

/// Minimum number of digits of an address in hexadecimal form.
const DIGITS_MIN: usize = 4;
/// Minimum value of an address. The first page of memory is not used.
const ADDRESS_MIN: u64 = 1_024;
/// Minimum value of a printed pointer, which is the size of a page of memory.
const POINTER_MIN: u64 = 65_536;
/// A printed multiple of this number is rather a computed number, such as a place in a file, than the address of an object.
const BLOCK: u64 = 4_096;
/// Alignment of the objects whose addresses are compared.
const ALIGNMENT: u64 = 4;

/// Advice of every finding.
const HINT: &str = "an object has another address in every build: name it by its content or by its place in the input";

/// Returns the finding about a difference if its two values are addresses, in hexadecimal form or as numbers. `host`
/// names the run that differs.
pub(super) fn moved(ran: &CaseBaseline<'_>, host: &str, difference: &FirstDifference) -> Option<Finding> {
    let (one, two) = (difference.expected.as_str(), difference.found.as_str());
    if are_places(one, two, ran.base.memory_bytes) {
        return Some(finding(ran, host, difference));
    }
    moved_hex(ran, host, difference)
}

/// Like [`moved`], but only for the hexadecimal form. Used to compare two builds, because a number that differs between
/// two builds need not be an address.
pub(super) fn moved_hex(ran: &CaseBaseline<'_>, host: &str, difference: &FirstDifference) -> Option<Finding> {
    differ_in_hex(&difference.expected, &difference.found).then(|| finding(ran, host, difference))
}

fn finding(ran: &CaseBaseline<'_>, host: &str, difference: &FirstDifference) -> Finding {
    let message = format!("{host}, {} has another address", difference.what);
    ran.finding("D074", message).values(&difference.expected, &difference.found).hint(HINT)
}

/// Returns the finding about a run that shows an address: in the form of Python, such as `<object at 0x4c0700>`, or a printed
/// pointer, such as `{Note:0x391040}` or `[0x391040 0x391080]`.
pub(super) fn displayed_address(ran: &CaseBaseline<'_>) -> Option<Finding> {
    let given = || ran.script.answers.iter().filter_map(|given| given.answer.as_ref().ok()).chain([&ran.script.input]);
    // The number of a character in hexadecimal form is no address.
    let is_character = |address: &str| {
        let number = u32::from_str_radix(address.trim_start_matches("0x"), 16).ok();
        number.and_then(char::from_u32).is_some_and(|c| given().any(|given| given.contains(c)))
    };
    let is_given = |address: &str| is_character(address) || given().any(|given| given.contains(address));
    let found = texts(&ran.base).into_iter().find_map(|(place, text)| {
        let address_in = |text: &String| {
            let address = python_address(text).or_else(|| pointer(text, ran.base.memory_bytes))?;
            (!is_given(address)).then(|| address.to_owned())
        };
        Some((place, strings_of(text).iter().find_map(address_in)?))
    });
    let (place, address) = found?;
    let message = format!("{place} shows the address of an object: {address}");
    Some(ran.finding("D074", message).hint(HINT))
}

/// Returns the texts that leave the step.
fn texts(trace: &Trace) -> Vec<(String, &str)> {
    let mut texts: Vec<(String, &str)> = Vec::new();
    for asked in &trace.asked {
        texts.push(match asked {
            HostCall::Call { operator, args, .. } => (format!("a call of {operator}"), args.as_str()),
            HostCall::Emit { name, payload } => (format!("the event {name:?}"), payload.as_str()),
        });
    }
    match &trace.ended {
        RunEnd::Output(output) => texts.push(("its output".to_owned(), output)),
        RunEnd::Failed(failure) => texts.push(("its error".to_owned(), &failure.message)),
        RunEnd::Fault(_) | RunEnd::Stopped => {}
    }
    texts
}

/// Returns the strings and the names of members of a JSON text. Returns a text that is no JSON as it is.
fn strings_of(text: &str) -> Vec<String> {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return vec![text.to_owned()] };
    let (mut pending, mut strings) = (vec![value], vec![]);
    while let Some(value) = pending.pop() {
        match value {
            Value::String(text) => strings.push(text),
            Value::Array(elements) => pending.extend(elements),
            Value::Object(members) => {
                for (name, value) in members {
                    strings.push(name);
                    pending.push(value);
                }
            }
            _ => {}
        }
    }
    strings
}

/// Returns the address in a text such as `<object at 0x4c0700>`.
fn python_address(text: &str) -> Option<&str> {
    text.match_indices(" at 0x").find_map(|(start, before)| {
        let rest = &text[start + before.len()..];
        let digits = hex_digits(rest);
        (digits >= DIGITS_MIN && rest[digits..].starts_with('>'))
            .then(|| &text[start + 4..start + before.len() + digits])
    })
}

/// Returns the pointer into a memory of this size that a text contains within other text.
fn pointer(text: &str, memory_bytes: u64) -> Option<&str> {
    text.match_indices("0x").find_map(|(start, before)| {
        let rest = &text[start + before.len()..];
        let digits = hex_digits(rest);
        let address = u64::from_str_radix(rest.get(..digits).filter(|digits| !digits.starts_with('0'))?, 16).ok()?;
        // A number after a blank can be any number, except within braces, as in the text of a struct.
        let is_in_braces = text[..start].matches('{').count() > text[..start].matches('}').count();
        let is_within = text[..start].ends_with([':', '{', '(', '[']) || text[..start].ends_with(' ') && is_in_braces;
        let is_lower = !rest[..digits].bytes().any(|digit| digit.is_ascii_uppercase());
        let is_object = address.is_multiple_of(ALIGNMENT) && !address.is_multiple_of(BLOCK);
        let is_place = is_object && (POINTER_MIN..memory_bytes).contains(&address);
        (is_within && is_lower && is_place).then(|| &text[start..start + before.len() + digits])
    })
}

fn hex_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_hexdigit).count()
}

/// Returns true if the texts differ, but only in hexadecimal numbers with the prefix `0x`.
fn differ_in_hex(one: &str, two: &str) -> bool {
    one != two && without_hex(one).is_some_and(|text| Some(text) == without_hex(two))
}

/// Returns the text with every hexadecimal number replaced, or `None` if there is none.
fn without_hex(text: &str) -> Option<String> {
    let (mut out, mut rest, mut is_found) = (String::new(), text, false);
    while let Some((before, after)) = rest.split_once("0x") {
        let digits = hex_digits(after);
        is_found |= digits >= DIGITS_MIN;
        out.push_str(before);
        out.push_str(if digits >= DIGITS_MIN { "0x" } else { "0x." });
        rest = &after[if digits >= DIGITS_MIN { digits } else { 0 }..];
    }
    out.push_str(rest);
    is_found.then_some(out)
}

/// Returns true if both texts are numbers that can be addresses of the same object in two layouts of this memory.
fn are_places(one: &str, two: &str, memory_bytes: u64) -> bool {
    let number = |text: &str| text.trim_matches('"').parse::<u64>().ok();
    let place = |text: &str| number(text).filter(|place| (ADDRESS_MIN..memory_bytes).contains(place));
    match (place(one), place(two)) {
        (Some(one), Some(two)) => one != two && one.abs_diff(two).is_multiple_of(ALIGNMENT),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I216: addresses are distinguished from other values.
    #[test]
    fn addresses_are_distinguished_from_other_values() {
        assert_eq!(python_address("<a.B object at 0x4c0700> and more"), Some("0x4c0700"));
        assert_eq!(python_address("<function f at 0xAB12>"), Some("0xAB12"));
        for text in ["it starts at 0x4c0700", "<at 0x4c0700>", "< at 0x4c>", "#4c0700", " at 0x"] {
            assert_eq!(python_address(text), None, "{text}");
        }
        assert_eq!(pointer("bad line {SKU:b Note:0x391040}", 1 << 24), Some("0x391040"));
        assert_eq!(pointer("{b 0x391040}", 1 << 24), Some("0x391040"));
        assert_eq!(pointer("2 open: [0x391040 0x391080]", 1 << 24), Some("0x391040"));
        assert_eq!(pointer("{Note:0x391040}", 0x391040), None);
        for text in [
            "{Note:0x391041}",
            "#\"0x391040\"",
            "{Note:0x391AC0}",
            "{Note:0x0391040}",
            "{Note:0xc}",
            "{a} 0x391040",
            "[0x30000]",
        ] {
            assert_eq!(pointer(text, 1 << 24), None, "{text}");
        }
        let strings = strings_of("{\"text\":\"Text 0x4c0700\",\"list\":[\"a\",1]}");
        assert!(strings.iter().all(|text| pointer(text, 1 << 24).is_none()) && strings.len() == 4, "{strings:?}");
        assert_eq!(strings_of("{no json}"), ["{no json}"]);
        assert!(differ_in_hex("node 0x10340 of 0x10350", "node 0x20340 of 0x20350"));
        assert!(differ_in_hex("0xc000", "0x1c0008"));
        for (one, two) in [("0x10340", "0x10340"), ("a 0x10340", "b 0x10341"), ("0x1", "0x2"), ("12", "13"), ("", "")] {
            assert!(!differ_in_hex(one, two), "{one} {two}");
        }
        assert!(are_places("65536", "67568", 1 << 20) && are_places("\"65536\"", "\"65540\"", 1 << 20));
        for (one, two) in [("1", "2"), ("65536", "65537"), ("65536", "9999999999"), ("65536", "x"), ("65536", "65536")]
        {
            assert!(!are_places(one, two, 1 << 20), "{one} {two}");
        }
    }
}
