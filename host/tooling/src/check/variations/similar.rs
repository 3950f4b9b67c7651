//! Values that differ in one place and keep their form, as the answer of a tool at another time would.

use serde_json::{Value, json};

use crate::check::variations::places::{places_of, replaced};

/// Returns at most `max` values. In each of them one text, number, truth value or array has another content of the same
/// form: more or fewer lines or words, other words or numbers, as many characters, another number, or another number of
/// elements.
pub(in crate::check) fn similar(value: &Value, max: usize) -> Vec<Value> {
    let places = places_of(value, &Value::Null);
    let others = places.iter().flat_map(|place| {
        let others = others(place.value).into_iter();
        others.filter_map(|other| replaced(value, &place.pointer, Some(other)))
    });
    let mut found: Vec<Value> = Vec::new();
    for other in others.filter(|other| other != value) {
        if found.len() < max && !found.contains(&other) {
            found.push(other);
        }
    }
    found
}

fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => {
            let separator = ['\n', ' '].into_iter().find(|separator| text.trim().contains(*separator)).unwrap_or(' ');
            let trimmed = text.trim_end();
            let shorter = trimmed.rsplit_once(separator).map(|(shorter, _)| shorter.into());
            let last = trimmed.rsplit(separator).next().unwrap_or_default();
            let longer = [trimmed, last].map(|more| format!("{trimmed}{separator}{more}").into());
            let others = [Value::from(with_other_numbers(text)), with_other_words(text).into()];
            let equally_long = of_equal_length(text).into_iter().map(Value::from);
            longer.into_iter().chain(shorter).chain(others).chain(equally_long).collect()
        }
        Value::Number(number) => match number.as_i64() {
            Some(number) => vec![number.saturating_add(1).into(), number.saturating_mul(2).into()],
            None => vec![json!(number.as_f64().unwrap_or_default() + 0.5)],
        },
        Value::Bool(is_true) => vec![(!is_true).into()],
        Value::Array(elements) => match elements.as_slice() {
            [] => vec![],
            [shorter @ .., last] => {
                let longer: Vec<Value> = elements.iter().chain([last]).cloned().collect();
                vec![longer.into(), shorter.into()]
            }
        },
        Value::Null | Value::Object(_) => vec![],
    }
}

/// Returns the text with a greater last digit in each number. The digit 9 becomes 8.
fn with_other_numbers(text: &str) -> String {
    let mut changed: Vec<char> = text.chars().collect();
    for index in 0..changed.len() {
        let is_last = changed.get(index + 1).is_none_or(|next| !next.is_ascii_digit());
        if let (Some(digit), true) = (changed[index].to_digit(10), is_last) {
            changed[index] = if digit == 9 { '8' } else { char::from(b'1' + digit as u8) };
        }
    }
    changed.into_iter().collect()
}

/// Returns the text with a further last word in each line that has several words.
fn with_other_words(text: &str) -> String {
    let changed = text.split_inclusive('\n').map(|line| {
        let words = line.trim_end();
        let more = words.rsplit_once(' ').map_or_else(String::new, |(_, last)| format!(" {last}"));
        format!("{words}{more}{}", &line[words.len()..])
    });
    changed.collect()
}

/// Maximum number of lines of which each is changed by itself.
const LINES_MAX: usize = 6;

/// Returns texts with as many bytes, in which the whole text or one of its first lines is changed.
fn of_equal_length(text: &str) -> Vec<String> {
    let mut changed = with_other_letters(text);
    // A line is continued by the next one, or becomes two lines.
    let with = |index: usize, other: &str| format!("{}{other}{}", &text[..index], &text[index + 1..]);
    let content = text.trim_end();
    let breaks = [content.find('\n'), content.rfind('\n')].into_iter().flatten();
    changed.extend(breaks.map(|index| with(index, " ")));
    changed.extend(content.find(' ').map(|index| with(index, "\n")));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.len() > 1 {
        for (number, line) in lines.iter().enumerate().take(LINES_MAX) {
            let other = with_other_letters(line).into_iter();
            changed.extend(other.map(|line| {
                [&lines[..number].concat(), &line, &lines[number + 1..].concat()].map(String::as_str).concat()
            }));
        }
    }
    changed
}

/// Returns texts with as many bytes: with a blank within the middle word, with a letter in place of the first blank, and
/// with other letters.
fn with_other_letters(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let is_inner = |index: &usize| bytes[*index - 1..=*index + 1].iter().all(u8::is_ascii_alphabetic);
    let inner: Vec<usize> = (1..bytes.len().saturating_sub(1)).filter(is_inner).collect();
    let with = |index: usize, other: &str| format!("{}{other}{}", &text[..index], &text[index + 1..]);
    let split = inner.get(inner.len() / 2).map(|index| with(*index, " "));
    let joined = text.trim_end().find(' ').map(|index| with(index, "x"));
    let next = |c: char| match c {
        'a'..='y' | 'A'..='Y' => char::from(c as u8 + 1),
        other => other,
    };
    split.into_iter().chain(joined).chain([text.chars().map(next).collect()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_values_keep_their_form() {
        let found = similar(&json!({ "text": "1 a\n2 b c\n", "n": 2, "ok": true, "list": [1] }), 100);
        for (name, expected) in [
            ("text", json!("1 a\n2 b c\n2 b c")),
            ("text", json!("1 a")),
            ("n", json!(3)),
            ("ok", json!(false)),
            ("list", json!([1, 1])),
            ("list", json!([])),
        ] {
            assert!(found.iter().any(|one| one[name] == expected), "{name} {expected}: {found:?}");
        }
        let words = ["one two one two", "one two two", "one", "one t o", "onextwo", "pof uxp", "one\ntwo"];
        assert_eq!(similar(&json!("one two"), 100), words.map(Value::from));
        for text in ["", "\u{e9}", "\u{e9} \u{e9}a\u{e9}", "abc\u{e9}", " "] {
            assert!(of_equal_length(text).iter().all(|other| other.len() == text.len()), "{text:?}");
        }
        let found = similar(&json!("tea; 109\nrye bread; 8\n\nend\n"), 100);
        for other in ["tea; 108\nrye bread; 9\n\nend\n", "tea; 109 109\nrye bread; 8 8\n\nend\n"] {
            assert!(found.contains(&json!(other)), "{other}: {found:?}");
        }
        assert_eq!(similar(&json!("one two"), 1).len(), 1);
        let found = of_equal_length("One: a b\nTwo: c\n");
        for other in [
            "One: a b Two: c\n",
            "One:\na b\nTwo: c\n",
            "Pof: b c\nTwo: c\n",
            "One: a b\nUxp: d\n",
            "O e: a b\nTwo: c\n",
            "One: a b\nT o: c\n",
        ] {
            assert!(found.iter().any(|found| found == other), "{other:?}: {found:?}");
        }
    }
}
