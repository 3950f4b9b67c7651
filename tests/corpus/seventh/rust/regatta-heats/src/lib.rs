//! Puts the crews of a regatta into heats, one club after the other.

use std::collections::BTreeMap;
use std::rc::Rc;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Entry {
    crew: String,
    club: String,
}

#[derive(Deserialize, JsonSchema)]
struct Regatta {
    entries: Vec<Entry>,
    /// Number of lanes of the course.
    lanes: usize,
}

#[derive(Serialize, JsonSchema)]
struct Heats {
    heats: Vec<Vec<String>>,
}

/// Club names, each of them stored once.
#[derive(Default)]
struct Names(Vec<Rc<str>>);

impl Names {
    fn intern(&mut self, name: &str) -> Rc<str> {
        let name = name.trim();
        if let Some(known) = self.0.iter().find(|known| known.eq_ignore_ascii_case(name)) {
            return Rc::clone(known);
        }
        let new: Rc<str> = Rc::from(name);
        self.0.push(Rc::clone(&new));
        new
    }
}

fn plan(regatta: Regatta, _: &step::Context) -> Result<Heats, Error> {
    if regatta.lanes == 0 || regatta.entries.is_empty() {
        return Err(Error::invalid_input("a regatta needs at least one lane and one crew"));
    }
    let mut names = Names::default();
    // Equal names are the same allocation, so the pointer is enough to tell two clubs apart.
    let mut clubs: BTreeMap<*const u8, Vec<String>> = BTreeMap::new();
    for entry in &regatta.entries {
        let club = names.intern(&entry.club);
        let label = format!("{} ({club})", entry.crew.trim());
        clubs.entry(Rc::as_ptr(&club).cast()).or_default().push(label);
    }
    let crews: Vec<String> = clubs.into_values().flatten().collect();
    Ok(Heats { heats: crews.chunks(regatta.lanes).map(<[String]>::to_vec).collect() })
}

latchwork_guest::export_step! {
    version: "0.1.0",
    operators: [
        step::operator("Regatta.Plan", plan).describe("Puts the crews of a regatta into heats by club."),
    ],
}
