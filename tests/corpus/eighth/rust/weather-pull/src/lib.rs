use std::time::Duration;

use latchwork_guest::{Determinism, Error, clock, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Place {
    place: String,
}

#[derive(Serialize, JsonSchema)]
struct Advice {
    place: String,
    umbrella: bool,
    seen_at: String,
}

#[derive(Deserialize)]
struct Forecast {
    rain_percent: u32,
}

/// Lets some time pass before the service is asked again.
fn pause(time: Duration) {
    let end = clock::now().plus(time);
    while clock::now() < end {
        std::hint::spin_loop();
    }
}

fn forecast(place: &str) -> Result<Forecast, Error> {
    let args = json!({ "place": place });
    for round in 1..=2 {
        match tools::call("Weather.Forecast", &args) {
            Ok(forecast) => return Ok(forecast),
            Err(error) => log::warn!("round {round}: {}", error.message()),
        }
        pause(Duration::from_secs(2));
    }
    tools::call("Weather.Forecast", &args)
}

fn advise(input: Place, _: &step::Context) -> Result<Advice, Error> {
    let forecast = forecast(&input.place)?;
    Ok(Advice { umbrella: forecast.rain_percent > 40, place: input.place, seen_at: clock::now().to_string() })
}

latchwork_guest::export_step! {
    version: "0.1.0",
    operators: [
        step::operator("Umbrella.Advise", advise)
            .describe("Advises whether to take an umbrella.")
            .determinism(Determinism::External),
    ],
}
