//! Splits the litres of one fuel delivery among vehicles, by the distance and the load of their trips.

use std::cell::RefCell;
use std::collections::HashMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const TONNES_MAX: u32 = 60;
const TRIPS_MAX: usize = 2000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Delivery {
    litres: u32,
    trips: Vec<Trip>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Trip {
    vehicle: String,
    km: u32,
    /// Load in tonnes, at most 60.
    tonnes: u32,
}

#[derive(Serialize, JsonSchema)]
struct Share {
    vehicle: String,
    litres: u64,
}

#[derive(Serialize, JsonSchema)]
struct Split {
    /// Shares of the vehicles, the largest first.
    shares: Vec<Share>,
}

thread_local! {
    /// Weights of the loads that the trips of this delivery had so far.
    static WEIGHTS: RefCell<HashMap<u32, u64>> = RefCell::new(HashMap::new());
}

/// Weight of one kilometre with a load, in thousandths: each tonne adds three percent to the tonne before.
fn weight_of(tonnes: u32) -> u64 {
    WEIGHTS.with_borrow_mut(|weights| {
        *weights.entry(tonnes).or_insert_with(|| (0..tonnes).fold(1000, |weight, _| weight * 103 / 100))
    })
}

fn split(delivery: Delivery, _: &step::Context) -> Result<Split, Error> {
    if delivery.trips.len() > TRIPS_MAX {
        return Err(Error::invalid_input(format!("more than {TRIPS_MAX} trips")));
    }
    let mut work_of: HashMap<String, u128> = HashMap::new();
    let mut too_heavy: Vec<String> = Vec::new();
    for trip in delivery.trips {
        if trip.tonnes > TONNES_MAX {
            too_heavy.push(trip.vehicle);
            continue;
        }
        let work = u128::from(trip.km) * u128::from(weight_of(trip.tonnes));
        *work_of.entry(trip.vehicle).or_default() += work;
    }
    if !too_heavy.is_empty() {
        too_heavy.sort_unstable();
        too_heavy.dedup();
        return Err(Error::invalid_input(format!("no vehicle carries so much: {}", too_heavy.join(", "))));
    }
    let total: u128 = work_of.values().sum();
    if total == 0 {
        return Err(Error::invalid_input("the trips have no distance"));
    }

    // Each vehicle gets its whole litres. The litres that remain go to the largest remainders, then by name.
    let litres = u128::from(delivery.litres);
    let mut parts: Vec<(String, u128, u128)> =
        work_of.into_iter().map(|(vehicle, work)| (vehicle, litres * work / total, litres * work % total)).collect();
    parts.sort_unstable_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
    let given: u128 = parts.iter().map(|part| part.1).sum();
    let left = usize::try_from(litres - given).unwrap_or(usize::MAX);
    for part in parts.iter_mut().take(left) {
        part.1 += 1;
    }

    let mut shares: Vec<Share> = parts
        .into_iter()
        .map(|(vehicle, litres, _)| Share { vehicle, litres: u64::try_from(litres).unwrap_or(u64::MAX) })
        .collect();
    shares.sort_unstable_by(|a, b| b.litres.cmp(&a.litres).then_with(|| a.vehicle.cmp(&b.vehicle)));
    Ok(Split { shares })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Fuel.Split", split).describe("Splits the litres of a fuel delivery among vehicles."),
    ],
}
