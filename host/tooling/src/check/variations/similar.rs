//! Values that differ in one place and keep their form, as the answer of a tool at another time would.

use serde_json::{Value, json};

use crate::check::variations::places::{places_of, replaced};

/// Returns at most `max` values. In each of them one text, number, truth value or array has another content of the same
/// form: more or fewer lines or words, another number, or another number of elements.
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
            longer.into_iter().chain(shorter).collect()
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
        assert_eq!(similar(&json!("one two"), 100), [json!("one two one two"), json!("one two two"), json!("one")]);
        assert_eq!(similar(&json!("one two"), 1).len(), 1);
    }
}
