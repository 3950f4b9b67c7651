//! `Organ.BookTuner`: books a visit of the organ tuner at the workshop's server. The server cannot be asked about a
//! booking, so a person decides about a call in doubt.

use std::time::Duration;

use latchwork_guest::http::{Request, Response};
use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, config};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Booking {
    #[schemars(length(min = 1, max = 80))]
    church: String,
    #[schemars(range(min = 1, max = 120))]
    stops: u32,
    /// Pitch in hertz at 15 °C.
    #[schemars(range(min = 390, max = 470))]
    pitch: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Booked {
    visit: String,
    day: String,
}

fn wait(response: &Response) -> Duration {
    Duration::from_secs(response.header("retry-after").and_then(|text| text.parse().ok()).unwrap_or(30))
}

fn book(booking: Booking, context: &tool::Context) -> Result<Output<Booked>, Error> {
    if booking.church.trim().is_empty() {
        return Err(Error::invalid_input("which church?"));
    }
    let server: Option<String> = config::get("server")?;
    let server = server.unwrap_or_else(|| "https://orgelbau.example".into());
    let body = json!({
        "church": booking.church,
        "stops": booking.stops,
        "pitch": booking.pitch,
        "hours": booking.stops.div_ceil(4) + 1,
        "order": context.external_key(),
    });
    let response = Request::post(&format!("{server}/visits"))
        .header("content-type", "application/json")
        .timeout(Duration::from_secs(10))
        .body(body.to_string())
        .send()?;

    match response.status() {
        200..=299 => {
            let booked: Booked = serde_json::from_slice(response.body())
                .map_err(|error| Error::schema_validation_failed(format!("unreadable booking: {error}")))?;
            let change = Change::new("visit", &booked.visit, "create").version(&booked.day);
            Ok(Output::new(booked).change(change))
        }
        // The workshop asks us to come back later.
        429 | 503 => Err(Error::rate_limit("the workshop is busy").retry_after(wait(&response))),
        401 | 403 => Err(Error::auth_forbidden("the workshop does not know us")),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => {
            Err(Error::invalid_input(format!("the workshop refused the booking: {}", response.text())))
        }
        status => Err(Error::temporary_provider_error(format!("the workshop answered {status}"))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Organ.BookTuner", book)
            .describe("Books a visit of the organ tuner.")
            .effects([Effect::ExternalWrite]),
    ],
}
