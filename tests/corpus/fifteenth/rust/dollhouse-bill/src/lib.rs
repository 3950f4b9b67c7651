//! Computes the bill of a doll's house from the tree of its parts.

use std::collections::{BTreeMap, HashMap};

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Scale of a house, and the price of its parts in percent of the price at scale 1:12.
const SCALES: [(u32, u128); 4] = [(6, 260), (12, 100), (24, 55), (48, 40)];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct House {
    /// Second number of the scale: 12 for 1:12.
    scale: u32,
    prices: Vec<Price>,
    root: Part,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Price {
    part: String,
    /// Price at scale 1:12.
    cents: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Part {
    name: String,
    #[serde(default = "one")]
    quantity: u32,
    #[serde(default)]
    parts: Vec<Part>,
}

fn one() -> u32 {
    1
}

#[derive(Serialize, JsonSchema)]
struct Bill {
    /// Sum in cents, as text, because it can exceed the integers of JSON.
    cents: String,
    /// Number of pieces of each part, as text for the same reason.
    pieces: BTreeMap<String, String>,
    levels: u32,
}

/// Counts the pieces below one part.
struct Counter<'h> {
    pieces: HashMap<&'h str, u128>,
    levels: u32,
}

impl<'h> Counter<'h> {
    /// Follows the nesting of the input, which has at most 64 levels of JSON.
    fn add(&mut self, part: &'h Part, outer: u128, level: u32) -> Result<(), Error> {
        self.levels = self.levels.max(level);
        let too_large = || Error::invalid_input(format!("too many pieces of {}", part.name));
        let quantity = outer.checked_mul(u128::from(part.quantity)).ok_or_else(too_large)?;
        let pieces = self.pieces.entry(part.name.as_str()).or_default();
        *pieces = pieces.checked_add(quantity).ok_or_else(too_large)?;
        part.parts.iter().try_for_each(|inner| self.add(inner, quantity, level + 1))
    }
}

fn bill(house: House, _: &step::Context) -> Result<Bill, Error> {
    let percent = SCALES.iter().find(|(scale, _)| *scale == house.scale).map(|(_, percent)| *percent);
    let percent = percent.ok_or_else(|| Error::invalid_input(format!("no prices for scale 1:{}", house.scale)))?;
    // Read by name alone, so the order of the map has no influence.
    let prices: HashMap<&str, u32> = house.prices.iter().map(|price| (price.part.as_str(), price.cents)).collect();

    let mut counter = Counter { pieces: HashMap::new(), levels: 0 };
    counter.add(&house.root, 1, 1)?;
    let pieces: BTreeMap<&str, u128> = counter.pieces.into_iter().collect();

    let mut sum = 0_u128;
    for (name, count) in &pieces {
        let cents = prices.get(name).ok_or_else(|| Error::invalid_input(format!("{name} has no price")))?;
        let cents = u128::from(*cents).checked_mul(percent).and_then(|cents| cents.checked_mul(*count));
        sum = cents
            .and_then(|cents| sum.checked_add(cents))
            .ok_or_else(|| Error::invalid_input(format!("the price of {name} is too large")))?;
    }
    Ok(Bill {
        cents: (sum / 100).to_string(),
        pieces: pieces.into_iter().map(|(name, count)| (name.to_owned(), count.to_string())).collect(),
        levels: counter.levels,
    })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Dollhouse.Bill", bill)
            .describe("Computes the bill of a doll's house.")
            .outcome("Draft.Bill", "draft"),
    ],
}
