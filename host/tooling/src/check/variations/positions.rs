//! Elements that refer to other elements by their positions in the array.

use std::rc::Rc;

use serde_json::{Map, Value};

use crate::check::variations::change::{ChainEnds, ValueChange};
use crate::check::variations::numbering::numbered_text;

/// Lengths of a chain that is too deep for a recursion in every language, and of shorter ones. The first one that is
/// allowed is used.
const CHAINS: [&[usize]; 2] = [&[1_200, 200], &[20_000, 5_000, 2_000]];
/// Maximum number of members for which there are chains.
const MEMBERS_MAX: usize = 2;

type JsonObject = Map<String, Value>;

/// Returns chains in which each element refers to the next one or to the one before, for each member that refers to other
/// elements by their positions. Of each group, the first change that is allowed is made.
pub(super) fn of_positions<'v>(objects: &[&'v JsonObject]) -> Vec<Vec<ValueChange<'v>>> {
    let mut names: Vec<&String> = objects.iter().flat_map(|object| object.keys()).collect();
    names.sort();
    names.dedup();
    let members = names.into_iter().filter_map(|name| PositionMember::of(objects, name)).take(MEMBERS_MAX);
    let groups = |member: PositionMember<'v>| {
        let member = Rc::new(member);
        let group = |order: Order, lengths: &[usize]| -> Vec<ValueChange<'v>> {
            lengths.iter().map(|length| member.clone().change(order, *length, objects.len())).collect()
        };
        CHAINS.iter().flat_map(|lengths| [Order::Forward, Order::Backward].map(|order| group(order, lengths))).collect()
    };
    members.flat_map(|member| -> Vec<Vec<ValueChange<'v>>> { groups(member) }).collect()
}

/// The direction in which the elements of a chain refer.
#[derive(Clone, Copy)]
enum Order {
    Forward,
    Backward,
}

/// The value of a member in an element that refers to no other element.
enum NoReference {
    /// The member is an array of positions, and the array is empty.
    EmptyList,
    Missing,
    /// Null, or a negative number.
    Value(Value),
    /// The position of the element itself.
    Own,
}

/// A member of an element, and the values with which it refers to other elements.
struct PositionMember<'o> {
    name: &'o str,
    /// An element that refers to another one.
    child: &'o JsonObject,
    none: NoReference,
}

impl<'o> PositionMember<'o> {
    fn of(objects: &[&'o JsonObject], name: &'o str) -> Option<Self> {
        let count = objects.len() as u64;
        let is_position = |value: &Value| value.as_u64().is_some_and(|position| position < count);
        let mut none = None;
        let mut child = None;
        for (number, object) in objects.iter().enumerate() {
            match object.get(name) {
                Some(Value::Array(list)) if list.iter().all(is_position) => {
                    none = Some(NoReference::EmptyList);
                    child = child.or((!list.is_empty()).then_some(*object));
                }
                Some(value) if is_position(value) && value.as_u64() != Some(number as u64) => child = Some(*object),
                Some(value) if is_position(value) => none = Some(NoReference::Own),
                Some(value) if value.is_null() || value.as_i64().is_some_and(|number| number < 0) => {
                    none = Some(NoReference::Value(value.clone()));
                }
                None => none = none.or(Some(NoReference::Missing)),
                Some(_) => return None,
            }
        }
        Some(Self { name, child: child?, none: none? })
    }

    fn change(self: Rc<Self>, order: Order, length: usize, before: usize) -> ValueChange<'o> {
        let other = match order {
            Order::Forward => "next element",
            Order::Backward => "element before",
        };
        let what = format!("{length} elements whose {:?} is the position of the {other}", self.name);
        let ends = [0.into(), (length - 1).into()];
        let names = (0..before).map(Value::from).collect();
        ValueChange::later(what, move || self.chain(order, length)).with_ends(ChainEnds { names, ends })
    }

    /// Returns copies of an element with other texts. One end of the chain refers to no other element.
    fn chain(&self, order: Order, length: usize) -> Vec<Value> {
        let is_list = self.child[self.name].is_array();
        let element = |number: usize| {
            let mut element = self.child.clone();
            for (_, value) in &mut element {
                if let Value::String(text) = value {
                    *value = numbered_text(text, number).into();
                }
            }
            let to = match order {
                Order::Forward => Some(number + 1).filter(|to| *to < length),
                Order::Backward => number.checked_sub(1),
            };
            let value = match (to, &self.none) {
                (Some(to), _) if is_list => Some(Value::Array(vec![to.into()])),
                (Some(to), _) => Some(to.into()),
                (None, NoReference::EmptyList) => Some(Value::Array(vec![])),
                (None, NoReference::Missing) => None,
                (None, NoReference::Value(value)) => Some(value.clone()),
                (None, NoReference::Own) => Some(number.into()),
            };
            match value {
                Some(value) => element.insert(self.name.to_owned(), value),
                None => element.remove(self.name),
            };
            Value::Object(element)
        };
        (0..length).map(element).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the first chain of each group.
    fn chains(elements: &Value) -> Vec<Vec<Value>> {
        let objects: Vec<&JsonObject> =
            elements.as_array().unwrap().iter().map(|one| one.as_object().unwrap()).collect();
        let groups = of_positions(&objects).into_iter();
        groups.map(|mut group| group.remove(0).into_value().unwrap().as_array().unwrap().clone()).collect()
    }

    #[test]
    fn elements_refer_to_the_next_position_or_to_the_one_before() {
        let found = chains(&json!([{ "name": "a", "needs": [1] }, { "name": "b", "needs": [] }]));
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [1_200, 1_200, 20_000, 20_000]);
        let with = |name: &str, needs: Value| json!({ "name": name, "needs": needs });
        assert_eq!((&found[0][7], &found[0][1199]), (&with("a7", json!([8])), &with("a1199", json!([]))));
        assert_eq!((&found[1][0], &found[1][1199]), (&with("a0", json!([])), &with("a1199", json!([1198]))));
        assert!(chains(&json!([{ "needs": [2] }, { "needs": [] }])).is_empty(), "2 is no position");
        assert!(chains(&json!([{ "needs": [] }, { "needs": [] }])).is_empty());
    }

    #[test]
    fn end_of_a_chain_refers_to_nothing_in_the_way_of_the_case() {
        for (none, first) in [
            (json!({ "to": -1 }), json!({ "to": -1 })),
            (json!({ "to": null }), json!({ "to": null })),
            (json!({}), json!({})),
            (json!({ "to": 0 }), json!({ "to": 0 })),
        ] {
            let found = chains(&json!([none, { "to": 0 }]));
            assert_eq!((&found[1][0], &found[1][5]), (&first, &json!({ "to": 4 })));
        }
        assert!(chains(&json!([{ "to": 1 }, { "to": 0 }])).is_empty(), "each element refers to another one");
        assert!(chains(&json!([{ "to": "a" }, { "to": 0 }])).is_empty());
    }
}
