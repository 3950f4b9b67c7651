//! `Towpath.Search`: finds the way with the fewest posts between two posts of a towpath network.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use latchwork_guest::{Error, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Network {
    /// Neighbouring posts. A towpath has a post every ten metres.
    stretches: Vec<[u32; 2]>,
    /// Post where the way begins.
    from: u32,
    /// Post where the way ends.
    to: u32,
}

#[derive(Serialize, JsonSchema)]
struct Way {
    /// Length of the way in metres.
    metres: usize,
    /// Posts of the way where another towpath branches off, in order.
    junctions: Vec<u32>,
}

/// A post that was reached, and the way to it. Ways with the same beginning share it.
struct Trail {
    post: u32,
    before: Option<Rc<Trail>>,
}

fn search(network: Network, _: &step::Context) -> Result<Way, Error> {
    let mut neighbours: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for [one, other] in &network.stretches {
        if one == other {
            return Err(Error::invalid_input(format!("post {one} is its own neighbour")));
        }
        neighbours.entry(*one).or_default().insert(*other);
        neighbours.entry(*other).or_default().insert(*one);
    }
    for post in [network.from, network.to] {
        if !neighbours.contains_key(&post) {
            return Err(Error::invalid_input(format!("the network has no post {post}")));
        }
    }

    let mut seen = BTreeSet::from([network.from]);
    let mut waiting = VecDeque::from([Rc::new(Trail { post: network.from, before: None })]);
    while let Some(trail) = waiting.pop_front() {
        if trail.post == network.to {
            return Ok(describe(&trail, &neighbours));
        }
        for next in &neighbours[&trail.post] {
            if seen.insert(*next) {
                waiting.push_back(Rc::new(Trail { post: *next, before: Some(Rc::clone(&trail)) }));
            }
        }
    }
    Err(Error::invalid_input(format!("no towpath leads from post {} to post {}", network.from, network.to)))
}

/// Describes the way that ends with this trail.
fn describe(end: &Rc<Trail>, neighbours: &BTreeMap<u32, BTreeSet<u32>>) -> Way {
    let mut posts = Vec::new();
    let mut at = Some(end);
    while let Some(trail) = at {
        posts.push(trail.post);
        at = trail.before.as_ref();
    }
    posts.reverse();
    log::info!("the way has {} posts", posts.len());
    let junctions = posts.iter().copied().filter(|post| neighbours[post].len() > 2).collect();
    Way { metres: (posts.len() - 1) * 10, junctions }
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Towpath.Search", search)
            .describe("Finds the shortest way between two posts of a towpath network."),
    ],
}
