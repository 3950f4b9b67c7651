//! Sorts loose stones for a sale and divides them into parcels of similar weight.

use std::cmp::Ordering;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The scale of the counter is exact to two hundredths of a carat.
const SCALE: f64 = 0.02;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lot {
    #[schemars(length(min = 1, max = 500))]
    stones: Vec<Stone>,
    /// Largest number of stones in one parcel.
    #[schemars(range(min = 1, max = 100))]
    parcel: usize,
}

#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Stone {
    #[schemars(length(min = 1, max = 20))]
    tag: String,
    #[schemars(range(min = 0.01, max = 500.0))]
    carats: f64,
    clarity: Clarity,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
enum Clarity {
    #[serde(rename = "IF")]
    Flawless,
    #[serde(rename = "VVS")]
    VeryVerySlight,
    #[serde(rename = "VS")]
    VerySlight,
    #[serde(rename = "SI")]
    Slight,
    #[serde(rename = "P")]
    Piqued,
}

#[derive(Serialize, JsonSchema)]
struct Sale {
    parcels: Vec<Parcel>,
}

#[derive(Serialize, JsonSchema)]
struct Parcel {
    tags: Vec<String>,
    /// Weight in hundredths of a carat.
    weight: u32,
    worst: Clarity,
}

/// Heavier stones first. Stones that the scale cannot tell apart are ordered by clarity, the best first.
fn by_value(a: &Stone, b: &Stone) -> Ordering {
    if (a.carats - b.carats).abs() <= SCALE {
        a.clarity.cmp(&b.clarity).then_with(|| a.tag.cmp(&b.tag))
    } else {
        b.carats.total_cmp(&a.carats)
    }
}

fn divide(lot: Lot, _: &step::Context) -> Result<Sale, Error> {
    let mut tags: Vec<&str> = lot.stones.iter().map(|stone| stone.tag.as_str()).collect();
    tags.sort_unstable();
    if let Some(pair) = tags.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::invalid_input(format!("the tag {} is on two stones", pair[0])));
    }

    let mut stones = lot.stones.clone();
    stones.sort_by(by_value);

    let parcels = stones
        .chunks(lot.parcel)
        .map(|chunk| Parcel {
            tags: chunk.iter().map(|stone| stone.tag.clone()).collect(),
            weight: chunk.iter().map(|stone| (stone.carats * 100.0).round() as u32).sum(),
            worst: chunk.iter().map(|stone| stone.clarity).max().unwrap_or(Clarity::Piqued),
        })
        .collect();
    Ok(Sale { parcels })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Gem.Divide", divide)
            .describe("Sorts loose stones by value and divides them into parcels.")
            .outcome("List.Parcels", "draft"),
    ],
}
