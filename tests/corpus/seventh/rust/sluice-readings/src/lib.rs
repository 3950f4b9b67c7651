//! Reads the gauges of the sluices along a canal.

use std::collections::{BTreeMap, VecDeque};

use latchwork_guest::{Code, Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Canal {
    gauges: Vec<String>,
    /// Level above which a sluice has to be opened.
    limit_cm: i64,
}

#[derive(Deserialize)]
struct Reading {
    level_cm: i64,
}

#[derive(Serialize, JsonSchema)]
struct Levels {
    levels: BTreeMap<String, i64>,
    to_open: Vec<String>,
}

/// A gauge on a bad mobile link answers later.
fn is_passing(code: Code) -> bool {
    matches!(code, Code::NetworkTimeout | Code::RateLimit | Code::TemporaryProviderError | Code::DependencyUnavailable)
}

fn collect(canal: Canal, _: &step::Context) -> Result<Levels, Error> {
    if canal.gauges.is_empty() {
        return Err(Error::invalid_input("no gauges"));
    }
    let mut waiting: VecDeque<String> = canal.gauges.into();
    let mut levels = BTreeMap::new();
    while let Some(gauge) = waiting.pop_front() {
        match tools::call::<_, Reading>("Gauge.Read", &json!({ "gauge": gauge })) {
            Ok(reading) => {
                levels.insert(gauge, reading.level_cm);
            }
            Err(error) if is_passing(error.code()) => {
                log::warn!("{gauge} is put back to the end of the queue: {}", error.message());
                waiting.push_back(gauge);
            }
            Err(error) => return Err(error.context(format!("gauge {gauge}"))),
        }
    }
    let to_open = levels.iter().filter(|(_, level)| **level > canal.limit_cm).map(|(gauge, _)| gauge.clone()).collect();
    Ok(Levels { levels, to_open })
}

latchwork_guest::export_step! {
    version: "0.1.0",
    operators: [
        step::operator("Sluice.Collect", collect)
            .describe("Reads all gauges of a canal and lists the sluices to open.")
            .determinism(Determinism::External),
    ],
}
