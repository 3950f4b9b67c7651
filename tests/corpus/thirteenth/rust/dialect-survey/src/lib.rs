//! `Dialect.Tally`: which word a region uses for a thing, from the answers of a survey.

use std::collections::{HashMap, HashSet};

use latchwork_guest::{Error, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Survey {
    #[schemars(length(max = 5000))]
    replies: Vec<Reply>,
    /// Regions with fewer people are left out.
    #[serde(default)]
    at_least: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Reply {
    person: String,
    region: String,
    word: String,
}

#[derive(Serialize, JsonSchema)]
struct Atlas {
    people: usize,
    regions: Vec<Region>,
}

#[derive(Serialize, JsonSchema)]
struct Region {
    region: String,
    people: usize,
    /// The most frequent word; of equally frequent ones, the first by the alphabet.
    word: String,
    /// Share of the word, in percent.
    percent: usize,
}

fn tally(survey: Survey, _: &step::Context) -> Result<Atlas, Error> {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut regions: HashMap<&str, HashMap<&str, usize>> = HashMap::new();
    for reply in &survey.replies {
        if reply.word.trim().is_empty() {
            return Err(Error::invalid_input(format!("{} gave no word", reply.person)));
        }
        // Only the first reply of a person counts.
        if seen.insert(&reply.person) {
            *regions.entry(&reply.region).or_default().entry(reply.word.trim()).or_default() += 1;
        }
    }

    let mut atlas: Vec<Region> = regions
        .iter()
        .filter_map(|(region, words)| {
            let people: usize = words.values().sum();
            // Counts first, then the word itself, so the order of the map decides nothing.
            let (word, count) = words.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)))?;
            (people >= survey.at_least).then(|| Region {
                region: (*region).to_owned(),
                people,
                word: (*word).to_owned(),
                percent: count * 100 / people,
            })
        })
        .collect();
    atlas.sort_unstable_by(|a, b| a.region.cmp(&b.region));
    log::info!("{} of {} regions are on the map", atlas.len(), regions.len());
    Ok(Atlas { people: seen.len(), regions: atlas })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Dialect.Tally", tally).describe("Finds the most frequent word of each region of a survey."),
    ],
}
