//! A schema as a graph of subschemas. An edge leads from subschema A to subschema B if A applies B to the same value or
//! to a part of the value.
//!
//! The graph is built when the plugin is loaded, before the schema is compiled. If the check of some value could need
//! unbounded time or stack, the schema is refused.

use std::collections::HashMap;

use serde_json::{Map, Value};

use latchwork_core::model::bounds::{SCHEMA_BYTES, SCHEMA_CHAIN, SCHEMA_NESTING, SUBSCHEMAS};

use crate::engine::schema::keywords::{comparison_cost, text_cost};
use crate::engine::schema::patterns::{self, PatternCost, PatternSizes};

/// Keywords whose value is one subschema. The subschema applies to the same JSON value as the schema that
/// contains the keyword.
const SAME_VALUE: [&str; 4] = ["not", "if", "then", "else"];
/// Keywords whose value is a list of subschemas. They apply to the same JSON value as the schema that contains
/// the keyword.
const SAME_VALUE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords whose value is an object of named subschemas. They may apply to the same JSON value as the schema
/// that contains the keyword.
const SAME_VALUE_MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];
/// Reference keywords. Every possible target of a reference is followed.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Index of a node in [`Graph::nodes`].
pub(super) type Index = usize;

/// One subschema and the subschemas that it applies.
#[derive(Debug, Default)]
pub(super) struct SchemaNode {
    /// Subschemas that apply to the same JSON value as this subschema.
    pub(super) same_value: Vec<Index>,
    /// Subschemas applied to members with these names.
    pub(super) named_members: HashMap<String, Index>,
    /// Subschemas applied to members that are not in `named_members`.
    pub(super) other_members: Vec<Index>,
    /// Subschemas that may apply to any member.
    pub(super) any_member: Vec<Index>,
    /// Subschemas applied to the names of members.
    pub(super) member_names: Vec<Index>,
    /// Subschemas applied to the first items, one each.
    pub(super) first_items: Vec<Index>,
    /// Subschemas applied to the items that `first_items` does not cover.
    pub(super) rest_items: Vec<Index>,
    /// Subschemas that may apply to any item.
    pub(super) any_item: Vec<Index>,
    /// Cost of the comparisons with allowed values and member names in this subschema. Comparisons in other subschemas
    /// that this subschema applies are not included.
    pub(super) cost: u64,
    /// Cost of the keywords that read a text or the names of members, for each unit of text.
    pub(super) text_cost: u64,
    /// True if the subschema compares items with each other (`uniqueItems`).
    pub(super) compares_items: bool,
    /// True if the subschema must know which parts of the value its neighbouring subschemas have evaluated
    /// (`unevaluatedProperties`, `unevaluatedItems`).
    pub(super) uses_evaluated_parts: bool,
    /// Length of the longest chain of subschemas that apply to the same value, starting here.
    pub(super) chain_length: usize,
    /// Position in a topological order. If subschema A applies subschema B to the same value, A comes before B.
    pub(super) rank: usize,
}

/// The reachable subschemas. The first node is the whole schema.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<SchemaNode>,
    /// True if the schema contains references. A subschema may then be applied to a value more than once.
    pub(super) has_references: bool,
    /// Sizes of all regular expressions, also of those in subschemas that no check can reach. The library compiles
    /// these as well.
    pub(super) pattern_sizes: PatternSizes,
}

impl Graph {
    /// Parses a schema and builds its graph.
    ///
    /// # Errors
    /// The reason why the schema is refused.
    pub(super) fn read(text: &str) -> Result<(Value, Self), String> {
        if text.len() > SCHEMA_BYTES {
            return Err(format!("it has {} bytes, the maximum is {SCHEMA_BYTES}", text.len()));
        }
        let schema: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
        let mut graph = {
            let (known, found, anchors) = (HashMap::new(), Vec::new(), HashMap::new());
            let (pattern_sizes, pattern_costs) = (PatternSizes::default(), HashMap::new());
            let mut reader = SchemaReader { root: &schema, known, found, anchors, pattern_sizes, pattern_costs };
            reader.scan(&schema, 0)?;
            let nodes = reader.read_reachable()?;
            let has_references = reader.anchors.contains_key(REFERENCES_SEEN);
            Self { nodes, has_references, pattern_sizes: reader.pattern_sizes }
        };
        graph.rank()?;
        Ok((schema, graph))
    }

    /// Returns the length of the longest chain of subschemas that apply to one value.
    pub(super) fn longest_chain(&self) -> usize {
        self.nodes.iter().map(|node| node.chain_length).max().unwrap_or(0)
    }

