//! `Weighbridge.Compare`: compares the lots that a dock has loaded with the lots of the bill.

use std::collections::{BTreeSet, HashMap};

use latchwork_guest::{Error, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lists {
    /// Weighings of the dock, one for each lot.
    loaded: Vec<Weighing>,
    /// Lines of the bill, one for each lot.
    billed: Vec<Weighing>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Weighing {
    lot: String,
    kg: f64,
}

#[derive(Serialize, JsonSchema)]
struct Comparison {
    loaded_kg: f64,
    billed_kg: f64,
    /// Weight that was loaded and is not on the bill. Negative if the bill has more.
    surplus_kg: f64,
    /// Lots with another weight on the bill, in the order of their names.
    differing: Vec<Difference>,
    /// True if every lot and the total weight agree.
    agrees: bool,
}

#[derive(Serialize, JsonSchema)]
struct Difference {
    lot: String,
    loaded_kg: f64,
    billed_kg: f64,
}

fn compare(lists: Lists, _: &step::Context) -> Result<Comparison, Error> {
    if lists.billed.is_empty() {
        return Err(Error::invalid_input("the bill has no line"));
    }
    let loaded = weight_by_lot(&lists.loaded)?;
    let billed = weight_by_lot(&lists.billed)?;

    let lots: BTreeSet<&str> = loaded.keys().chain(billed.keys()).copied().collect();
    let mut differing = Vec::new();
    for lot in lots {
        let loaded_kg = loaded.get(lot).copied().unwrap_or_default();
        let billed_kg = billed.get(lot).copied().unwrap_or_default();
        if loaded_kg != billed_kg {
            differing.push(Difference { lot: lot.to_owned(), loaded_kg, billed_kg });
        }
    }

    let loaded_kg: f64 = loaded.values().sum();
    let billed_kg: f64 = billed.values().sum();
    let surplus_kg = loaded_kg - billed_kg;
    log::info!("{} lots on the bill, {} differ", billed.len(), differing.len());
    Ok(Comparison { loaded_kg, billed_kg, surplus_kg, agrees: differing.is_empty() && surplus_kg == 0.0, differing })
}

/// Returns the weight of each lot.
fn weight_by_lot(weighings: &[Weighing]) -> Result<HashMap<&str, f64>, Error> {
    let mut weights = HashMap::new();
    for weighing in weighings {
        if weighing.lot.trim().is_empty() {
            return Err(Error::invalid_input("a weighing names no lot"));
        }
        if !(0.0..=100_000.0).contains(&weighing.kg) {
            return Err(Error::invalid_input(format!("lot {} weighs {} kg", weighing.lot, weighing.kg)));
        }
        if weights.insert(weighing.lot.as_str(), weighing.kg).is_some() {
            return Err(Error::invalid_input(format!("lot {} is twice in a list", weighing.lot)));
        }
    }
    Ok(weights)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Weighbridge.Compare", compare)
            .describe("Compares the weights of loaded lots with the weights on the bill."),
    ],
}
