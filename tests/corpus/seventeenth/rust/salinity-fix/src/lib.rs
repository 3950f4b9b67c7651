//! `Salinity.Fix`: the salinity of a bay from its probes, or from the sensor of a ship if too few probes answer.

use latchwork_guest::{Determinism, Error, clock, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Probes that have to answer before their median counts.
const QUORUM: usize = 2;
/// Times that the ship is asked.
const ROUNDS: usize = 3;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Bay {
    name: String,
    probes: Vec<String>,
    /// Ship whose sensor is read if the probes fail.
    ship: String,
}

/// Answer of `Probe.Read` and of `Ship.Read`.
#[derive(Deserialize)]
struct Reading {
    /// Practical salinity.
    psu: f64,
}

#[derive(Serialize, JsonSchema)]
struct Fix {
    bay: String,
    psu: f64,
    source: String,
    /// Probes without a usable reading, in the order of the input.
    failed: Vec<String>,
    fixed_at: String,
}

fn fix(bay: Bay, _: &step::Context) -> Result<Fix, Error> {
    if bay.probes.len() > 60 {
        return Err(Error::invalid_input("probes: more than 60"));
    }
    let calls = bay.probes.iter().map(|probe| tools::Call::new("Probe.Read", &json!({ "probe": probe })));
    let mut readings = Vec::new();
    let mut failed = Vec::new();
    for (probe, answer) in bay.probes.iter().zip(tools::call_all::<Reading>(calls)) {
        match answer {
            Ok(reading) if plausible(reading.psu) => readings.push(reading.psu),
            Ok(reading) => {
                log::warn!("{probe} reads {}", reading.psu);
                failed.push(probe.clone());
            }
            Err(error) => {
                log::warn!("{probe}: {}", error.message());
                failed.push(probe.clone());
            }
        }
    }
    let (psu, source) =
        if readings.len() >= QUORUM { (median(readings), "probes".to_owned()) } else { (aboard(&bay.ship)?, bay.ship) };
    Ok(Fix { bay: bay.name, psu, source, failed, fixed_at: clock::now().to_string() })
}

fn plausible(psu: f64) -> bool {
    (0.0..=45.0).contains(&psu)
}

/// Returns the middle reading, or the mean of the two in the middle.
fn median(mut readings: Vec<f64>) -> f64 {
    readings.sort_by(f64::total_cmp);
    let middle = readings.len() / 2;
    if readings.len() % 2 == 1 { readings[middle] } else { (readings[middle - 1] + readings[middle]) / 2.0 }
}

/// Reads the sensor of the ship, again if its value is not plausible or the ship did not answer.
fn aboard(ship: &str) -> Result<f64, Error> {
    let mut last = Error::dependency_unavailable(format!("{ship} has no usable reading"));
    for round in 1..=ROUNDS {
        match tools::call::<_, Reading>("Ship.Read", &json!({ "ship": ship, "round": round })) {
            Ok(reading) if plausible(reading.psu) => return Ok(reading.psu),
            Ok(_) => log::info!("reading {round} of {ship} is not plausible"),
            Err(error) => last = error,
        }
    }
    Err(last)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Salinity.Fix", fix)
            .describe("Determines the salinity of a bay.")
            .determinism(Determinism::External),
    ],
}
