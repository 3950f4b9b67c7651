//! Writes the morning brief about avalanches from the snow stations of a region.

use std::collections::{BTreeMap, BTreeSet};

use latchwork_guest::tools::{self, Call};
use latchwork_guest::{Determinism, Error, clock, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Rounds of requests. A station transmits in bursts, so a later round often gets an answer.
const ROUNDS: usize = 3;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Region {
    region: String,
    stations: Vec<String>,
}

#[derive(Deserialize)]
struct Reading {
    new_snow_cm: f64,
}

#[derive(Serialize, JsonSchema)]
struct Brief {
    region: String,
    written_at: String,
    danger: &'static str,
    new_snow_cm: BTreeMap<String, f64>,
    silent: Vec<String>,
}

fn brief(region: Region, _: &step::Context) -> Result<Brief, Error> {
    let mut open: BTreeSet<String> = region.stations.into_iter().collect();
    if open.is_empty() || open.len() > 50 {
        return Err(Error::invalid_input("a region has 1 to 50 stations"));
    }
    let mut new_snow_cm = BTreeMap::new();
    let mut last = None;
    for round in 1..=ROUNDS {
        let asked: Vec<String> = open.iter().cloned().collect();
        let calls = asked.iter().map(|station| Call::new("Station.Read", &json!({ "station": station })));
        for (station, answer) in asked.iter().zip(tools::call_all::<Reading>(calls)) {
            match answer {
                Ok(reading) => {
                    open.remove(station);
                    new_snow_cm.insert(station.clone(), reading.new_snow_cm);
                }
                Err(error) => {
                    log::warn!("round {round}, station {station}: {error}");
                    last = Some(error);
                }
            }
        }
        if open.is_empty() {
            break;
        }
    }
    if let (true, Some(error)) = (new_snow_cm.is_empty(), last) {
        return Err(error.context("no station answered"));
    }
    let danger = match new_snow_cm.values().copied().fold(0.0, f64::max) {
        snow if snow >= 40.0 => "high",
        snow if snow >= 15.0 => "considerable",
        _ => "low",
    };
    let written_at = clock::now().to_string();
    Ok(Brief { region: region.region, written_at, danger, new_snow_cm, silent: open.into_iter().collect() })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Avalanche.Brief", brief)
            .describe("Writes the morning brief about avalanches.")
            .determinism(Determinism::External),
    ],
}
