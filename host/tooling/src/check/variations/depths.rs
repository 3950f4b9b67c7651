//! Long arrays from which a step can make a deep result: the elements count a depth, or refer to the element before.

use serde_json::{Map, Value};

use crate::check::variations::change::{ChainEnds, ValueChange};
use crate::check::variations::numbering::{is_name, numbered_text};
use crate::check::variations::schema_sample::LocatedSchema;

/// Numbers of elements. The first one that is allowed is used. The last one serves for a bounded depth.
const ELEMENTS: [usize; 4] = [200, 100, 70, 40];
/// Length of a chain that is too deep for a recursion in every language.
const LONG_CHAIN: usize = 20_000;
/// Maximum number of members, and of pairs of members, for which there is an array.
const MEMBERS_MAX: usize = 3;

type Object = Map<String, Value>;

/// Returns one group for each member that is an integer in all elements. In the arrays of a group, the member counts up
/// from the value of the first element.
pub(super) fn of_counts(objects: &[&Object], schema: &LocatedSchema<'_>) -> Vec<Vec<ValueChange<'static>>> {
    let group = |name: &str| -> Vec<ValueChange<'static>> {
        let what = |count: usize| format!("{count} elements whose {name:?} counts up");
        ELEMENTS.into_iter().map(|count| ValueChange::to(what(count), counted(objects, name, count, schema))).collect()
    };
    counted_members(objects).into_iter().map(group).collect()
}

/// Returns the members that are integers in all elements.
pub(super) fn counted_members<'o>(objects: &[&'o Object]) -> Vec<&'o str> {
    let is_counted = |name: &&str| objects.iter().all(|object| object.get(*name).is_some_and(Value::is_i64));
    let names = objects.first().into_iter().flat_map(|first| first.keys()).map(String::as_str);
    names.filter(is_counted).take(MEMBERS_MAX).collect()
}

/// Returns `count` copies of the first element in which the member counts up from the value of the first element.
pub(super) fn counted(objects: &[&Object], name: &str, count: usize, schema: &LocatedSchema<'_>) -> Vec<Value> {
    let start = objects[0][name].as_i64().unwrap_or_default();
    let element = |number: usize| {
        let mut element = other_names(objects[0], objects, number, schema);
        element.insert(name.to_owned(), start.saturating_add(number as i64).into());
        Value::Object(element)
    };
    (0..count).map(element).collect()
}

/// Returns the element with other texts, and with other integers in members whose integers all differ.
fn other_names(element: &Object, objects: &[&Object], number: usize, schema: &LocatedSchema<'_>) -> Object {
    let other = |(name, value): (&String, &Value)| {
        let value = match value {
            Value::String(text) if !schema.property(name).is_fixed() => numbered_text(text, number).into(),
            Value::Number(own) if objects.len() > 1 && is_name(objects, name) => {
                own.as_i64().map_or_else(|| value.clone(), |own| own.saturating_add(number as i64).into())
            }
            other => other.clone(),
        };
        (name.clone(), value)
    };
    element.iter().map(other).collect()
}

/// Returns two groups for each pair of a name member and a member in which an element refers to another element. In the
/// arrays of both groups, each element refers to the one before. The array of the second group is very long.
pub(super) fn of_predecessors<'v>(objects: &[&'v Object]) -> Vec<Vec<ValueChange<'v>>> {
    links(objects).into_iter().flat_map(|link| [link.chains(), vec![link.long_chain(objects)]]).collect()
}

/// Returns the members in which elements refer to other elements.
pub(super) fn links<'o>(objects: &[&'o Object]) -> Vec<Link<'o>> {
    let mut members: Vec<&String> = objects.iter().flat_map(|object| object.keys()).collect();
    members.sort();
    members.dedup();
    let names = || members.iter().copied().filter(|name| is_name(objects, name));
    let links = names().flat_map(|of| members.iter().filter_map(move |name| Link::of(objects, name, of)));
    links.take(MEMBERS_MAX).collect()
}

/// A member `name` in which elements refer to the member `of` of other elements.
#[derive(Clone, Copy)]
pub(super) struct Link<'o> {
    pub(super) name: &'o str,
    pub(super) of: &'o str,
    /// An element that refers to another one.
    child: &'o Object,
    /// An element that refers to no other one, if there is one.
    root: &'o Object,
}

