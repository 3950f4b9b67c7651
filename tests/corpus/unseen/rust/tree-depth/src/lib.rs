use latchwork_guest::{Determinism, Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Greatest accepted depth.
const DEEPEST: usize = 300;

#[derive(Deserialize, JsonSchema)]
struct Tree {
    /// Index of the parent of each node. The root has -1, and parents come before their children.
    parents: Vec<i64>,
}

#[derive(Serialize, JsonSchema)]
struct Measure {
    depth: usize,
    leaves: usize,
    path_lengths: u64,
}

#[derive(Default)]
struct Node {
    children: Vec<usize>,
}

fn walk(nodes: &[Node], at: usize, depth: usize, found: &mut Measure) -> Result<(), Error> {
    if depth > DEEPEST {
        return Err(Error::invalid_input(format!("the tree has more than {DEEPEST} levels")));
    }
    found.depth = found.depth.max(depth);
    found.path_lengths += depth as u64;
    found.leaves += usize::from(nodes[at].children.is_empty());
    nodes[at].children.iter().try_for_each(|&child| walk(nodes, child, depth + 1, found))
}

fn measure(tree: Tree, _: &step::Context) -> Result<Measure, Error> {
    let mut nodes: Vec<Node> = Vec::new();
    nodes.resize_with(tree.parents.len(), Node::default);
    for (index, &parent) in tree.parents.iter().enumerate() {
        match usize::try_from(parent) {
            Ok(parent) if parent < index => nodes[parent].children.push(index),
            Err(_) if index == 0 => {}
            _ => return Err(Error::invalid_input(format!("node {index} has a wrong parent"))),
        }
    }
    let mut found = Measure { depth: 0, leaves: 0, path_lengths: 0 };
    if !nodes.is_empty() {
        walk(&nodes, 0, 1, &mut found)?;
    }
    Ok(found)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Tree.Measure", measure).describe("Measures a tree.").determinism(Determinism::Pure),
    ],
}
