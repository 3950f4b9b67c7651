//! Writes the tag of a coral colony for the nursery database.

use std::collections::BTreeMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Colony {
    species: String,
    reef: String,
    number: u32,
    depth_m: f64,
    /// Remarks of the divers, by their heading.
    #[serde(default)]
    remarks: BTreeMap<String, String>,
}

/// The nursery database has one column for each key, so the remarks are columns too.
#[derive(Serialize, JsonSchema)]
struct Tag {
    tag: String,
    reef: String,
    zone: &'static str,
    #[serde(flatten)]
    remarks: BTreeMap<String, String>,
}

fn tag(colony: Colony, _: &step::Context) -> Result<Tag, Error> {
    let initials: String =
        colony.species.split_whitespace().filter_map(|word| word.chars().next()).flat_map(char::to_uppercase).collect();
    if initials.is_empty() {
        return Err(Error::invalid_input("the colony has no species"));
    }
    let zone = match colony.depth_m {
        depth if depth < 0.0 => return Err(Error::invalid_input("the depth is above the surface")),
        depth if depth < 5.0 => "shallow",
        depth if depth < 18.0 => "middle",
        _ => "deep",
    };
    let remarks = colony
        .remarks
        .into_iter()
        .map(|(heading, text)| (heading.trim().to_lowercase().replace(' ', "_"), text.trim().to_owned()))
        .filter(|(heading, text)| !heading.is_empty() && !text.is_empty())
        .collect();
    Ok(Tag { tag: format!("{initials}-{:05}", colony.number), reef: colony.reef, zone, remarks })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [step::operator("Coral.Tag", tag).describe("Writes the tag of a coral colony.")],
}
