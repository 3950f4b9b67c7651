use std::collections::HashMap;

use latchwork_guest::{Determinism, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Round {
    lines: Vec<Line>,
}

#[derive(Deserialize, JsonSchema)]
struct Line {
    part: String,
    supplier: String,
    quantity: u32,
}

#[derive(Serialize, JsonSchema)]
struct Offers {
    requests: usize,
    total_cents: u64,
}

#[derive(Deserialize)]
struct Offer {
    cents: u32,
}

/// Asks each supplier once, for all parts that it can deliver.
fn collect(round: Round, _: &step::Context) -> Result<Offers, Error> {
    if round.lines.is_empty() {
        return Err(Error::invalid_input("the round has no lines"));
    }
    let mut by_supplier: HashMap<&str, Vec<&Line>> = HashMap::new();
    for line in &round.lines {
        by_supplier.entry(&line.supplier).or_default().push(line);
    }

    let mut total_cents = 0;
    for (supplier, lines) in &by_supplier {
        let parts: Vec<_> = lines.iter().map(|line| json!({ "part": line.part, "quantity": line.quantity })).collect();
        let offer: Offer = tools::call("Supplier.Offer", &json!({ "supplier": supplier, "parts": parts }))?;
        total_cents += u64::from(offer.cents);
    }
    Ok(Offers { requests: by_supplier.len(), total_cents })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("SourcingRound.Collect", collect)
            .describe("Collects the offers of all suppliers of a sourcing round.")
            .determinism(Determinism::External),
    ],
}
