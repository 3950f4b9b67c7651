use std::collections::BTreeMap;

use latchwork_guest::{Determinism, Error, clock, events, log, rng, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Lot {
    lot: String,
    houses: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Estimate {
    lot: String,
    reference: String,
    at: String,
    estimates: BTreeMap<String, u32>,
    missing: Vec<String>,
}

#[derive(Deserialize)]
struct Answer {
    euros: u32,
}

const ROUNDS: usize = 2;

/// Asks the houses in random order, so that no house is always the first. A house that fails is asked once more.
fn estimate(lot: Lot, context: &step::Context) -> Result<Estimate, Error> {
    let mut open = lot.houses;
    open.sort();
    open.dedup();
    if open.is_empty() || open.len() > 20 {
        return Err(Error::invalid_input("a lot needs 1 to 20 houses"));
    }
    for i in (1..open.len()).rev() {
        open.swap(i, rng::below(i as u32 + 1) as usize);
    }

    let mut estimates = BTreeMap::new();
    for round in 0..ROUNDS {
        let mut failed = Vec::new();
        for house in open {
            match tools::call::<_, Answer>("House.Estimate", &json!({ "house": house, "lot": lot.lot })) {
                Ok(answer) => {
                    estimates.insert(house, answer.euros);
                }
                Err(error) => {
                    log::warn!("round {round}: {house} for {}: {error}", context.actor());
                    failed.push(house);
                }
            }
        }
        open = failed;
    }
    open.sort();
    events::emit("lot-estimated", &json!({ "houses": estimates.len(), "missing": open.len() }))?;
    Ok(Estimate { lot: lot.lot, reference: rng::uuid(), at: clock::now().to_string(), estimates, missing: open })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("GlassAuction.Estimate", estimate)
            .describe("Collects the estimates of auction houses for a lot of glass.")
            .determinism(Determinism::External),
    ],
}
