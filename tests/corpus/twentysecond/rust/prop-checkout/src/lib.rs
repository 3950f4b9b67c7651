//! Checks that every prop of a performance is in a crate, and makes the packing list of the evening.

use std::collections::{BTreeMap, HashSet};

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Performance {
    /// Scenes in the order of the play.
    #[schemars(length(min = 1, max = 40))]
    scenes: Vec<Scene>,
    /// Crates that stand at the loading door.
    #[schemars(length(max = 40))]
    crates: Vec<PropCrate>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Scene {
    #[schemars(length(min = 1, max = 80))]
    title: String,
    /// Names of the props on stage.
    #[schemars(length(max = 30), inner(length(max = 80)))]
    props: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PropCrate {
    #[schemars(range(max = 999))]
    number: u16,
    #[schemars(length(max = 200), inner(length(max = 80)))]
    contents: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Packing {
    /// Props of the performance, with the crate that has each of them.
    places: BTreeMap<String, u16>,
    /// Crates that the performance needs, in ascending order.
    load: Vec<u16>,
    /// Scenes without a prop.
    bare_scenes: Vec<String>,
}

/// Writes a prop name as it is on the label of the shelf: lower case, single spaces.
fn label(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn pack(performance: Performance, _: &step::Context) -> Result<Packing, Error> {
    let mut wanted = HashSet::new();
    let mut bare_scenes = Vec::new();
    for scene in &performance.scenes {
        if scene.props.is_empty() {
            bare_scenes.push(scene.title.clone());
        }
        wanted.extend(scene.props.iter().map(|prop| label(prop)).filter(|prop| !prop.is_empty()));
    }

    // A prop that is in two crates is taken from the crate with the lower number.
    let mut shelf: BTreeMap<String, u16> = BTreeMap::new();
    for prop_crate in &performance.crates {
        for prop in &prop_crate.contents {
            let place = shelf.entry(label(prop)).or_insert(prop_crate.number);
            *place = prop_crate.number.min(*place);
        }
    }

    let packed: HashSet<String> = shelf.keys().cloned().collect();
    let missing: Vec<&str> = wanted.difference(&packed).map(String::as_str).collect();
    if !missing.is_empty() {
        return Err(Error::invalid_input(format!("in no crate: {}", missing.join(", ")))
            .detail(serde_json::json!({ "missing": missing.len(), "wanted": wanted.len() })));
    }

    let places: BTreeMap<String, u16> = shelf.into_iter().filter(|(prop, _)| wanted.contains(prop)).collect();
    let mut load: Vec<u16> = places.values().copied().collect();
    load.sort_unstable();
    load.dedup();
    Ok(Packing { places, load, bare_scenes })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Props.Pack", pack)
            .describe("Finds the crate of each prop of a performance.")
            .outcome("List.Packing", "draft"),
    ],
}
