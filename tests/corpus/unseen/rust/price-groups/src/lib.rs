use std::collections::HashMap;

use latchwork_guest::{Determinism, Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Line {
    group: String,
    price: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Bill {
    lines: Vec<Line>,
}

#[derive(Serialize, JsonSchema)]
struct Total {
    groups: usize,
    total: f64,
    average: f64,
}

fn total(bill: Bill, _: &step::Context) -> Result<Total, Error> {
    let mut by_group: HashMap<String, f64> = HashMap::new();
    for line in bill.lines {
        *by_group.entry(line.group).or_default() += line.price;
    }
    let total: f64 = by_group.values().sum();
    let groups = by_group.len();
    Ok(Total { groups, total, average: if groups == 0 { 0.0 } else { total / groups as f64 } })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Bill.Total", total).describe("Totals a bill by groups.").determinism(Determinism::Pure),
    ],
}
