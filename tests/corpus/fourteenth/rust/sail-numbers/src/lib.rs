//! `Sail.List`: checks the sail numbers of a regatta and groups the boats by class.

use std::collections::{BTreeMap, BTreeSet};

use latchwork_guest::{Error, clock, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const NATIONS: [&str; 14] =
    ["AUS", "BEL", "DEN", "ESP", "FIN", "FRA", "GBR", "GER", "ITA", "NED", "NOR", "NZL", "SWE", "USA"];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Regatta {
    entries: Vec<Entry>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Entry {
    boat: String,
    /// The code of the nation has three capital letters.
    nation: String,
    number: u32,
    class: String,
}

#[derive(Serialize, JsonSchema)]
struct List {
    /// Each class has its sail numbers with their boats.
    classes: BTreeMap<String, Vec<Line>>,
    nations: usize,
}

#[derive(Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    sail: String,
    boat: String,
}

fn list(regatta: Regatta, _: &step::Context) -> Result<List, Error> {
    if regatta.entries.is_empty() {
        return Err(Error::invalid_input("entries: no boat"));
    }
    let mut seen = BTreeSet::new();
    let mut nations = BTreeSet::new();
    let mut classes: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    for entry in regatta.entries {
        if !NATIONS.contains(&entry.nation.as_str()) {
            return Err(refuse(&entry, "the nation is unknown"));
        }
        if !(1..=99_999).contains(&entry.number) {
            return Err(refuse(&entry, "a sail number has one to five digits"));
        }
        if !seen.insert((entry.class.clone(), entry.nation.clone(), entry.number)) {
            return Err(refuse(&entry, "another boat of the class has this sail number"));
        }
        let sail = format!("{} {}", entry.nation, entry.number);
        nations.insert(entry.nation);
        classes.entry(entry.class).or_default().push(Line { sail, boat: entry.boat });
    }
    for lines in classes.values_mut() {
        lines.sort();
    }
    Ok(List { classes, nations: nations.len() })
}

/// Returns an error with the data that the race office needs to call the owner of the boat.
fn refuse(entry: &Entry, reason: &str) -> Error {
    Error::invalid_input(format!("{}: {reason}", entry.boat)).detail(json!({
        "boat": entry.boat,
        "sail": format!("{} {}", entry.nation, entry.number),
        "class": entry.class,
        "checked_at": clock::now().to_string(),
    }))
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Sail.List", list).describe("Checks and groups the sail numbers of a regatta."),
    ],
}