impl<'o> Link<'o> {
    fn of(objects: &[&'o Object], name: &'o str, of: &'o str) -> Option<Self> {
        let names: Vec<&Value> = objects.iter().filter_map(|object| object.get(of)).collect();
        let is_child = |object: &&&'o Object| match object.get(name) {
            Some(Value::Array(to)) => to.iter().any(|to| names.contains(&to)),
            Some(to) => names.contains(&to) && object.get(of) != Some(to),
            None => false,
        };
        let child = objects.iter().find(is_child).filter(|_| name != of)?;
        let root = objects.iter().find(|object| !is_child(object)).unwrap_or(child);
        Some(Self { name, of, child, root })
    }

    fn chains(&self) -> Vec<ValueChange<'static>> {
        let what =
            |count: usize| format!("{count} elements whose {:?} is the {:?} of the element before", self.name, self.of);
        ELEMENTS.into_iter().map(|count| ValueChange::to(what(count), self.chain(count))).collect()
    }

    fn long_chain(self, objects: &[&Object]) -> ValueChange<'o> {
        let what = format!("{LONG_CHAIN} elements whose {:?} is the {:?} of the element before", self.name, self.of);
        let ends = [0, LONG_CHAIN - 1].map(|number| self.element_name(number));
        let names = objects.iter().filter_map(|object| object.get(self.of).cloned()).collect();
        ValueChange::later(what, move || self.chain(LONG_CHAIN)).with_ends(ChainEnds { names, ends })
    }

    /// Returns the name of an element of a chain.
    fn element_name(&self, number: usize) -> Value {
        match &self.root[self.of] {
            Value::String(first) if number > 0 => numbered_text(first, number).into(),
            Value::Number(first) => first.as_i64().unwrap_or_default().saturating_add(number as i64).into(),
            first => first.clone(),
        }
    }

    pub(super) fn chain(&self, count: usize) -> Vec<Value> {
        let name = |number: usize| self.element_name(number);
        let element = |number: usize| {
            let mut element = self.child.clone();
            let to = name(number - 1);
            let to = if element[self.name].is_array() { Value::Array(vec![to]) } else { to };
            element.insert(self.name.to_owned(), to);
            element.insert(self.of.to_owned(), name(number));
            Value::Object(element)
        };
        std::iter::once(Value::Object(self.root.clone())).chain((1..count).map(element)).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the last array of each group, with its description.
    fn last(groups: Vec<Vec<ValueChange<'_>>>) -> Vec<(String, Vec<Value>)> {
        let array =
            |change: ValueChange<'_>| (change.what.clone(), change.into_value().unwrap().as_array().unwrap().clone());
        groups.into_iter().map(|mut group| array(group.pop().unwrap())).collect()
    }

    #[test]
    fn numbers_count_up_and_names_differ() {
        let elements = json!([{ "depth": 0, "id": 7, "kind": "a" }, { "depth": 1, "id": 8, "kind": "a" }, { "depth": 1, "id": 9, "kind": "b" }]);
        let schema = json!({ "properties": { "kind": { "enum": ["a", "b"] } } });
        let objects: Vec<&Object> = elements.as_array().unwrap().iter().map(|one| one.as_object().unwrap()).collect();
        let found = last(of_counts(&objects, &LocatedSchema::of(&schema)));
        assert_eq!(found[0].0, "40 elements whose \"depth\" counts up");
        assert_eq!(found[0].1[39], json!({ "depth": 39, "id": 46, "kind": "a" }));
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn each_element_refers_to_the_one_before() {
        let chained = |elements: Value| {
            let objects: Vec<&Object> =
                elements.as_array().unwrap().iter().map(|one| one.as_object().unwrap()).collect();
            last(of_predecessors(&objects))
        };
        let found = chained(json!([{ "id": 1, "parent": null, "n": 5 }, { "id": 2, "parent": 1, "n": 5 }]));
        assert_eq!((found.len(), found[1].1.len()), (2, LONG_CHAIN));
        assert_eq!(found[0].0, "40 elements whose \"parent\" is the \"id\" of the element before");
        let expected = (json!({ "id": 1, "parent": null, "n": 5 }), json!({ "id": 40, "parent": 39, "n": 5 }));
        assert_eq!((&found[0].1[0], &found[0].1[39]), (&expected.0, &expected.1));
        let found = chained(json!([{ "name": "b", "after": ["a"] }, { "name": "a", "after": [] }]));
        assert_eq!(found[0].1[2], json!({ "name": "a2", "after": ["a1"] }));
        assert_eq!(chained(json!([{ "name": "a", "in": "b" }, { "name": "c", "in": "d" }])).len(), 0);
    }
}
