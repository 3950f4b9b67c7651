//! `Gourd.Rank`: ranks the entries of a giant vegetable show by weight.
//!
//! The show's scale is exact to 50 grams. Entries that the scale cannot tell apart are listed by grower.

use std::cmp::Ordering;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Accuracy of the scale in kilograms.
const ACCURACY: f64 = 0.05;
/// Heaviest entry that the scale can carry, in kilograms.
const KILOS_MAX: f64 = 2_000.0;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Show {
    /// Name of the class, such as "pumpkin".
    class: String,
    /// Entries in the order of weighing.
    entries: Vec<Entry>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Entry {
    grower: String,
    kilos: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Ranking {
    class: String,
    places: Vec<Place>,
    /// Weight of all entries together, in grams.
    total_grams: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Place {
    /// Place of the entry, from 1. Entries with equal weights on the scale share a place.
    place: usize,
    grower: String,
    kilos: f64,
}

/// Returns true if the scale cannot tell the two weights apart.
fn same_weight(a: &Entry, b: &Entry) -> bool {
    (a.kilos - b.kilos).abs() < ACCURACY
}

/// Heavier entries come first, and entries of the same weight by grower.
fn order(a: &Entry, b: &Entry) -> Ordering {
    if same_weight(a, b) { a.grower.cmp(&b.grower) } else { b.kilos.total_cmp(&a.kilos) }
}

fn rank(show: Show, _: &step::Context) -> Result<Ranking, Error> {
    if show.entries.is_empty() {
        return Err(Error::invalid_input(format!("class {:?} has no entries", show.class)));
    }
    if show.entries.len() > 1_000 {
        return Err(Error::invalid_input("a class has at most 1000 entries"));
    }
    for entry in &show.entries {
        if entry.grower.trim().is_empty() {
            return Err(Error::invalid_input("an entry has no grower"));
        }
        if !(entry.kilos > 0.0 && entry.kilos <= KILOS_MAX) {
            let (grower, kilos) = (&entry.grower, entry.kilos);
            return Err(Error::invalid_input(format!("the entry of {grower} weighs {kilos} kg")));
        }
    }
    let total: f64 = show.entries.iter().map(|entry| entry.kilos * 1_000.0).sum();
    let mut entries = show.entries;
    entries.sort_by(order);
    let mut places: Vec<Place> = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let place = match index.checked_sub(1) {
            Some(before) if same_weight(&entries[before], entry) => places[before].place,
            _ => index + 1,
        };
        places.push(Place { place, grower: entry.grower.clone(), kilos: entry.kilos });
    }
    Ok(Ranking { class: show.class, places, total_grams: total.round() as u32 })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Gourd.Rank", rank)
            .describe("Ranks the entries of a giant vegetable show by weight."),
    ],
}
