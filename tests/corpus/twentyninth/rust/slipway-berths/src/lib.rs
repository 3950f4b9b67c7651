//! Reserves a berth on the slipway of a boatyard for one day.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const YARD: &str = "https://yard.example/api/slipway";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Reservation {
    /// Berth, such as `b4`.
    #[schemars(regex(pattern = "^[a-z][0-9]{1,2}$"))]
    berth: String,
    /// Day, such as `2026-03-14`.
    #[schemars(regex(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    day: String,
    #[schemars(length(min = 1, max = 80))]
    boat: String,
    /// Length over all in metres.
    #[schemars(range(min = 1.0, max = 60.0))]
    length: f64,
}

#[derive(Serialize, JsonSchema)]
struct Reserved {
    berth: String,
    day: String,
    boat: String,
    place: String,
}

/// A berth on a day is one resource of the yard.
fn place(reservation: &Reservation) -> String {
    format!("{YARD}/{}/{}", reservation.berth, reservation.day)
}

fn reserve(reservation: Reservation, context: &tool::Context) -> Result<Output<Reserved>, Error> {
    let boat = reservation.boat.trim();
    if boat.is_empty() {
        return Err(Error::invalid_input("the boat has no name"));
    }
    let place = place(&reservation);
    let body = json!({ "reference": context.external_key(), "boat": boat, "length": reservation.length });
    // The yard creates the reservation only if the berth is free on that day. However often the request arrives,
    // there is one reservation.
    let response = http::Request::new("PUT", &place)
        .header("content-type", "application/json")
        .header("if-none-match", "*")
        .body(body.to_string())
        .timeout(Duration::from_secs(15))
        .send()?;
    match response.status() {
        200..=299 => {}
        409 | 412 => {
            let message = format!("berth {} is taken on {}", reservation.berth, reservation.day);
            return Err(Error::policy_denied(message));
        }
        429 => {
            let wait = response.header("retry-after").and_then(|text| text.parse().ok()).unwrap_or(30);
            return Err(Error::rate_limit("the yard asks to slow down").retry_after(Duration::from_secs(wait)));
        }
        401 | 403 => return Err(Error::auth_forbidden("the yard does not accept reservations from here")),
        status @ (400 | 404 | 405 | 410 | 413 | 415 | 422) => {
            return Err(Error::invalid_input(format!("the yard answers {status}: {}", response.text())));
        }
        status => return Err(Error::temporary_provider_error(format!("the yard answers {status}")).applied_unknown()),
    }
    let id = format!("{}/{}", reservation.berth, reservation.day);
    let change = Change::new("berth", id, "create").external_ref(&place);
    let boat = boat.to_owned();
    Ok(Output::new(Reserved { berth: reservation.berth, day: reservation.day, boat, place }).change(change))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Slipway.Reserve", reserve)
            .describe("Reserves a berth on the slipway for one day.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(24 * 3600))
            .settles_within(Duration::from_secs(20)),
    ],
    exports: [],
}
