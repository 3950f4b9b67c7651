use latchwork_guest::{Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Trip {
    harbors: Vec<String>,
    /// Length of the boat in centimetres.
    length_cm: u32,
}

#[derive(Serialize, JsonSchema)]
struct Fees {
    fees: Vec<Fee>,
    total_cents: u64,
}

#[derive(Serialize, JsonSchema)]
struct Fee {
    harbor: String,
    cents: u32,
}

#[derive(Deserialize)]
struct Tariff {
    cents: u32,
}

/// Asks all harbors at the same time.
fn sum(trip: Trip, _: &step::Context) -> Result<Fees, Error> {
    if trip.harbors.is_empty() || trip.harbors.len() > 30 {
        return Err(Error::invalid_input("a trip has 1 to 30 harbors"));
    }
    if !(200..=9000).contains(&trip.length_cm) {
        return Err(Error::invalid_input("the length of the boat must be from 200 to 9000 cm"));
    }
    let calls = trip
        .harbors
        .iter()
        .map(|harbor| tools::Call::new("Harbor.Tariff", &json!({ "harbor": harbor, "length_cm": trip.length_cm })));
    let fees: Vec<Fee> = trip
        .harbors
        .iter()
        .zip(tools::call_all::<Tariff>(calls))
        .map(|(harbor, answer)| Fee { harbor: harbor.clone(), cents: answer.expect("the harbor has a tariff").cents })
        .collect();
    let total_cents = fees.iter().map(|fee| u64::from(fee.cents)).sum();
    log::info!("{} harbors, {total_cents} cents", fees.len());
    Ok(Fees { fees, total_cents })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("MooringFees.Sum", sum)
            .describe("Adds up the mooring fees of a trip.")
            .determinism(Determinism::External),
    ],
}
