//! Ranks the hives of an apiary by the honey that was weighed.

use std::collections::HashMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Season {
    weighings: Vec<Weighing>,
    /// Number of hives in the ranking.
    places: usize,
}

#[derive(Deserialize, JsonSchema)]
struct Weighing {
    hive: String,
    grams: u32,
}

#[derive(Serialize, JsonSchema)]
struct Ranking {
    total_grams: u64,
    best: Vec<Rank>,
}

#[derive(Serialize, JsonSchema)]
struct Rank {
    hive: String,
    grams: u64,
}

fn rank(season: Season, _: &step::Context) -> Result<Ranking, Error> {
    if season.weighings.is_empty() {
        return Err(Error::invalid_input("there are no weighings"));
    }
    let mut totals: HashMap<String, u64> = HashMap::new();
    for weighing in season.weighings {
        let hive = weighing.hive.trim().to_lowercase();
        *totals.entry(hive).or_default() += u64::from(weighing.grams);
    }
    let total_grams = totals.values().sum();
    // The order of a HashMap is arbitrary, so sort: the heaviest first.
    let mut best: Vec<Rank> = totals.into_iter().map(|(hive, grams)| Rank { hive, grams }).collect();
    best.sort_by(|a, b| b.grams.cmp(&a.grams));
    best.truncate(season.places);
    Ok(Ranking { total_grams, best })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [step::operator("Apiary.Rank", rank).describe("Ranks the hives of an apiary by yield.")],
}
