//! Elements that refer to other elements by their positions in the array.

use serde_json::{Map, Value};

use crate::check::variations::change::ValueChange;
use crate::check::variations::numbering::numbered_text;

/// Lengths of a chain that is too deep for a recursion in every language, and of shorter ones. The first one that is
/// allowed is used.
const CHAINS: [&[usize]; 2] = [&[1_200, 200], &[20_000]];

/// Returns chains in which each element refers to the next one, for each member that is an array of positions in all
/// elements. Of each group, the first change that is allowed is made.
pub(super) fn of_positions(objects: &[&Map<String, Value>]) -> Vec<Vec<ValueChange>> {
    let Some(first) = objects.first() else { return vec![] };
    let position = |value: &Value| value.as_u64().is_some_and(|position| position < objects.len() as u64);
    let is_list = |value: Option<&Value>| value.and_then(Value::as_array).is_some_and(|list| list.iter().all(position));
    let is_used = |name: &str| objects.iter().any(|object| object[name] != Value::Array(vec![]));
    let is_reference = |name: &&String| objects.iter().all(|object| is_list(object.get(*name))) && is_used(name);
    let change = |name: &str, length: usize| {
        let what = format!("{length} elements whose {name:?} is the position of the next element");
        ValueChange::large(&what, chain(first, name, length))
    };
    let groups = |name: &String| CHAINS.map(|lengths| lengths.iter().map(|length| change(name, *length)).collect());
    first.keys().filter(is_reference).flat_map(groups).collect()
}

/// Returns copies of an element with other texts. The last copy refers to nothing.
fn chain(first: &Map<String, Value>, name: &str, length: usize) -> Vec<Value> {
    let element = |number: usize| {
        let mut element = first.clone();
        for (_, value) in &mut element {
            if let Value::String(text) = value {
                *value = numbered_text(text, number).into();
            }
        }
        let next: Vec<Value> = if number + 1 < length { vec![(number + 1).into()] } else { vec![] };
        element.insert(name.to_owned(), next.into());
        Value::Object(element)
    };
    (0..length).map(element).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lengths(elements: &Value) -> Vec<Value> {
        let objects: Vec<&Map<String, Value>> =
            elements.as_array().unwrap().iter().map(|one| one.as_object().unwrap()).collect();
        of_positions(&objects).into_iter().map(|mut group| group.remove(0).value.unwrap()).collect()
    }

    #[test]
    fn elements_refer_to_the_next_position() {
        let found = lengths(&json!([{ "name": "a", "needs": [1] }, { "name": "b", "needs": [] }]));
        assert_eq!((found.len(), found[1].as_array().unwrap().len()), (2, 20_000));
        assert_eq!(
            (&found[0][7], &found[0][1199]),
            (&json!({ "name": "a7", "needs": [8] }), &json!({ "name": "a1199", "needs": [] }))
        );
        assert!(lengths(&json!([{ "needs": [2] }, { "needs": [] }])).is_empty(), "2 is no position");
        assert!(lengths(&json!([{ "needs": [] }, { "needs": [] }])).is_empty());
    }
}
