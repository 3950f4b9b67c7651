//! `Race.Bibs`: gives the runners of a race their bib numbers, in a random order.

use std::collections::HashSet;

use latchwork_guest::{Determinism, Error, log, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Entries {
    /// Name of the race.
    race: String,
    /// Names of all runners, from a club run to a city marathon. Each name occurs once.
    runners: Vec<String>,
    /// Lowest bib number of the race.
    first_bib: u32,
    /// Names of runners who wear the lowest numbers, in this order.
    #[serde(default)]
    seeded: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Bib {
    number: u32,
    runner: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct BibList {
    race: String,
    bibs: Vec<Bib>,
}

/// Checks the entries and returns the runners who take part in the draw.
fn drawn(entries: &Entries) -> Result<Vec<String>, Error> {
    if entries.runners.is_empty() {
        return Err(Error::invalid_input("the race has no runners"));
    }
    let mut seen = HashSet::new();
    for runner in &entries.runners {
        if runner.trim().is_empty() {
            return Err(Error::invalid_input("a runner has no name"));
        }
        if !seen.insert(runner.as_str()) {
            return Err(Error::invalid_input(format!("{runner} is entered twice")));
        }
    }
    let mut seeded = HashSet::new();
    for runner in &entries.seeded {
        if !seen.contains(runner.as_str()) || !seeded.insert(runner.as_str()) {
            return Err(Error::invalid_input(format!("{runner} cannot be seeded")));
        }
    }
    Ok(entries.runners.iter().filter(|runner| !seeded.contains(runner.as_str())).cloned().collect())
}

/// Puts the names into a random order, in which each order is equally likely.
fn shuffle(names: &mut [String]) {
    for last in (1..names.len()).rev() {
        let bound = u32::try_from(last + 1).unwrap_or(u32::MAX);
        names.swap(last, rng::below(bound) as usize);
    }
}

fn bibs(entries: Entries, _: &step::Context) -> Result<BibList, Error> {
    let mut rest = drawn(&entries)?;
    let total = u32::try_from(entries.runners.len()).unwrap_or(u32::MAX);
    if entries.first_bib.checked_add(total).is_none() {
        return Err(Error::invalid_input("the bib numbers are too large"));
    }
    shuffle(&mut rest);
    log::info!("{}: {} seeded, {} drawn", entries.race, entries.seeded.len(), rest.len());
    let order = entries.seeded.into_iter().chain(rest);
    let bibs = (entries.first_bib..).zip(order).map(|(number, runner)| Bib { number, runner }).collect();
    Ok(BibList { race: entries.race, bibs })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Race.Bibs", bibs)
            .describe("Gives the runners of a race their bib numbers in a random order.")
            .determinism(Determinism::Stable),
    ],
}
