//! Counts the work of a check before the check runs, and compares the work with a budget.
//!
//! A few bytes of schema and a few brackets can cause exponentially many checks. For example, a schema may apply two
//! subschemas to a value, and each of the two may apply two subschemas to the items of the value.
//!
//! The work is counted without following each path through the schema. The count starts at the whole value and
//! continues with its parts. For each pair of a subschema and a part, the count keeps one number: how often the
//! subschema is applied to the part.
//!
//! The count is an upper bound. It includes work that the validator skips once the result is known.

use std::collections::BTreeMap;

use serde_json::Value;

use latchwork_core::model::bounds;

use crate::engine::schema::graph::{Graph, Index, SchemaNode};
use crate::engine::schema::size::{size, text_units, units_of};

/// Maximum estimate of the work for which the exact count is skipped.
const ESTIMATE_MAX: u64 = 100_000;
/// Largest number of items that the library compares with each other one by one.
const ITEMS_COMPARED_MAX: usize = 15;

/// Upper bound for the work of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CheckCost {
    /// Number of applications. One application evaluates one subschema for one value.
    pub(super) applications: u64,
    /// Maximum number of nested applications.
    pub(super) depth: usize,
}

/// Returns the work of a check, or `None` if the work exceeds the limits.
pub(super) fn count(graph: &Graph, value: &Value) -> Option<CheckCost> {
    let whole = size(value);
    let depth = (whole.depth + 1) * (graph.longest_chain() + 1);
    if depth > bounds::SCHEMA_DEPTH {
        return None;
    }
    let units = whole.units();
    let each: u64 = graph.nodes.iter().map(|node| 1 + node.cost + node.text_cost).sum();
    let plain =
        !graph.has_references && graph.nodes.iter().all(|node| !node.uses_evaluated_parts && !node.compares_items);
    // A plain schema applies each subschema at most once to each value. The product below is therefore an upper bound
    // of its work. If the product is small, the exact count is not needed.
    if plain && each.saturating_mul(units) <= ESTIMATE_MAX {
        return Some(CheckCost { applications: each * units, depth });
    }
    let mut counting = Counting { graph, applications: 0 };
    counting.visit(value, &[(0, 1)])?;
    Some(CheckCost { applications: counting.applications, depth })
}

struct Counting<'g> {
    graph: &'g Graph,
    applications: u64,
}

impl<'g> Counting<'g> {
    /// Counts the work for a value and its parts. `applied` lists the nodes applied to the value, with the
    /// number of applications. The JSON parser bounds the nesting of values, so the recursion is bounded.
    fn visit(&mut self, value: &Value, applied: &[(Index, u64)]) -> Option<()> {
        if applied.is_empty() {
            return Some(());
        }
        let all = self.nodes_at_value(value, applied)?;
        match value {
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    let inner = nodes_at_part(&all, |node, add| {
                        node.first_items.get(at).into_iter().chain(&node.any_item).for_each(|index| add(*index));
                        node.rest_items.iter().filter(|_| at >= node.first_items.len()).for_each(|index| add(*index));
                    });
                    self.visit(item, &inner)?;
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    let inner = nodes_at_part(&all, |node, add| {
                        let named = node.named_members.get(name);
                        named.into_iter().chain(&node.any_member).for_each(|index| add(*index));
                        node.other_members.iter().filter(|_| named.is_none()).for_each(|index| add(*index));
                    });
                    self.visit(member, &inner)?;
                    let names = nodes_at_part(&all, |node, add| node.member_names.iter().for_each(|index| add(*index)));
                    if !names.is_empty() {
                        self.visit(&Value::String(name.clone()), &names)?;
                    }
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Returns every node that applies to this value, with its number of applications.
    fn nodes_at_value(&mut self, value: &Value, applied: &[(Index, u64)]) -> Option<Vec<(&'g SchemaNode, u64)>> {
        let graph = self.graph;
        let mut open: BTreeMap<usize, (Index, u64)> = BTreeMap::new();
        let add = |open: &mut BTreeMap<usize, (Index, u64)>, index: Index, times: u64| {
            let sum = &mut open.entry(graph.nodes[index].rank).or_insert((index, 0)).1;
            *sum = sum.saturating_add(times);
        };
        applied.iter().for_each(|(index, times)| add(&mut open, *index, *times));
        let mut all = Vec::with_capacity(open.len());
        // Nodes are processed in topological order. All applications of a node are therefore counted before the node is
        // processed.
        while let Some((_, (index, times))) = open.pop_first() {
            let node = &graph.nodes[index];
            self.applications = self.applications.saturating_add(times.saturating_mul(own_work(node, value)));
            if self.applications > bounds::SCHEMA_WORK {
                return None;
            }
            let again = if node.uses_evaluated_parts {
                (1 + part_count(value)).saturating_mul(1 + node.chain_length as u64)
            } else {
                1
            };
            node.same_value.iter().for_each(|target| add(&mut open, *target, times.saturating_mul(again)));
            all.push((node, times));
        }
        Some(all)
    }
}

/// Returns the work that a node itself does for a value, without the work of the nodes that it applies.
fn own_work(node: &SchemaNode, value: &Value) -> u64 {
    let matched = match value {
        _ if node.text_cost == 0 => 0,
        Value::String(value) => text_units(value),
        Value::Object(members) => members.keys().map(|name| text_units(name)).sum(),
        _ => 0,
    };
    let compared = match value {
        Value::Array(items) if node.compares_items => {
            units_of(value).saturating_mul(items.len().clamp(1, ITEMS_COMPARED_MAX) as u64)
        }
        _ => 0,
    };
    1 + node.cost + node.text_cost.saturating_mul(matched) + compared
}

fn part_count(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.len() as u64,
        Value::Object(members) => members.len() as u64,
        _ => 0,
    }
}

/// Returns the nodes applied to one part of a value, derived from the nodes applied to the whole value.
fn nodes_at_part(
    all: &[(&SchemaNode, u64)],
    targets: impl Fn(&SchemaNode, &mut dyn FnMut(Index)),
) -> Vec<(Index, u64)> {
    let mut inner = Vec::new();
    for (node, times) in all {
        targets(node, &mut |index| inner.push((index, *times)));
    }
    inner
}
