//! How much work it would be to check a value: counted beforehand, against a budget.
//!
//! A schema may apply two others to the same value, each of them two others to its items, and so
//! on: a few bytes of schema and a few brackets make more checks than there are atoms. How often
//! each subschema would be applied to each part of the value is a product along the paths, and
//! can be had without walking them: from the outside in, one number for each subschema and part.
//! Whatever the checker skips because it knows the outcome already is counted as well.

use std::collections::BTreeMap;

use serde_json::Value;

use super::graph::{Graph, Index, Node};

/// Applications of one subschema to one value; about a second.
const WORK_MAX: u64 = 4_000_000;
/// Below this it is not worth counting exactly.
const EASY_MAX: u64 = 100_000;
/// Subschemas that may be under way inside each other: the stack is made for so many.
const DEPTH_MAX: usize = 8_192;
/// Bytes of text that cost as much as a value.
const TEXT_BYTES: u64 = 16;

/// What checking a value will take at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work {
    /// Applications of one subschema to one value.
    pub(super) applications: u64,
    /// How many of them may be under way inside each other.
    pub(super) depth: usize,
}

/// The work, or nothing where it is too much.
pub(super) fn count(graph: &Graph, value: &Value) -> Option<Work> {
    let Size { values, text, depth } = size(value);
    let depth = (depth + 1) * (graph.chain() + 1);
    if depth > DEPTH_MAX {
        return None;
    }
    let units = values + text / TEXT_BYTES;
    let each: u64 = graph.nodes.iter().map(|node| 1 + node.cost + node.patterns).sum();
    let plain = !graph.shared && graph.nodes.iter().all(|node| !node.unevaluated && !node.unique);
    // Without references each subschema stands in one place, and looks at each value once.
    if plain && each.saturating_mul(units) <= EASY_MAX {
        return Some(Work { applications: each * units, depth });
    }
    let mut counting = Counting { graph, applications: 0 };
    counting.visit(value, &[(0, 1)])?;
    Some(Work { applications: counting.applications, depth })
}

struct Size {
    values: u64,
    text: u64,
    depth: usize,
}

fn size(value: &Value) -> Size {
    let mut all = Size { values: 1, text: 0, depth: 0 };
    let mut add = |inner: Size| {
        all.values += inner.values;
        all.text += inner.text;
        all.depth = all.depth.max(inner.depth + 1);
    };
    match value {
        Value::String(text) => all.text = text.len() as u64,
        Value::Array(items) => items.iter().for_each(|item| add(size(item))),
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            let inner = size(member);
            add(Size { text: inner.text + name.len() as u64, values: inner.values + 1, ..inner });
        }),
        _ => {}
    }
    all
}

struct Counting<'g> {
    graph: &'g Graph,
    applications: u64,
}

impl<'g> Counting<'g> {
    /// Counts what happens to a value to which nodes are applied so many times each. The depth
    /// of values is bounded by their parser.
    fn visit(&mut self, value: &Value, applied: &[(Index, u64)]) -> Option<()> {
        if applied.is_empty() {
            return Some(());
        }
        let all = self.here(value, applied)?;
        match value {
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    let inner = gather(&all, |node, add| {
                        node.first.get(at).into_iter().chain(&node.items).for_each(|index| add(*index));
                        node.rest.iter().filter(|_| at >= node.first.len()).for_each(|index| add(*index));
                    });
                    self.visit(item, &inner)?;
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    let inner = gather(&all, |node, add| {
                        let named = node.named.get(name);
                        named.into_iter().chain(&node.members).for_each(|index| add(*index));
                        node.other.iter().filter(|_| named.is_none()).for_each(|index| add(*index));
                    });
                    self.visit(member, &inner)?;
                    let names = gather(&all, |node, add| node.names.iter().for_each(|index| add(*index)));
                    if !names.is_empty() {
                        self.visit(&Value::String(name.clone()), &names)?;
                    }
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Everything that looks at this value, and how many times.
    fn here(&mut self, value: &Value, applied: &[(Index, u64)]) -> Option<Vec<(&'g Node, u64)>> {
        let graph = self.graph;
        let mut open: BTreeMap<usize, (Index, u64)> = BTreeMap::new();
        let add = |open: &mut BTreeMap<usize, (Index, u64)>, index: Index, times: u64| {
            let sum = &mut open.entry(graph.nodes[index].rank).or_insert((index, 0)).1;
            *sum = sum.saturating_add(times);
        };
        applied.iter().for_each(|(index, times)| add(&mut open, *index, *times));
        let mut all = Vec::with_capacity(open.len());
        // Whoever applies comes first, so a number is whole when its turn comes.
        while let Some((_, (index, times))) = open.pop_first() {
            let node = &graph.nodes[index];
            self.applications = self.applications.saturating_add(times.saturating_mul(own(node, value)));
            if self.applications > WORK_MAX {
                return None;
            }
            let again = if node.unevaluated { (1 + parts(value)).saturating_mul(1 + node.height as u64) } else { 1 };
            node.here.iter().for_each(|target| add(&mut open, *target, times.saturating_mul(again)));
            all.push((node, times));
        }
        Some(all)
    }
}

/// What a node does by itself with a value.
fn own(node: &Node, value: &Value) -> u64 {
    let text = |text: &str| 1 + text.len() as u64 / TEXT_BYTES;
    let matched = match value {
        _ if node.patterns == 0 => 0,
        Value::String(value) => text(value),
        Value::Object(members) => members.keys().map(|name| text(name)).sum(),
        _ => 0,
    };
    let compared = if node.unique && value.is_array() { size(value).values } else { 0 };
    1 + node.cost + node.patterns.saturating_mul(matched) + compared
}

fn parts(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.len() as u64,
        Value::Object(members) => members.len() as u64,
        _ => 0,
    }
}

/// What is applied to a part, by what is applied to the whole.
fn gather(all: &[(&Node, u64)], targets: impl Fn(&Node, &mut dyn FnMut(Index))) -> Vec<(Index, u64)> {
    let mut inner = Vec::new();
    for (node, times) in all {
        targets(node, &mut |index| inner.push((index, *times)));
    }
    inner
}
