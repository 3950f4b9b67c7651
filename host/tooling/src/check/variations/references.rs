//! Elements that refer to themselves, to each other in a ring, or to the next one in a long chain.

use serde_json::{Map, Value};

use crate::check::variations::change::{ChainEnds, ValueChange};

/// Lengths of a chain. The first one that is allowed is used. It is too deep for a recursion in JavaScript and Python.
const CHAINS: [usize; 2] = [1_200, 200];
/// Lengths of a long chain. The first one that the schema allows is used. A chain of 20,000 is too deep for a recursion in
/// every language.
const LONG_CHAINS: [usize; 3] = [20_000, 5_000, 2_000];

/// Returns changes that let elements refer to each other, for each pair of a name member and a reference member. A name
/// member is a text in all elements. A reference member, such as the parent of an element, is a text or an array of
/// texts in at least one element.
pub(super) fn of_elements<'v>(objects: &[&'v Map<String, Value>]) -> Vec<Vec<ValueChange<'v>>> {
    let pairs = pairs(objects);
    let one = |member: &Member<'_>, what: &str, elements: Vec<Value>| {
        let what = format!("elements whose {:?} is {what} {:?}", member.name, member.of);
        vec![ValueChange::to(what, elements)]
    };
    let own = pairs.iter().map(|member| one(member, "their own", member.own(objects)));
    let rings = pairs.iter().map(|member| one(member, "the next element's", member.ring(objects)));
    let chains = pairs.iter().map(|member| CHAINS.iter().map(|length| member.long_chain(objects, *length)).collect());
    own.chain(rings).chain(chains).collect()
}

/// Returns chains that are too deep for a recursion in every language.
pub(super) fn long_chains<'v>(objects: &[&'v Map<String, Value>]) -> Vec<Vec<ValueChange<'v>>> {
    let chains = |member: &Member<'v>| LONG_CHAINS.iter().map(|length| member.long_chain(objects, *length)).collect();
    pairs(objects).iter().map(chains).collect()
}

/// Returns each member that can refer to another element, paired with each member that can be the name of an element.
fn pairs<'o>(objects: &[&'o Map<String, Value>]) -> Vec<Member<'o>> {
    let is_reference = |name: &&String| objects.iter().any(|object| object.get(*name).is_some_and(is_reference));
    let is_text = |name: &str| objects.iter().all(|object| object.get(name).is_some_and(Value::is_string));
    let mut names: Vec<&'o String> = objects.iter().flat_map(|object| object.keys()).filter(is_reference).collect();
    names.sort();
    names.dedup();
    let pair = |name: &'o String, of: &'o String| (name != of && is_text(of)).then_some(Member { name, of });
    names.iter().flat_map(|name| names.iter().filter_map(|of| pair(name, of))).collect()
}

/// Returns true for a text, and for an array of texts.
fn is_reference(value: &Value) -> bool {
    value.is_string() || value.as_array().is_some_and(|texts| texts.iter().all(Value::is_string))
}

/// A member `name` that can refer to an element. A reference to an element is the value of the member `of` in that
/// element.
#[derive(Clone, Copy)]
struct Member<'n> {
    name: &'n str,
    of: &'n str,
}

impl<'n> Member<'n> {
    /// Returns a reference in the form of the elements, a text or an array.
    fn reference(&self, objects: &[&Map<String, Value>], to: Value) -> Value {
        let is_array = objects.iter().any(|object| object.get(self.name).is_some_and(Value::is_array));
        if is_array { Value::Array(vec![to]) } else { to }
    }

    fn own(&self, objects: &[&Map<String, Value>]) -> Vec<Value> {
        with_member(objects, self.name, |object| self.reference(objects, object[self.of].clone()))
    }

    fn ring(&self, objects: &[&Map<String, Value>]) -> Vec<Value> {
        let next = objects.iter().cycle().skip(1);
        let linked = |(object, next): (&&Map<String, Value>, &&Map<String, Value>)| {
            let mut changed = (*object).clone();
            changed.insert(self.name.to_owned(), self.reference(objects, next[self.of].clone()));
            Value::Object(changed)
        };
        objects.iter().zip(next).map(linked).collect()
    }

    fn long_chain(self, objects: &[&'n Map<String, Value>], length: usize) -> ValueChange<'n> {
        let what = format!("{length} elements whose {:?} is the next element's {:?}", self.name, self.of);
        let ends = [0, length - 1].map(|number| self.element_name(objects, number));
        let names = objects.iter().map(|object| object[self.of].clone()).collect();
        let objects = objects.to_vec();
        ValueChange::later(what, move || self.chain(&objects, length)).with_ends(ChainEnds { names, ends })
    }

    /// Returns the name of an element of a chain.
    fn element_name(&self, objects: &[&Map<String, Value>], number: usize) -> Value {
        let first = objects[0][self.of].as_str().unwrap_or_default();
        if number == 0 { first.into() } else { format!("{first}-{number}").into() }
    }

    /// Returns a chain that begins with the name of the first element. The last element refers to nothing.
    fn chain(&self, objects: &[&Map<String, Value>], length: usize) -> Vec<Value> {
        let name = |number: usize| self.element_name(objects, number);
        let element = |number: usize| {
            let mut changed = objects[0].clone();
            changed.insert(self.of.to_owned(), name(number));
            match self.reference(objects, name(number + 1)) {
                link if number + 1 < length => changed.insert(self.name.to_owned(), link),
                Value::Array(_) => changed.insert(self.name.to_owned(), Value::Array(vec![])),
                dangling => match objects.iter().any(|object| !object.contains_key(self.name)) {
                    true => changed.remove(self.name),
                    false => changed.insert(self.name.to_owned(), dangling),
                },
            };
            Value::Object(changed)
        };
        (0..length).map(element).collect()
    }
}

/// Returns changes of a map of references: each key refers to itself, to the next one, or is part of a long chain.
pub(super) fn of_map(map: &Map<String, Value>) -> Vec<Vec<ValueChange<'static>>> {
    if map.is_empty() || !map.values().all(is_reference) {
        return vec![];
    }
    let is_array = map.values().any(Value::is_array);
    let link = |to: &str| if is_array { Value::Array(vec![to.into()]) } else { to.into() };
    let keys: Vec<&String> = map.keys().collect();
    let linked = |step: usize| -> Map<String, Value> {
        let next = keys.iter().cycle().skip(step);
        keys.iter().zip(next).map(|(key, next)| ((*key).clone(), link(next))).collect()
    };
    let name = |number: usize| if number == 0 { keys[0].clone() } else { format!("{}-{number}", keys[0]) };
    let chain = |length: &usize| {
        let chain: Map<String, Value> = (0..*length).map(|number| (name(number), link(&name(number + 1)))).collect();
        ValueChange::large(&format!("{length} keys that refer to the next key"), chain)
    };
    vec![
        vec![ValueChange::to("keys that refer to themselves", linked(0))],
        vec![ValueChange::to("keys that refer to each other", linked(1))],
        CHAINS.iter().map(chain).collect(),
        LONG_CHAINS.iter().map(chain).collect(),
    ]
}

/// Returns the elements with another value of a member.
pub(super) fn with_member(
    objects: &[&Map<String, Value>],
    name: &str,
    value: impl Fn(&Map<String, Value>) -> Value,
) -> Vec<Value> {
    let with_value = |object: &&Map<String, Value>| {
        let mut changed = (*object).clone();
        changed.insert(name.to_owned(), value(object));
        Value::Object(changed)
    };
    objects.iter().map(with_value).collect()
}
