//! Values whose texts an identifier can confuse: texts in letters that it leaves out, and texts that are equal when they are
//! joined.

use serde_json::Value;

use crate::check::variations::places::{Place, places_of, replaced};

/// First lower and upper letters of two alphabets. Each has 26 letters in a row. None of them has a diacritic, so none
/// becomes another letter without it.
const ARMENIAN: [u32; 2] = [0x561, 0x531];
const GEORGIAN: [u32; 2] = [0x10d0, 0x1c90];

/// Returns the value with other Latin letters, with Armenian letters, and with Georgian letters. Texts that differ stay
/// different. Texts for which the schema does not allow such letters stay. Returns `None` if all texts stay.
pub(in crate::check) fn in_other_letters(
    value: &Value,
    schema: &Value,
    is_allowed: impl Fn(&Value) -> bool,
) -> Option<[Value; 3]> {
    let next = |letter: u8, first: u8| char::from(first + (letter - first + 1) % 26);
    let latin = |letter: u8| next(letter, if letter.is_ascii_lowercase() { b'a' } else { b'A' });
    let of = |[lower, upper]: [u32; 2]| {
        move |letter: u8| {
            let (first, other) = if letter.is_ascii_lowercase() { (b'a', lower) } else { (b'A', upper) };
            char::from_u32(other + u32::from(letter - first)).expect("the alphabets have 26 letters in a row")
        }
    };
    let with = |other: &dyn Fn(u8) -> char, text: &str| -> String {
        let letter = |c: char| if c.is_ascii_alphabetic() { other(c as u8) } else { c };
        text.chars().map(letter).collect()
    };
    let mut varied = [value.clone(), value.clone(), value.clone()];
    for place in places_of(value, schema) {
        let (Value::String(text), false) = (place.value, place.schema.is_fixed()) else { continue };
        let others = [with(&latin, text), with(&of(ARMENIAN), text), with(&of(GEORGIAN), text)];
        let changed = |(value, other): (&Value, &String)| {
            replaced(value, &place.pointer, Some(other.as_str().into())).filter(&is_allowed)
        };
        if let Some(all) = varied.iter().zip(&others).map(changed).collect::<Option<Vec<_>>>() {
            varied = all.try_into().expect("three values");
        }
    }
    (varied[1] != varied[2]).then_some(varied)
}

/// A value in which a letter has moved from one text to another text of the same object.
pub(in crate::check) struct MovedLetter {
    pub(in crate::check) what: String,
    /// Both texts are changed.
    pub(in crate::check) both: Value,
    /// Only the first text is changed.
    pub(in crate::check) first: Value,
    /// Only the second text is changed.
    pub(in crate::check) second: Value,
}

