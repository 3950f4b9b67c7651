//! Finds the berth of a harbour that was occupied the longest in a list of visits.

use std::collections::HashMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Visits {
    /// Visits of one quarter, in any order.
    visits: Vec<Visit>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Visit {
    /// Name of the berth, such as `N4`.
    berth: String,
    /// Hours between mooring and departure.
    hours: u32,
}

#[derive(Serialize, JsonSchema)]
struct Busiest {
    berth: String,
    hours: u64,
    /// Hours of all berths.
    total_hours: u64,
    /// Number of berths with at least one visit.
    berths: usize,
}

fn busiest(input: Visits, _: &step::Context) -> Result<Busiest, Error> {
    if input.visits.iter().any(|visit| visit.berth.trim().is_empty()) {
        return Err(Error::invalid_input("a visit has no berth"));
    }
    let mut hours_of: HashMap<&str, u64> = HashMap::new();
    for visit in &input.visits {
        *hours_of.entry(visit.berth.trim()).or_default() += u64::from(visit.hours);
    }
    let total_hours = hours_of.values().sum();
    let berths = hours_of.len();
    let Some((berth, hours)) = hours_of.into_iter().max_by_key(|(_, hours)| *hours) else {
        return Err(Error::invalid_input("there are no visits"));
    };
    Ok(Busiest { berth: berth.to_owned(), hours, total_hours, berths })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Berth.Busiest", busiest).describe("Finds the berth with the most occupied hours."),
    ],
}
