//! Elements that are pairs of neighbours, as the edges of a graph.

use serde_json::Value;

use crate::check::variations::change::{ChainEnds, ValueChange};
use crate::check::variations::numbering::numbered_text;

/// Numbers of edges of a chain. The first one that the schema allows is used. A chain of 20,000 is too deep for a recursion
/// in every language.
const CHAINS: [usize; 5] = [20_000, 5_000, 2_000, 1_200, 200];

/// Returns a chain of edges if each element is an array that begins with two neighbours, both texts or both integers.
pub(super) fn of_edges(elements: &[Value]) -> Vec<ValueChange<'_>> {
    let edges: Option<Vec<(&Value, &Value)>> = elements.iter().map(edge).collect();
    let Some(edges) = edges.filter(|edges| !edges.is_empty()) else { return vec![] };
    let (first, rest) = (edges[0].0, elements[0].as_array().map_or(&[][..], |element| &element[2..]));
    let name = move |number: usize| -> Value {
        match first {
            Value::String(text) if number > 0 => numbered_text(text, number).into(),
            Value::Number(start) => start.as_i64().unwrap_or_default().saturating_add(number as i64).into(),
            other => other.clone(),
        }
    };
    let names: Vec<Value> = edges.iter().flat_map(|(one, other)| [(*one).clone(), (*other).clone()]).collect();
    let chain = |length: usize| {
        let edge = move |number: usize| -> Value {
            let ends = [name(number), name(number + 1)];
            ends.into_iter().chain(rest.iter().cloned()).collect::<Vec<Value>>().into()
        };
        let what = format!("{length} pairs that form a chain");
        let ends = ChainEnds { names: names.clone(), ends: [name(0), name(length)] };
        ValueChange::later(what, move || (0..length).map(edge).collect::<Vec<_>>()).with_ends(ends)
    };
    CHAINS.into_iter().map(chain).collect()
}

fn edge(element: &Value) -> Option<(&Value, &Value)> {
    let [one, other, ..] = element.as_array()?.as_slice() else { return None };
    let is_pair = one.is_string() && other.is_string() || one.is_i64() && other.is_i64();
    is_pair.then_some((one, other))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chain(elements: &Value) -> Option<(Value, [Value; 2])> {
        let change = of_edges(elements.as_array().unwrap()).pop()?;
        let ends = change.ends.clone()?.ends;
        Some((change.into_value()?, ends))
    }

    #[test]
    fn pairs_form_a_chain() {
        let (found, ends) = chain(&json!([[4, 5, "m"], [5, 4, "n"]])).unwrap();
        assert_eq!((&found[0], &found[199]), (&json!([4, 5, "m"]), &json!([203, 204, "m"])));
        assert_eq!(ends, [json!(4), json!(204)]);
        let (found, _) = chain(&json!([["a", "b"]])).unwrap();
        assert_eq!((&found[0], &found[1]), (&json!(["a", "a1"]), &json!(["a1", "a2"])));
        for other in [json!([]), json!([[1]]), json!([[1, "a"]]), json!(["ab"]), json!([[1, 2], 3])] {
            assert!(chain(&other).is_none(), "{other}");
        }
    }
}
