//! Fetches the sounding of a weather balloon from one of several relays.

use latchwork_guest::{Code, Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ascent {
    balloon: String,
    relays: Vec<String>,
}

#[derive(Deserialize)]
struct Level {
    height_m: f64,
    celsius: f64,
}

#[derive(Serialize, JsonSchema)]
struct Sounding {
    balloon: String,
    relay: String,
    levels: usize,
    /// Height of the lowest level at or below zero degrees.
    freezing_m: Option<f64>,
}

fn sounding(ascent: Ascent, _: &step::Context) -> Result<Sounding, Error> {
    // A relay is often busy while it receives another balloon, so the next one is asked.
    for relay in ascent.relays.iter().cycle() {
        let answer: Result<Vec<Level>, Error> =
            tools::call("Relay.Fetch", &json!({ "relay": relay, "balloon": ascent.balloon }));
        match answer {
            Ok(mut levels) => {
                levels.sort_by(|a, b| a.height_m.total_cmp(&b.height_m));
                let freezing_m = levels.iter().find(|level| level.celsius <= 0.0).map(|level| level.height_m);
                let relay = relay.clone();
                return Ok(Sounding { balloon: ascent.balloon, relay, levels: levels.len(), freezing_m });
            }
            Err(error) if matches!(error.code(), Code::NetworkTimeout | Code::DependencyUnavailable) => {
                log::warn!("relay {relay}: {error}");
            }
            Err(error) => return Err(error.context(format!("relay {relay}"))),
        }
    }
    Err(Error::invalid_input("no relay is given"))
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Sonde.Read", sounding)
            .describe("Fetches the sounding of a weather balloon.")
            .determinism(Determinism::External),
    ],
}
