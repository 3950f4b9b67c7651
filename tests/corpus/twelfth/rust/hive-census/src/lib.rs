//! `Hive.Census`: evaluates the pollen loads that a camera saw at the entrance of a beehive.

use std::collections::{BTreeMap, HashMap};

use latchwork_guest::{Error, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arrival {
    /// Plant that the colour of the load points to.
    plant: String,
    /// Hour of the day, 0 to 23.
    hour: u8,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Day {
    arrivals: Vec<Arrival>,
}

#[derive(Serialize, JsonSchema)]
struct Census {
    loads: usize,
    plants: BTreeMap<String, usize>,
    /// Plant with the most loads.
    main_plant: String,
    /// Percentage of the loads from the main plant.
    share: f64,
    morning: usize,
}

fn census(day: Day, _: &step::Context) -> Result<Census, Error> {
    if day.arrivals.is_empty() {
        return Err(Error::invalid_input("no arrival was recorded"));
    }
    if let Some(wrong) = day.arrivals.iter().find(|arrival| arrival.hour > 23) {
        return Err(Error::invalid_input(format!("{} is no hour of a day", wrong.hour)));
    }
    let mut loads: HashMap<String, usize> = HashMap::new();
    let mut morning = 0;
    for arrival in &day.arrivals {
        *loads.entry(arrival.plant.trim().to_lowercase()).or_default() += 1;
        morning += usize::from(arrival.hour < 12);
    }
    let (main_plant, most) =
        loads.iter().max_by_key(|(_, count)| **count).map(|(plant, count)| (plant.clone(), *count)).unwrap_or_default();
    let total = day.arrivals.len();
    log::info!("{total} loads of {} plants", loads.len());
    Ok(Census {
        loads: total,
        main_plant,
        share: (most as f64 * 1000.0 / total as f64).round() / 10.0,
        morning,
        plants: loads.into_iter().collect(),
    })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Hive.Census", census).describe("Counts the pollen loads of a day by plant."),
    ],
}
