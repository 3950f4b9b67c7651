//! `Warbler.Rank`: names the leading species of each site of a bird count.

use std::cmp::Reverse;
use std::collections::HashMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of leading species that a site shows on the board.
const LEADERS: usize = 3;
/// Largest number of sites of one count.
const SITES_MAX: usize = 200;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Count {
    /// Name of the count, such as `May 2026`.
    title: String,
    sites: Vec<Site>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Site {
    name: String,
    sightings: Vec<Sighting>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sighting {
    species: String,
    birds: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Board {
    title: String,
    sites: Vec<Ranking>,
    /// Birds of all sites together.
    birds: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Ranking {
    site: String,
    /// Number of different species at the site.
    species: usize,
    /// The species with the most birds, the largest number first.
    leaders: Vec<Place>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Place {
    species: String,
    birds: u64,
}

fn rank(count: Count, _: &step::Context) -> Result<Board, Error> {
    if count.sites.is_empty() || count.sites.len() > SITES_MAX {
        return Err(Error::invalid_input(format!("a count has 1 to {SITES_MAX} sites, not {}", count.sites.len())));
    }
    let birds = count.sites.iter().flat_map(|site| &site.sightings).map(|sighting| u64::from(sighting.birds)).sum();
    let sites = count.sites.iter().map(ranking).collect::<Result<_, _>>()?;
    Ok(Board { title: count.title, sites, birds })
}

/// Adds up the sightings of each species of a site and keeps the leading ones.
fn ranking(site: &Site) -> Result<Ranking, Error> {
    let mut totals: HashMap<String, u64> = HashMap::new();
    for sighting in &site.sightings {
        let species = sighting.species.trim().to_lowercase();
        if species.is_empty() {
            return Err(Error::invalid_input(format!("{}: a sighting has no species", site.name)));
        }
        *totals.entry(species).or_default() += u64::from(sighting.birds);
    }
    let mut places: Vec<Place> = totals.into_iter().map(|(species, birds)| Place { species, birds }).collect();
    places.sort_by_key(|place| Reverse(place.birds));
    let species = places.len();
    places.truncate(LEADERS);
    Ok(Ranking { site: site.name.clone(), species, leaders: places })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Warbler.Rank", rank).describe("Names the leading species of each site of a bird count."),
    ],
}
