//! Lists the colours of a mosaic with the number of tiles, and whether the shop has them.

use std::collections::{HashMap, HashSet};

use latchwork_guest::{Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Mosaic {
    /// Colour of each tile, in the order of the picture.
    tiles: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Palette {
    colours: Vec<Colour>,
    /// Colours in the order in which they appear first.
    legend: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Colour {
    name: String,
    tiles: usize,
    /// Absent if the shop gave no answer.
    enough: Option<bool>,
}

#[derive(Deserialize)]
struct Stock {
    tiles: u32,
}

fn stock_of(names: &[&String]) -> Vec<Result<Stock, Error>> {
    tools::call_all(names.iter().map(|name| tools::Call::new("Tile.Stock", &json!({ "colour": name }))))
}

fn list(mosaic: Mosaic, _: &step::Context) -> Result<Palette, Error> {
    let mut counts: HashMap<&String, usize> = HashMap::new();
    let mut seen = HashSet::new();
    let mut legend = Vec::new();
    for tile in &mosaic.tiles {
        *counts.entry(tile).or_default() += 1;
        if seen.insert(tile) {
            legend.push(tile.clone());
        }
    }
    if legend.len() > 50 || legend.iter().any(|name| name.is_empty() || name.len() > 40) {
        return Err(Error::invalid_input("a mosaic has at most 50 colours with names of 1 to 40 bytes"));
    }
    let mut names: Vec<&String> = counts.keys().copied().collect();
    names.sort_unstable();
    let mut stock: HashMap<&String, Stock> = HashMap::new();
    // A second round for the colours without an answer.
    for round in 0..2 {
        let open: Vec<&String> = names.iter().copied().filter(|name| !stock.contains_key(name)).collect();
        for (name, answer) in open.iter().zip(stock_of(&open)) {
            match answer {
                Ok(found) => drop(stock.insert(name, found)),
                Err(error) => log::warn!("round {round}, {name}: {error}"),
            }
        }
    }
    let enough = |name: &String, tiles: usize| stock.get(name).map(|found| found.tiles as usize >= tiles);
    let mut colours: Vec<Colour> = counts
        .iter()
        .map(|(name, tiles)| Colour { name: (*name).clone(), tiles: *tiles, enough: enough(name, *tiles) })
        .collect();
    colours.sort_by(|a, b| b.tiles.cmp(&a.tiles).then_with(|| a.name.cmp(&b.name)));
    Ok(Palette { colours, legend })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Mosaic.Palette", list)
            .describe("Lists the colours of a mosaic.")
            .determinism(Determinism::External),
    ],
}
