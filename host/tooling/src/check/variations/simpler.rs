//! Values between a value and a simpler one.

use serde_json::{Map, Value};

/// Greatest number of elements of an array of which single elements are left out.
const SINGLE_MAX: usize = 40;

/// Returns at most `max` allowed values that are nearer to `base` than `value` is. In each, an array has fewer elements, or
/// one text, number, truth value or member is that of `base`.
pub(in crate::check) fn simpler(
    value: &Value,
    base: &Value,
    max: usize,
    is_allowed: &dyn Fn(&Value) -> bool,
) -> Vec<Value> {
    let mut simpler = Simpler { found: Vec::new(), max, is_allowed };
    simpler.collect(value, Some(base), &|part| part);
    simpler.found
}

struct Simpler<'s> {
    found: Vec<Value>,
    max: usize,
    is_allowed: &'s dyn Fn(&Value) -> bool,
}

impl Simpler<'_> {
    fn add(&mut self, make: impl FnOnce() -> Value) {
        if self.found.len() < self.max {
            let value = make();
            self.found.extend((self.is_allowed)(&value).then_some(value));
        }
    }

    /// Collects simpler values of a part. `whole` returns the whole value with another part.
    fn collect(&mut self, value: &Value, base: Option<&Value>, whole: &dyn Fn(Value) -> Value) {
        if base == Some(value) || self.found.len() == self.max {
            return;
        }
        match value {
            Value::Array(elements) => self.fewer_elements(elements, base, whole),
            Value::Object(members) => self.other_members(members, base.and_then(Value::as_object), whole),
            _ => {
                if let Some(base) = base {
                    self.add(|| whole(base.clone()));
                }
            }
        }
    }

    fn fewer_elements(&mut self, elements: &[Value], base: Option<&Value>, whole: &dyn Fn(Value) -> Value) {
        let half = elements.len() / 2;
        // The halves of two elements are the arrays without one of them.
        if elements.len() > 2 {
            self.add(|| whole(elements[..half].to_vec().into()));
            self.add(|| whole(elements[half..].to_vec().into()));
        }
        if elements.len() <= SINGLE_MAX {
            for left_out in 0..elements.len() {
                self.add(|| whole([&elements[..left_out], &elements[left_out + 1..]].concat().into()));
            }
        }
        for (index, element) in elements.iter().enumerate() {
            let with = |part: Value| {
                let mut all = elements.to_vec();
                all[index] = part;
                whole(all.into())
            };
            self.collect(element, base.and_then(|base| base.get(index)), &with);
        }
    }

    fn other_members(
        &mut self,
        members: &Map<String, Value>,
        base: Option<&Map<String, Value>>,
        whole: &dyn Fn(Value) -> Value,
    ) {
        for (name, member) in members {
            let of_base = base.and_then(|base| base.get(name));
            if base.is_some() && of_base.is_none() {
                self.add(|| {
                    let mut fewer = members.clone();
                    fewer.remove(name);
                    whole(fewer.into())
                });
            }
            let with = |part: Value| {
                let mut all = members.clone();
                all.insert(name.clone(), part);
                whole(all.into())
            };
            self.collect(member, of_base, &with);
        }
        for (name, missing) in base.into_iter().flatten().filter(|(name, _)| !members.contains_key(*name)) {
            self.add(|| {
                let mut more = members.clone();
                more.insert(name.clone(), missing.clone());
                whole(more.into())
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_value_is_nearer_to_the_base() {
        let (value, base) = (json!({ "a": [1, 2, 3], "b": "x", "c": true }), json!({ "a": [1, 5], "b": "y", "d": 0 }));
        let found = simpler(&value, &base, usize::MAX, &|_| true);
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
        assert!(simpler(&base, &base, usize::MAX, &|_| true).is_empty());
        assert_eq!(simpler(&value, &base, 3, &|_| true), found[..3]);
        let is_allowed = |value: &Value| value["b"] == "y";
        assert_eq!(simpler(&value, &base, 3, &is_allowed), [json!({ "a": [1, 2, 3], "b": "y", "c": true })]);
    }
}
