//! Reserves trucks for the mussel lots of a day, one truck for each buyer, the heaviest load first.

use std::collections::HashMap;

use latchwork_guest::{Determinism, Effect, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A truck takes at most this load.
const TRUCK_KG: u32 = 7_500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Harvest {
    /// Day of the harvest, such as `2026-03-02`.
    day: String,
    lots: Vec<Lot>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lot {
    rope: String,
    buyer: String,
    kg: u32,
}

#[derive(Deserialize)]
struct Reserved {
    truck: String,
    leaves: String,
}

#[derive(Serialize, JsonSchema)]
struct Run {
    ramp: usize,
    buyer: String,
    kg: u32,
    truck: String,
    leaves: String,
}

#[derive(Serialize, JsonSchema)]
struct Runs {
    day: String,
    runs: Vec<Run>,
}

/// Sums the lots of each buyer.
fn loads(harvest: &Harvest) -> Result<HashMap<&str, u32>, Error> {
    let mut loads: HashMap<&str, u32> = HashMap::new();
    for lot in &harvest.lots {
        if lot.kg == 0 {
            return Err(Error::invalid_input(format!("the lot of rope {} is empty", lot.rope)));
        }
        let load = loads.entry(lot.buyer.as_str()).or_default();
        *load = load.saturating_add(lot.kg);
        if *load > TRUCK_KG {
            return Err(Error::invalid_input(format!("{} needs more than one truck", lot.buyer)));
        }
    }
    Ok(loads)
}

fn reserve(harvest: Harvest, _: &step::Context) -> Result<Runs, Error> {
    if harvest.lots.is_empty() {
        return Err(Error::invalid_input("the harvest has no lots"));
    }
    // The heaviest load gets the first ramp, because its loading takes longest.
    let mut order: Vec<(&str, u32)> = loads(&harvest)?.into_iter().collect();
    order.sort_by(|a, b| b.1.cmp(&a.1));
    log::info!("{} buyers on {}", order.len(), harvest.day);

    let mut runs = Vec::with_capacity(order.len());
    for (index, (buyer, kg)) in order.into_iter().enumerate() {
        let ramp = index + 1;
        let args = json!({ "day": harvest.day, "ramp": ramp, "buyer": buyer, "kg": kg });
        let reserved: Reserved = tools::call("Truck.Reserve", &args)?;
        runs.push(Run { ramp, buyer: buyer.to_owned(), kg, truck: reserved.truck, leaves: reserved.leaves });
    }
    Ok(Runs { day: harvest.day, runs })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Mussel.Reserve", reserve)
            .describe("Reserves a truck for each buyer of a harvest.")
            .effects([Effect::ExternalWrite])
            .determinism(Determinism::External),
    ],
}
