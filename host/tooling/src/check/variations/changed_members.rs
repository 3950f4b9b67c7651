//! Another value of one member of an input.

use serde_json::Value;

use crate::check::variations::places::{places_of, replaced};

/// Returns copies of an input in which one text or number is another one of the same form. `is_chosen` receives the name of
/// its member. Members within arrays stay.
pub(in crate::check) fn changed_members(
    input: &Value,
    schema: &Value,
    is_chosen: impl Fn(&str) -> bool,
    is_allowed: impl Fn(&Value) -> bool,
) -> Vec<Value> {
    let in_array = |pointer: &str| pointer.split('/').any(|part| part.parse::<usize>().is_ok());
    let places = places_of(input, schema);
    let chosen = places.iter().filter(|place| {
        let name = place.pointer.rsplit('/').next().unwrap_or_default();
        !in_array(&place.pointer) && is_chosen(name)
    });
    let changed = chosen.filter_map(|place| {
        let other = match place.value {
            Value::String(text) => Value::from(other_text(text)?),
            Value::Number(number) => Value::from(number.as_i64()?.checked_add(1)?),
            _ => return None,
        };
        replaced(input, &place.pointer, Some(other))
    });
    changed.filter(is_allowed).collect()
}

/// Returns a text with another last digit or letter.
fn other_text(text: &str) -> Option<String> {
    let (at, last) = text.char_indices().rfind(|(_, c)| c.is_ascii_alphanumeric())?;
    let other = match last {
        '0'..='8' | 'a'..='e' | 'A'..='E' => char::from(last as u8 + 1),
        '9' => '0',
        'f'..='z' => {
            if last == 'k' {
                'm'
            } else {
                'k'
            }
        }
        _ => {
            if last == 'K' {
                'M'
            } else {
                'K'
            }
        }
    };
    Some(format!("{}{other}{}", &text[..at], &text[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_member_is_another_one() {
        let input =
            serde_json::json!({ "order": { "id": "ORD-79" }, "no": 17, "lines": [{ "id": "a" }], "word": "tea" });
        let changed = changed_members(&input, &Value::Bool(true), |name| name != "word", |_| true);
        let has = |pointer: &str, value: Value| changed.iter().any(|one| one.pointer(pointer) == Some(&value));
        assert!(has("/order/id", "ORD-70".into()) && has("/no", 18.into()) && changed.len() == 2);
    }
}
