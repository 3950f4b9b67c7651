use std::collections::HashSet;

use latchwork_guest::{Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Shipment {
    pallets: u32,
    /// Names of carriers, from several address books.
    carriers: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Offer {
    carrier: String,
    cents: u32,
}

#[derive(Deserialize)]
struct Price {
    cents: u32,
}

fn cheapest(shipment: Shipment, _: &step::Context) -> Result<Offer, Error> {
    // Each carrier is asked once, however it is spelled.
    let carriers: HashSet<String> = shipment.carriers.iter().map(|name| name.trim().to_lowercase()).collect();
    if carriers.is_empty() {
        return Err(Error::invalid_input("no carriers were named"));
    }
    let calls = carriers
        .iter()
        .map(|carrier| tools::Call::new("Carrier.Price", &json!({ "carrier": carrier, "pallets": shipment.pallets })));
    let mut offers = Vec::new();
    for (carrier, price) in carriers.iter().zip(tools::call_all::<Price>(calls)) {
        match price {
            Ok(price) => offers.push(Offer { carrier: carrier.clone(), cents: price.cents }),
            Err(error) => log::warn!("{carrier}: {}", error.message()),
        }
    }
    offers.sort_by(|a, b| (a.cents, &a.carrier).cmp(&(b.cents, &b.carrier)));
    offers.into_iter().next().ok_or_else(|| Error::dependency_unavailable("no carrier made an offer"))
}

latchwork_guest::export_step! {
    version: "0.1.0",
    operators: [
        step::operator("Carrier.Cheapest", cheapest)
            .describe("Finds the cheapest carrier of a shipment.")
            .determinism(Determinism::External),
    ],
}
