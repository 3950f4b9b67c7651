use std::collections::HashMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Readings {
    readings: Vec<Reading>,
}

#[derive(Deserialize, JsonSchema)]
struct Reading {
    zone: String,
    /// Degrees Celsius.
    #[schemars(range(min = -100.0, max = 1000.0))]
    degrees: f64,
}

#[derive(Serialize, JsonSchema)]
struct Averages {
    zones: Vec<Average>,
    warmest: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Average {
    zone: String,
    degrees: f64,
}

fn average(readings: Readings, _: &step::Context) -> Result<Averages, Error> {
    if let Some(bad) = readings.readings.iter().find(|one| !(-100.0..=1000.0).contains(&one.degrees)) {
        return Err(Error::invalid_input(format!("{} degrees in {}", bad.degrees, bad.zone)));
    }
    // The values of a zone are added in the order of the input.
    let mut sums: HashMap<String, (f64, u32)> = HashMap::new();
    for reading in readings.readings {
        let sum = sums.entry(reading.zone).or_default();
        sum.0 += reading.degrees;
        sum.1 += 1;
    }
    let mut zones: Vec<Average> =
        sums.into_iter().map(|(zone, (sum, count))| Average { zone, degrees: sum / f64::from(count) }).collect();
    zones.sort_by(|a, b| a.zone.cmp(&b.zone));
    let warmest = zones.iter().rev().max_by(|a, b| a.degrees.total_cmp(&b.degrees)).map(|one| one.zone.clone());
    Ok(Averages { zones, warmest })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Zone.Average", average).describe("Computes the average temperature of each zone."),
    ],
}
