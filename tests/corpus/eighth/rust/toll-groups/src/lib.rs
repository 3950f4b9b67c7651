use std::collections::{HashMap, HashSet};

use latchwork_guest::{Error, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Passage {
    plate: String,
    road: String,
    cents: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Month {
    passages: Vec<Passage>,
}

#[derive(Serialize, JsonSchema)]
struct Group {
    plate: String,
    roads: Vec<String>,
    cents: u64,
}

#[derive(Serialize, JsonSchema)]
struct Bill {
    groups: Vec<Group>,
    dearest: String,
}

fn bill(month: Month, _: &step::Context) -> Result<Bill, Error> {
    let mut roads: HashMap<&str, HashSet<&str>> = HashMap::new();
    let mut sums: HashMap<&str, u64> = HashMap::new();
    for passage in &month.passages {
        roads.entry(&passage.plate).or_default().insert(&passage.road);
        *sums.entry(&passage.plate).or_default() += u64::from(passage.cents);
    }
    // Integers: the order of the additions does not matter.
    log::debug!("{} plates, {} cents", sums.len(), sums.values().sum::<u64>());
    let dearest = sums
        .iter()
        .max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)))
        .map(|(plate, _)| (*plate).to_owned())
        .ok_or_else(|| Error::invalid_input("there are no passages"))?;
    let mut groups: Vec<Group> = roads
        .into_iter()
        .map(|(plate, roads)| {
            let mut roads: Vec<String> = roads.into_iter().map(str::to_owned).collect();
            roads.sort_unstable();
            Group { plate: plate.to_owned(), roads, cents: sums[plate] }
        })
        .collect();
    groups.sort_unstable_by(|a, b| a.plate.cmp(&b.plate));
    Ok(Bill { groups, dearest })
}

latchwork_guest::export_step! {
    version: "0.1.0",
    operators: [step::operator("Toll.Bill", bill).describe("Groups the passages of toll roads by car.")],
}