/// Returns values in which the first letter of one text is the last letter of another text, or the reverse. Integers count
/// as texts of their digits. Returns at most `max` values.
pub(in crate::check) fn moved_letters(
    value: &Value,
    schema: &Value,
    max: usize,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<MovedLetter> {
    let places = places_of(value, schema);
    let texts: Vec<(&Place<'_>, String)> = places.iter().filter_map(|place| Some((place, text_of(place)?))).collect();
    let parent = |place: &Place<'_>| place.pointer.rsplit_once('/').map(|(parent, _)| parent.to_owned());
    let mut found = Vec::new();
    for (first, first_text) in &texts {
        for (second, second_text) in &texts {
            if found.len() == max {
                return found;
            }
            if first.pointer == second.pointer || parent(first) != parent(second) {
                continue;
            }
            for (one, other) in splits(first_text, second_text) {
                let (one, other) = (like(first.value, &one), like(second.value, &other));
                let (Some(one), Some(other)) = (one, other) else { continue };
                let with = |pointer: &str, text: &Value| replaced(value, pointer, Some(text.clone()));
                let both =
                    with(&first.pointer, &one).and_then(|one| replaced(&one, &second.pointer, Some(other.clone())));
                let singles = (with(&first.pointer, &one), with(&second.pointer, &other));
                if let (Some(both), (Some(of_first), Some(of_second))) = (both.filter(&is_allowed), singles)
                    && is_allowed(&of_first)
                    && is_allowed(&of_second)
                {
                    let what = format!("{one} at {:?} and {other} at {:?}", first.pointer, second.pointer);
                    found.push(MovedLetter { what, both, first: of_first, second: of_second });
                    break;
                }
            }
        }
    }
    found
}

/// Two values that differ in the place of a separator between two texts of one object.
pub(in crate::check) struct MovedSeparator {
    pub(in crate::check) what: String,
    /// The separator is at the end of the first text, or at the beginning of the second one.
    pub(in crate::check) both: [Value; 2],
}

/// Returns values in which a separator that a key puts between two texts is in one text or in the next one. The first text of
/// the value contains the separator, too. `keys` are the keys of the value.
/// Returns at most `max` values.
pub(in crate::check) fn moved_separators(
    value: &Value,
    schema: &Value,
    keys: &[&str],
    max: usize,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<MovedSeparator> {
    let places = places_of(value, schema);
    let is_text = |place: &&Place<'_>| place.value.is_string() && !place.schema.is_fixed();
    let texts: Vec<&Place<'_>> = places.iter().filter(is_text).collect();
    let parent = |place: &Place<'_>| place.pointer.rsplit_once('/').map(|(parent, _)| parent.to_owned());
    let mut found = Vec::new();
    for first in &texts {
        for second in &texts {
            if first.pointer == second.pointer || parent(first) != parent(second) || found.len() == max {
                continue;
            }
            let (one, other) = (first.value.as_str().unwrap_or_default(), second.value.as_str().unwrap_or_default());
            let separator = keys.iter().find_map(|key| separator(key, one, other));
            let Some(separator) = separator.filter(|separator| is_in_name(one, separator)) else { continue };
            let with = |one: String, other: String| {
                let value = replaced(value, &first.pointer, Some(one.into()))?;
                replaced(&value, &second.pointer, Some(other.into())).filter(&is_allowed)
            };
            let both = [
                with(format!("{one}{separator}1"), other.to_owned()),
                with(one.to_owned(), format!("1{separator}{other}")),
            ];
            if let [Some(before), Some(after)] = both {
                let what = format!("{separator:?} in the text at {:?} or at {:?}", first.pointer, second.pointer);
                found.push(MovedSeparator { what, both: [before, after] });
            }
        }
    }
    found
}

/// Returns true if a text contains the separator and is no number or date.
fn is_in_name(text: &str, separator: &str) -> bool {
    text.contains(separator) && text.chars().any(char::is_alphabetic)
}

/// Returns the separator that a key has between two texts: at most three characters, and no letter, digit or quotation mark.
fn separator<'k>(key: &'k str, one: &str, other: &str) -> Option<&'k str> {
    if one.is_empty() || other.is_empty() {
        return None;
    }
    let after = &key[key.find(one)? + one.len()..];
    let between = &after[..after.find(other)?];
    let is_separator = |c: char| !c.is_alphanumeric() && c != '"';
    (!between.is_empty() && between.len() <= 3 && between.chars().all(is_separator)).then_some(between)
}

fn text_of(place: &Place<'_>) -> Option<String> {
    match place.value {
        Value::String(text) if !place.schema.is_fixed() && !text.is_empty() => Some(text.clone()),
        Value::Number(number) => number.as_u64().map(|number| number.to_string()),
        _ => None,
    }
}

/// Returns the text as a value of the same type.
fn like(value: &Value, text: &str) -> Option<Value> {
    match value {
        Value::Number(_) if text.starts_with('0') && text != "0" => None,
        Value::Number(_) => text.parse::<u64>().ok().map(Value::from),
        _ => Some(text.into()),
    }
}

/// Returns the two texts after a letter has moved between them, in both directions. Neither text becomes empty.
fn splits(first: &str, second: &str) -> Vec<(String, String)> {
    let forward = second.chars().next().map(|c| (format!("{first}{c}"), second[c.len_utf8()..].to_owned()));
    let back = first.chars().last().map(|c| (first[..first.len() - c.len_utf8()].to_owned(), format!("{c}{second}")));
    let is_possible = |(one, other): &(String, String)| {
        let is_text = |text: &String| !text.is_empty() && text.trim() == text;
        is_text(one) && is_text(other)
    };
    forward.into_iter().chain(back).filter(is_possible).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_get_other_letters_where_the_schema_allows_them() {
        let value = json!({ "name": "Ada 1", "code": "x2", "kind": "a" });
        let schema = json!({ "properties": { "kind": { "enum": ["a"] } } });
        let is_allowed = |value: &Value| value["code"].as_str().is_some_and(|code| code.is_ascii());
        let found = in_other_letters(&value, &schema, is_allowed).unwrap();
        assert_eq!(found[0], json!({ "name": "Beb 1", "code": "x2", "kind": "a" }));
        assert_eq!((&found[1]["name"], &found[2]["name"]), (&json!("Ադա 1"), &json!("Ადა 1")));
        assert_eq!(in_other_letters(&json!({ "code": "x2" }), &Value::Null, is_allowed), None);
    }

    #[test]
    fn separator_moves_between_texts() {
        let value = json!({ "row": "A-b", "seat": "7", "kind": "x" });
        let found = moved_separators(&value, &Value::Null, &["show/A-b-7"], 10, |_| true);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].both[0], json!({ "row": "A-b-1", "seat": "7", "kind": "x" }));
        assert_eq!(found[0].both[1], json!({ "row": "A-b", "seat": "1-7", "kind": "x" }));
        for key in ["A-b7", "[\"A-b\",\"7\"]", "A-b and 7", "7-A-b", "A-b/7"] {
            assert!(moved_separators(&value, &Value::Null, &[key], 10, |_| true).is_empty(), "{key}");
        }
        assert!(moved_separators(&value, &Value::Null, &["A-b-7"], 10, |value| value["row"] == "A-b").is_empty());
        let date = json!({ "day": "2026-01-05", "seat": "7" });
        assert!(moved_separators(&date, &Value::Null, &["2026-01-05-7"], 10, |_| true).is_empty());
    }

    #[test]
    fn letter_moves_between_texts_and_integers_of_an_object() {
        let value = json!({ "building": 7, "locker": "214", "place": { "hall": "a" } });
        let found = moved_letters(&value, &Value::Null, 10, |_| true);
        let both: Vec<[&Value; 2]> = found.iter().map(|one| [&one.both["building"], &one.both["locker"]]).collect();
        assert_eq!(both, [[&json!(72), &json!("14")], [&json!(47), &json!("21")]]);
        assert_eq!([&found[0].first["locker"], &found[0].second["building"]], [&json!("214"), &json!(7)]);
        assert!(moved_letters(&value, &Value::Null, 10, |value| value["building"] == 7).is_empty());
    }
}
