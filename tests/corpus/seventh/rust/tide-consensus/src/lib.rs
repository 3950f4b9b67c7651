//! Agrees on a water level from the gauges of several stations.

use std::collections::HashSet;

use latchwork_guest::{Determinism, Error, clock, events, log, rng, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Request {
    stations: Vec<String>,
}

#[derive(Deserialize)]
struct Reading {
    level_cm: i32,
}

#[derive(Serialize, JsonSchema)]
struct Consensus {
    level_cm: i32,
    stations: usize,
    /// Station that an inspector visits.
    spot_check: String,
    at: String,
}

/// Number of stations without which there is no consensus.
const QUORUM: usize = 2;

fn agree(request: Request, context: &step::Context) -> Result<Consensus, Error> {
    let mut seen = HashSet::new();
    let stations: Vec<String> = request.stations.into_iter().filter(|station| seen.insert(station.clone())).collect();
    if !(QUORUM..=20).contains(&stations.len()) {
        return Err(Error::invalid_input("give 2 to 20 different stations"));
    }
    let calls = stations.iter().map(|station| tools::Call::new("Tide.Read", &json!({ "station": station })));
    let live: Vec<Result<Reading, Error>> = tools::call_all(calls);
    let mut levels: Vec<(i32, String)> = Vec::new();
    let mut last = None;
    for (station, answer) in stations.into_iter().zip(live) {
        // A gauge that does not answer is looked up in the archive, once.
        let answer = answer.or_else(|error| {
            log::warn!("{station} in job {}: {}", context.job_id(), error.message());
            tools::call("Tide.Archive", &json!({ "station": station, "before": clock::now().to_string() }))
        });
        match answer {
            Ok(reading) => levels.push((reading.level_cm, station)),
            Err(error) => last = Some(error),
        }
    }
    if levels.len() < QUORUM {
        let reason = last.map_or_else(String::new, |error| format!(": {}", error.message()));
        return Err(Error::dependency_unavailable(format!("{} stations answered{reason}", levels.len())));
    }
    levels.sort();
    let level_cm = levels[(levels.len() - 1) / 2].0;
    let chosen = rng::below(u32::try_from(levels.len()).unwrap_or(1)) as usize;
    events::emit("tide-agreed", &json!({ "level_cm": level_cm, "stations": levels.len() }))?;
    Ok(Consensus {
        level_cm,
        stations: levels.len(),
        spot_check: levels[chosen].1.clone(),
        at: clock::now().to_string(),
    })
}

latchwork_guest::export_step! {
    version: "0.1.0",
    operators: [
        step::operator("Tide.Agree", agree)
            .describe("Agrees on a water level from several stations.")
            .determinism(Determinism::External),
    ],
}