    /// Ranks the nodes: if node A applies node B to the same value, A comes before B. Computes the length of the
    /// longest chain from each node.
    ///
    /// # Errors
    /// Fails if a node applies itself to the same value, because a check would never end. Also fails if a chain is
    /// longer than [`SCHEMA_CHAIN`].
    fn rank(&mut self) -> Result<(), String> {
        let mut before = vec![0_usize; self.nodes.len()];
        self.nodes.iter().flat_map(|node| &node.same_value).for_each(|target| before[*target] += 1);
        let mut free: Vec<Index> = (0..self.nodes.len()).filter(|index| before[*index] == 0).collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(index) = free.pop() {
            self.nodes[index].rank = order.len();
            order.push(index);
            for target in &self.nodes[index].same_value {
                before[*target] -= 1;
                if before[*target] == 0 {
                    free.push(*target);
                }
            }
        }
        if order.len() < self.nodes.len() {
            return Err("a reference leads back to itself for the same value, so a check would never end".to_owned());
        }
        for index in order.into_iter().rev() {
            let height = self.nodes[index]
                .same_value
                .iter()
                .map(|target| self.nodes[*target].chain_length + 1)
                .max()
                .unwrap_or(0);
            if height > SCHEMA_CHAIN {
                return Err(format!("more than {SCHEMA_CHAIN} subschemas in a row apply to the same value"));
            }
            self.nodes[index].chain_length = height;
        }
        Ok(())
    }
}

/// Key of `anchors` that is present if the schema contains references. No anchor has this name.
const REFERENCES_SEEN: &str = "";
/// Key of `anchors` for the targets of `$recursiveRef`. No anchor has this name.
const RECURSIVE: &str = "$recursive";

struct SchemaReader<'s> {
    root: &'s Value,
    /// Nodes by the memory address of their value in the document.
    known: HashMap<*const Value, Index>,
    found: Vec<&'s Value>,
    anchors: HashMap<&'s str, Vec<&'s Value>>,
    /// Sizes of the regular expressions that were scanned so far.
    pattern_sizes: PatternSizes,
    /// Costs of the regular expressions that were measured. To measure an expression, its automaton is built.
    pattern_costs: HashMap<&'s str, PatternCost>,
}

