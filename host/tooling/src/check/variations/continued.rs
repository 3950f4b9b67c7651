//! Long arrays that continue the array of a case.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::{Map, Value};

use crate::check::variations::change::ValueChange;
use crate::check::variations::numbering::{is_name, numbered_text};
use crate::check::variations::schema_sample::LocatedSchema;

/// Numbers of elements of a long and of a very long array. The first one that is allowed is used. A very long array can
/// need more fuel than there is.
const ELEMENTS: [&[usize]; 2] = [&[200, 100], &[5_000, 2_000, 1_000]];
/// Numbers of elements of an array in which one member rises in equal steps. The first one that is allowed is used.
const STEPS: [usize; 3] = [200, 100, 70];
/// Maximum number of members that rise in equal steps, each in an array of its own.
const MEMBERS_MAX: usize = 3;

/// Returns long arrays of objects if at least one member rises from element to element, such as a time. This member
/// rises through the long array as well. Texts that differ in all elements have a number, and all other members repeat.
/// Of each group, the first change that is allowed is made.
pub(super) fn of_rising<'v>(
    objects: &[&'v Map<String, Value>],
    schema: &LocatedSchema<'_>,
) -> Vec<Vec<ValueChange<'v>>> {
    let [first, .., last] = *objects else { return vec![] };
    let rising: BTreeSet<&String> = first.keys().filter(|name| is_rising(objects, name)).collect();
    if rising.is_empty() {
        return vec![];
    }
    let names = names(objects, schema);
    let other = move |name: &String, value: &Value, number: usize, count: usize| match rising.contains(name) {
        true => between(&first[name], &last[name], number, count),
        false => repeated(&names, name, value, number),
    };
    let objects = objects.to_vec();
    let element = Rc::new(move |number: usize, count: usize| -> Value {
        let members = objects[number % objects.len()].iter();
        members.map(|(name, value)| (name.clone(), other(name, value, number, count))).collect::<Map<_, _>>().into()
    });
    let many = |count: &usize| -> ValueChange<'v> {
        let (element, count) = (element.clone(), *count);
        let elements = move || (0..count).map(|number| element(number, count)).collect::<Vec<Value>>();
        ValueChange::later(format!("{count} elements that continue the array"), elements)
    };
    ELEMENTS.iter().map(|counts| counts.iter().map(many).collect()).collect()
}

/// Returns arrays of objects in which one member rises as it does in the elements, by their mean step. All other members
/// are those of the first element, except texts that differ in all elements: they have a number. There is one group for
/// each member that rises from element to element.
pub(super) fn of_steps(objects: &[&Map<String, Value>], schema: &LocatedSchema<'_>) -> Vec<Vec<ValueChange<'static>>> {
    let [first, .., last] = objects else { return vec![] };
    let names = names(objects, schema);
    let group = |name: &String| -> Option<Vec<ValueChange<'static>>> {
        let (from, to) = (first[name].as_f64()?, last.get(name)?.as_f64()?);
        let step = (to - from) / (objects.len() - 1) as f64;
        let is_whole = first[name].is_i64() && last[name].is_i64();
        let element = |number: usize| -> Value {
            let mut element: Map<String, Value> =
                first.iter().map(|(name, value)| (name.clone(), repeated(&names, name, value, number))).collect();
            let at = from + step * number as f64;
            element.insert(name.clone(), if is_whole { (at.round() as i64).into() } else { at.into() });
            element.into()
        };
        let many = |count: &usize| {
            let what = format!("{count} elements whose {name:?} rises in equal steps");
            ValueChange::to(what, (0..*count).map(element).collect::<Vec<_>>())
        };
        Some(STEPS.iter().map(many).collect())
    };
    first.keys().filter(|name| is_rising(objects, name)).take(MEMBERS_MAX).filter_map(group).collect()
}

fn is_rising(objects: &[&Map<String, Value>], name: &str) -> bool {
    let numbers: Option<Vec<f64>> = objects.iter().map(|object| object.get(name)?.as_f64()).collect();
    numbers.is_some_and(|numbers| numbers.windows(2).all(|pair| pair[0] < pair[1]))
}

/// Returns the members that are another text in each element, except texts of an enumeration.
fn names<'o>(objects: &[&'o Map<String, Value>], schema: &LocatedSchema<'_>) -> BTreeSet<&'o str> {
    let texts = objects[0].iter().filter(|(_, value)| value.is_string()).map(|(name, _)| name.as_str());
    texts.filter(|name| is_name(objects, name) && !schema.property(name).is_fixed()).collect()
}

/// Returns the value of a member in the element with this number. Only members of `names` have another value.
fn repeated(names: &BTreeSet<&str>, name: &str, value: &Value, number: usize) -> Value {
    match value {
        Value::String(text) if names.contains(name) => numbered_text(text, number).into(),
        value => value.clone(),
    }
}

/// Returns the number at a position of a rising member. Integers count up from the first one. Fractions have equal
/// distances between the first and the last one.
fn between(first: &Value, last: &Value, number: usize, count: usize) -> Value {
    if let (Some(first), Some(_)) = (first.as_i64(), last.as_i64()) {
        return first.saturating_add(number as i64).into();
    }
    let (first, last) = (first.as_f64().unwrap_or_default(), last.as_f64().unwrap_or_default());
    (first + (last - first) * number as f64 / count as f64).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_member_rises_in_equal_steps() {
        let elements = [json!({ "mm": 30, "wall": 2, "id": "a" }), json!({ "mm": 44, "wall": 2.5, "id": "b" })];
        let objects: Vec<&Map<String, Value>> = elements.iter().map(|one| one.as_object().unwrap()).collect();
        let mut groups = of_steps(&objects, &LocatedSchema::of(&Value::Null));
        let mut last = |group: usize| groups[group].remove(2).into_value().unwrap()[69].clone();
        assert_eq!(last(0), json!({ "mm": 996, "wall": 2, "id": "a69" }));
        assert_eq!(last(1), json!({ "mm": 30, "wall": 36.5, "id": "a69" }));
    }

    #[test]
    fn rising_members_rise_and_others_repeat() {
        let elements = [json!({ "km": 0, "id": "p1", "m": 9 }), json!({ "km": 0.5, "id": "p2", "m": 5 })];
        let of = |elements: &[Value]| {
            let objects: Vec<&Map<String, Value>> = elements.iter().map(|one| one.as_object().unwrap()).collect();
            let groups = of_rising(&objects, &LocatedSchema::of(&Value::Null));
            groups.into_iter().next()?.into_iter().next()?.into_value()
        };
        let found = of(&elements).unwrap();
        assert_eq!(
            (found[0].clone(), found.as_array().unwrap().len()),
            (json!({ "km": 0.0, "id": "p1", "m": 9 }), 200)
        );
        assert_eq!(found[101], json!({ "km": 0.2525, "id": "p103", "m": 5 }));
        let counted = of(&[json!({ "at": 7 }), json!({ "at": 9 })]).unwrap();
        assert_eq!(counted[3], json!({ "at": 10 }));
        assert_eq!(of(&[json!({ "at": 9 }), json!({ "at": 7 })]), None);
    }
}
