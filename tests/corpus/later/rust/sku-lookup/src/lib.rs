use std::collections::{BTreeMap, HashSet};

use latchwork_guest::serde_json::json;
use latchwork_guest::{Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Line {
    sku: String,
    count: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Basket {
    lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Price {
    cents: u32,
}

#[derive(Serialize, JsonSchema)]
struct Total {
    prices: BTreeMap<String, u32>,
    total_cents: u64,
}

fn total(basket: Basket, _: &step::Context) -> Result<Total, Error> {
    // A basket often has the same article several times. Its price is read once.
    let wanted: HashSet<&str> = basket.lines.iter().map(|line| line.sku.as_str()).collect();
    let mut prices = BTreeMap::new();
    for sku in wanted {
        let price: Price = tools::call("Price.Read", &json!({ "sku": sku }))?;
        prices.insert(sku.to_owned(), price.cents);
    }
    let total_cents = basket
        .lines
        .iter()
        .map(|line| u64::from(line.count) * u64::from(prices.get(&line.sku).copied().unwrap_or(0)))
        .sum();
    log::info!("{} prices for {} lines", prices.len(), basket.lines.len());
    Ok(Total { prices, total_cents })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Basket.Total", total)
            .describe("Reads the price of each article of a basket and adds them up.")
            .determinism(Determinism::External),
    ],
}
