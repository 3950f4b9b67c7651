//! Comparison of two JSON texts value by value.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::encoding::pointer::child;

/// Maximum number of differences in a report.
const DIFFERENCES_MAX: usize = 20;

/// One value that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// JSON pointer to the value.
    pub at: String,
    /// Recorded value as JSON. Empty if there was no value.
    pub recorded: String,
    /// Found value as JSON. Empty if there is no value.
    pub found: String,
}

/// Returns at most `DIFFERENCES_MAX` values that differ, in the order of keys. The result is empty if either text is
/// not a JSON object or array.
pub fn differences(recorded: &str, found: &str) -> Vec<Difference> {
    let read =
        |text: &str| serde_json::from_str::<Value>(text).ok().filter(|value| value.is_object() || value.is_array());
    let mut all = Vec::new();
    if let (Some(recorded), Some(found)) = (read(recorded), read(found)) {
        compare("", Some(&recorded), Some(&found), &mut all);
    }
    all
}

fn compare(at: &str, recorded: Option<&Value>, found: Option<&Value>, all: &mut Vec<Difference>) {
    if all.len() == DIFFERENCES_MAX || recorded == found {
        return;
    }
    match (recorded, found) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let mut keys: Vec<&String> = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))).collect();
            keys.sort_unstable();
            for key in keys {
                compare(&child(at, key), a.get(key), b.get(key), all);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for i in 0..a.len().max(b.len()) {
                compare(&child(at, &i.to_string()), a.get(i), b.get(i), all);
            }
        }
        _ => {
            let text = |value: Option<&Value>| value.map(Value::to_string).unwrap_or_default();
            all.push(Difference { at: at.to_owned(), recorded: text(recorded), found: text(found) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_difference_has_its_pointer() {
        let a = r#"{"to":"ada","n":[1,2],"same":{"x":1}}"#;
        let b = r#"{"to":"bob","n":[1],"same":{"x":1},"new":true}"#;
        let found: Vec<_> = differences(a, b).into_iter().map(|d| (d.at, d.recorded, d.found)).collect();
        let row = |at: &str, a: &str, b: &str| (at.to_owned(), a.to_owned(), b.to_owned());
        assert_eq!(found, [row("/n/1", "2", ""), row("/new", "", "true"), row("/to", "\"ada\"", "\"bob\"")]);
        assert!(differences(a, a).is_empty());
        assert!(differences("salted hash 00", b).is_empty(), "what is no JSON has no values");
    }
}