impl<'s> SchemaReader<'s> {
    /// Scans the whole document. Checks its depth and its regular expressions, and collects its anchors.
    fn scan(&mut self, value: &'s Value, depth: usize) -> Result<(), String> {
        if depth > SCHEMA_NESTING {
            return Err(format!("it is nested more than {SCHEMA_NESTING} levels deep"));
        }
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.scan(item, depth + 1)),
            Value::Object(members) => {
                self.anchor(value, members, depth)?;
                self.measure_patterns(members)?;
                members.values().try_for_each(|member| self.scan(member, depth + 1))
            }
            _ => Ok(()),
        }
    }

    /// Returns the cost of a regular expression.
    fn pattern_cost(&mut self, pattern: &'s str) -> Result<PatternCost, String> {
        if let Some(cost) = self.pattern_costs.get(pattern) {
            return Ok(*cost);
        }
        let cost = patterns::cost(pattern)?;
        self.pattern_costs.insert(pattern, cost);
        Ok(cost)
    }

    /// Adds the sizes of the regular expressions in one object of the document.
    fn measure_patterns(&mut self, members: &'s Map<String, Value>) -> Result<(), String> {
        let pattern = members.get("pattern").and_then(Value::as_str);
        let names = members.get("patternProperties").and_then(Value::as_object);
        for pattern in pattern.into_iter().chain(names.into_iter().flat_map(|names| names.keys().map(String::as_str))) {
            // The text is checked first, because measuring the automaton means to parse the text.
            self.pattern_sizes.text += pattern.len();
            patterns::check_schema(self.pattern_sizes)?;
            self.pattern_sizes.states += self.pattern_cost(pattern)?.bytes;
            patterns::check_schema(self.pattern_sizes)?;
        }
        Ok(())
    }

    fn anchor(&mut self, value: &'s Value, members: &'s Map<String, Value>, depth: usize) -> Result<(), String> {
        if members.contains_key("$recursiveAnchor") {
            self.anchors.entry(RECURSIVE).or_default().push(value);
        }
        for name in ["$anchor", "$dynamicAnchor", "$id", "id"] {
            let Some(Value::String(text)) = members.get(name) else { continue };
            match (name, text.strip_prefix('#')) {
                ("$anchor" | "$dynamicAnchor", _) => self.anchors.entry(text).or_default().push(value),
                (_, Some(anchor)) if !anchor.is_empty() => self.anchors.entry(anchor).or_default().push(value),
                // A nested schema with an `$id` is refused, because the `$id` would change the base of the references
                // in it. In old drafts, `id` has the same effect.
                ("$id", None) if depth > 0 => return Err(format!("$id {text:?}: only the root schema may have one")),
                ("id", None) if depth > 0 && self.is_draft_04() => {
                    return Err(format!("id {text:?}: only the root schema may have one"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn is_draft_04(&self) -> bool {
        self.root.get("$schema").and_then(Value::as_str).is_some_and(|draft| draft.contains("draft-04"))
    }

    fn read_reachable(&mut self) -> Result<Vec<SchemaNode>, String> {
        let mut nodes = Vec::new();
        self.node(self.root);
        while let Some(value) = self.found.get(nodes.len()).copied() {
            let node = self.read(value)?;
            nodes.push(node);
            if self.found.len() > SUBSCHEMAS {
                return Err(format!("it has more than {SUBSCHEMAS} subschemas"));
            }
        }
        Ok(nodes)
    }

    /// Returns the node for a value of the document and creates the node if it does not exist.
    fn node(&mut self, value: &'s Value) -> Index {
        let next = self.found.len();
        let index = *self.known.entry(std::ptr::from_ref(value)).or_insert(next);
        if index == next {
            self.found.push(value);
        }
        index
    }

    fn read(&mut self, value: &'s Value) -> Result<SchemaNode, String> {
        let mut node = SchemaNode::default();
        let Value::Object(keywords) = value else { return Ok(node) };
        for (keyword, value) in keywords {
            node.cost += comparison_cost(keyword, value);
            node.text_cost += text_cost(keyword);
            match (keyword.as_str(), value) {
                (name, Value::String(target)) if REFERENCES.contains(&name) => {
                    self.anchors.entry(REFERENCES_SEEN).or_default();
                    for target in self.targets(name, target)? {
                        let target = self.node(target);
                        node.same_value.push(target);
                    }
                }
                (name, _) if SAME_VALUE.contains(&name) => node.same_value.push(self.node(value)),
                (name, Value::Array(list)) if SAME_VALUE_LISTS.contains(&name) => {
                    node.same_value.extend(list.iter().map(|value| self.node(value)));
                }
                (name, Value::Object(map)) if SAME_VALUE_MAPS.contains(&name) => {
                    node.same_value
                        .extend(map.values().filter(|value| !value.is_array()).map(|value| self.node(value)));
                }
                ("properties", Value::Object(map)) => {
                    node.named_members.extend(map.iter().map(|(name, value)| (name.clone(), self.node(value))));
                }
                ("patternProperties", Value::Object(map)) => {
                    node.any_member.extend(map.values().map(|value| self.node(value)));
                    for pattern in map.keys() {
                        node.text_cost += self.pattern_cost(pattern)?.units;
                    }
                }
                ("additionalProperties", _) => node.other_members.push(self.node(value)),
                ("unevaluatedProperties", _) => {
                    node.uses_evaluated_parts = true;
                    node.any_member.push(self.node(value));
                }
                ("propertyNames", _) => node.member_names.push(self.node(value)),
                ("items" | "prefixItems", Value::Array(list)) => {
                    node.first_items.extend(list.iter().map(|value| self.node(value)));
                }
                ("items" | "additionalItems", _) => node.rest_items.push(self.node(value)),
                ("unevaluatedItems", _) => {
                    node.uses_evaluated_parts = true;
                    node.any_item.push(self.node(value));
                }
                ("contains", _) => node.any_item.push(self.node(value)),
                ("pattern", Value::String(pattern)) => node.text_cost += self.pattern_cost(pattern)?.units,
                ("uniqueItems", Value::Bool(true)) => node.compares_items = true,
                _ => {}
            }
        }
        Ok(node)
    }

    /// Returns the subschemas of this document that may be the target of a reference. A dynamic or recursive reference
    /// may have several possible targets. During a check, the schemas that lead to the reference decide which target
    /// applies.
    fn targets(&self, keyword: &str, reference: &str) -> Result<Vec<&'s Value>, String> {
        let own = self.root.get("$id").and_then(Value::as_str).map(|id| id.trim_end_matches('#'));
        let within =
            own.and_then(|own| reference.strip_prefix(own)).filter(|rest| rest.is_empty() || rest.starts_with('#'));
        let reference = within.unwrap_or(reference);
        let unknown = || format!("{keyword} {reference:?} does not lead to a subschema of this schema");
        if reference.is_empty() || reference == "#" {
            let marked = self.anchors.get(RECURSIVE).filter(|_| keyword == "$recursiveRef");
            return Ok(std::iter::once(self.root).chain(marked.into_iter().flatten().copied()).collect());
        }
        let fragment = reference.strip_prefix('#').ok_or_else(unknown)?;
        if fragment.contains('%') {
            return Err(format!("{keyword} {reference:?}: write it without percent signs"));
        }
        if fragment.starts_with('/') {
            return Ok(vec![self.root.pointer(fragment).ok_or_else(unknown)?]);
        }
        self.anchors.get(fragment).cloned().ok_or_else(unknown)
    }
}
