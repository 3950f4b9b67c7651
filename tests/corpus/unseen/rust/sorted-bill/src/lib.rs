use std::collections::{BTreeMap, HashMap, HashSet};

use latchwork_guest::{Determinism, Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Line {
    group: String,
    cents: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Bill {
    lines: Vec<Line>,
}

#[derive(Serialize, JsonSchema)]
struct Groups {
    total_cents: i64,
    groups: BTreeMap<String, i64>,
    largest_first: Vec<String>,
    distinct_prices: usize,
}

fn group(bill: Bill, _: &step::Context) -> Result<Groups, Error> {
    let mut by_group: HashMap<String, i64> = HashMap::new();
    let mut prices = HashSet::new();
    for line in bill.lines {
        prices.insert(line.cents);
        *by_group.entry(line.group).or_default() += line.cents;
    }
    // Whole cents have the same sum in every order.
    let total_cents = by_group.values().sum();
    let mut largest_first: Vec<String> = by_group.keys().cloned().collect();
    largest_first.sort_by(|a, b| by_group[b].cmp(&by_group[a]).then_with(|| a.cmp(b)));
    Ok(Groups { total_cents, groups: by_group.into_iter().collect(), largest_first, distinct_prices: prices.len() })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Bill.Group", group).describe("Groups the lines of a bill.").determinism(Determinism::Pure),
    ],
}
