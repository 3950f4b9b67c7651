//! Values between a value and a simpler one.

use serde_json::Value;

/// Greatest number of elements of an array of which single elements are left out.
const SINGLE_MAX: usize = 40;

/// Returns values that are nearer to `base` than `value` is. In each, an array has fewer elements, or one text, number,
/// truth value or member is that of `base`.
pub(in crate::check) fn simpler(value: &Value, base: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    collect(value, Some(base), &mut found, &|part| part);
    found
}

/// Collects simpler values of a part. `whole` returns the whole value with another part.
fn collect(value: &Value, base: Option<&Value>, found: &mut Vec<Value>, whole: &dyn Fn(Value) -> Value) {
    if base == Some(value) {
        return;
    }
    match value {
        Value::Array(elements) => {
            let half = elements.len() / 2;
            if half > 0 {
                found.push(whole(elements[..half].to_vec().into()));
                found.push(whole(elements[half..].to_vec().into()));
            }
            for left_out in (0..elements.len()).take(if elements.len() > SINGLE_MAX { 0 } else { SINGLE_MAX }) {
                let mut fewer = elements.clone();
                fewer.remove(left_out);
                found.push(whole(fewer.into()));
            }
            for (index, element) in elements.iter().enumerate() {
                let with = |part: Value| {
                    let mut all = elements.clone();
                    all[index] = part;
                    whole(all.into())
                };
                collect(element, base.and_then(|base| base.get(index)), found, &with);
            }
        }
        Value::Object(members) => {
            let of_base = base.and_then(Value::as_object);
            for (name, member) in members {
                let with = |part: Value| {
                    let mut all = members.clone();
                    all.insert(name.clone(), part);
                    whole(all.into())
                };
                let of_member = of_base.and_then(|base| base.get(name));
                if of_base.is_some() && of_member.is_none() {
                    let mut fewer = members.clone();
                    fewer.remove(name);
                    found.push(whole(fewer.into()));
                }
                collect(member, of_member, found, &with);
            }
            for (name, missing) in of_base.into_iter().flatten().filter(|(name, _)| !members.contains_key(*name)) {
                let mut more = members.clone();
                more.insert(name.clone(), missing.clone());
                found.push(whole(more.into()));
            }
        }
        _ => found.extend(base.cloned().map(whole)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_value_is_nearer_to_the_base() {
        let (value, base) = (json!({ "a": [1, 2, 3], "b": "x", "c": true }), json!({ "a": [1, 5], "b": "y", "d": 0 }));
        let found = simpler(&value, &base);
        for expected in [
            json!({ "a": [1], "b": "x", "c": true }),
            json!({ "a": [1, 3], "b": "x", "c": true }),
            json!({ "a": [1, 5, 3], "b": "x", "c": true }),
            json!({ "a": [1, 2, 3], "b": "y", "c": true }),
            json!({ "a": [1, 2, 3], "b": "x" }),
            json!({ "a": [1, 2, 3], "b": "x", "c": true, "d": 0 }),
        ] {
            assert!(found.contains(&expected), "{expected}");
        }
        assert!(simpler(&base, &base).is_empty());
    }
}
