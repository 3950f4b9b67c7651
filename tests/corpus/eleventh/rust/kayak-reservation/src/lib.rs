use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const SERVER: &str = "https://kayaks.example/reservations";

#[derive(Serialize, Deserialize, JsonSchema)]
struct Wish {
    kayak: String,
    day: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Reservation {
    id: u32,
}

/// The server keeps the key of a reservation for a month and answers a second request with the reservation of the first.
fn reserve(wish: Wish, context: &tool::Context) -> Result<Output<Reservation>, Error> {
    if wish.kayak.is_empty() || wish.day.len() != 10 {
        return Err(Error::invalid_input("a reservation needs a kayak and a day such as 2026-07-14"));
    }
    let body = serde_json::to_vec(&wish).map_err(|error| Error::invalid_input(error.to_string()))?;
    let response = http::Request::post(SERVER)
        .header("content-type", "application/json")
        .header("idempotency-key", context.external_key())
        .body(body)
        .send()?;
    let text = response.text();
    let read = || {
        serde_json::from_str::<Reservation>(&text)
            .map_err(|error| Error::schema_validation_failed(format!("unexpected answer: {error}")))
    };
    match response.status() {
        201 => {
            let reservation = read()?;
            let change = Change::new("reservation", reservation.id.to_string(), "create");
            Ok(Output::new(reservation).change(change))
        }
        // The reservation is there already, so there is nothing new to report.
        200..=299 => Ok(Output::new(read()?)),
        401 | 403 => Err(Error::auth_forbidden(text)),
        429 => Err(Error::rate_limit("the server is busy").retry_after(Duration::from_secs(20))),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(text)),
        // 409: the first request with this key has not ended.
        status => Err(Error::temporary_provider_error(format!("the server answered {status}"))),
    }
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let response = http::Request::get(&format!("{SERVER}/{}", change.resource_id)).send()?;
    match response.status() {
        200 => Ok(Finding::Confirmed),
        404 | 410 => Ok(Finding::Mismatch("the reservation is gone".into())),
        status => Err(Error::temporary_provider_error(format!("the server answered {status}"))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("KayakReservation.Make", reserve)
            .describe("Reserves a kayak for a day.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(30 * 24 * 3600))
            .verify(verify),
    ],
    exports: [verify],
}
