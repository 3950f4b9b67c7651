//! Sums up the bins of a harvest day: weight, sugar, and sugar content of each block and of the orchard.

use std::collections::HashMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Bin {
    /// Block of the orchard, such as `N4`.
    block: String,
    /// Net weight in kilograms.
    kg: f64,
    /// Sugar in degrees Brix: grams of sugar in 100 g of juice.
    brix: f64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Harvest {
    orchard: String,
    bins: Vec<Bin>,
    /// Blocks below this sugar content are listed as unripe.
    #[serde(default)]
    ripe_from: Option<f64>,
}

#[derive(Default)]
struct Sum {
    bins: usize,
    kg: f64,
    sugar: f64,
}

impl Sum {
    fn brix(&self) -> f64 {
        100.0 * self.sugar / self.kg
    }
}

#[derive(Serialize, JsonSchema)]
struct Block {
    block: String,
    bins: usize,
    kg: f64,
    brix: f64,
}

#[derive(Serialize, JsonSchema)]
struct Report {
    orchard: String,
    blocks: Vec<Block>,
    unripe: Vec<String>,
    kg: f64,
    /// Sugar in kilograms, from which the cooperative pays.
    sugar_kg: f64,
    brix: f64,
}

fn report(harvest: Harvest, _: &step::Context) -> Result<Report, Error> {
    if harvest.bins.is_empty() {
        return Err(Error::invalid_input("the harvest has no bins"));
    }
    let mut sums: HashMap<&str, Sum> = HashMap::new();
    for (at, bin) in harvest.bins.iter().enumerate() {
        let plausible = bin.kg > 0.0 && bin.kg <= 600.0 && (0.0..=40.0).contains(&bin.brix);
        if !plausible || bin.block.trim().is_empty() {
            return Err(Error::invalid_input(format!("bin {} is not plausible", at + 1)));
        }
        let sum = sums.entry(bin.block.trim()).or_default();
        sum.bins += 1;
        sum.kg += bin.kg;
        sum.sugar += bin.kg * bin.brix / 100.0;
    }

    // The orchard is the sum of its blocks, so each bin is multiplied once only.
    let orchard = sums.values().fold(Sum::default(), |all, block| Sum {
        bins: all.bins + block.bins,
        kg: all.kg + block.kg,
        sugar: all.sugar + block.sugar,
    });

    // The map has no order of its own: list the blocks by name.
    let mut blocks: Vec<Block> = sums
        .iter()
        .map(|(name, sum)| Block { block: (*name).to_owned(), bins: sum.bins, kg: sum.kg, brix: sum.brix() })
        .collect();
    blocks.sort_by(|a, b| a.block.cmp(&b.block));

    let ripe = harvest.ripe_from.unwrap_or(0.0);
    let unripe = blocks.iter().filter(|block| block.brix < ripe).map(|block| block.block.clone()).collect();
    Ok(Report {
        orchard: harvest.orchard,
        unripe,
        kg: orchard.kg,
        sugar_kg: orchard.sugar,
        brix: orchard.brix(),
        blocks,
    })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Harvest.Sum", report).describe("Sums up weight and sugar of the bins of a harvest day."),
    ],
}
