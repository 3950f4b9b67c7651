//! `Sledge.Reserve`: reserves a sledge at a hire station, and cancels the reservation when the job is undone.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const RESERVATIONS: &str = "https://sledges.example/reservations";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wish {
    model: String,
    /// The day of the ride has the form `2026-02-14`.
    day: String,
    hours: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Reservation {
    id: String,
    fee_cents: u32,
}

#[derive(Serialize)]
struct Returned {
    id: String,
}

fn reserve(wish: Wish, context: &tool::Context) -> Result<Output<Reservation>, Error> {
    if wish.model.is_empty() || wish.day.len() != 10 {
        return Err(Error::invalid_input("a reservation needs a model and a day"));
    }
    if !(1..=12).contains(&wish.hours) {
        return Err(Error::invalid_input("hours: 1 to 12"));
    }
    let body = json!({
        "ref": context.external_key(), "model": wish.model, "day": wish.day, "hours": wish.hours,
    });
    let response = http::Request::post(RESERVATIONS)
        .header("content-type", "application/json")
        .body(body.to_string())
        .timeout(Duration::from_secs(10))
        .send()?;
    match response.status() {
        200 | 201 => {
            let reservation: Reservation = serde_json::from_slice(response.body())
                .map_err(|error| Error::schema_validation_failed(format!("answer of the station: {error}")))?;
            if reservation.id.is_empty() || !reservation.id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
                return Err(Error::schema_validation_failed("the id of the reservation has other characters"));
            }
            let change = Change::new("reservation", reservation.id.clone(), "create");
            Ok(Output::new(reservation).change(change))
        }
        401 | 403 => Err(Error::auth_forbidden("the station refused the customer")),
        422 => Err(Error::policy_denied(format!("no sledge {} is left on {}", wish.model, wish.day))),
        429 => Err(Error::rate_limit("the station limits the rate of requests")),
        status @ (400 | 404 | 405 | 410 | 413 | 415) => {
            Err(Error::invalid_input(format!("the station refused the reservation: {status}")))
        }
        status => Err(Error::temporary_provider_error(format!("the station answered {status}"))),
    }
}

/// Cancels the reservation while it is still open.
fn give_back(_: Wish, reservation: Reservation, _: &str) -> Result<Output<Returned>, Error> {
    let id = reservation.id;
    let response =
        http::Request::new("DELETE", &format!("{RESERVATIONS}/{id}")).timeout(Duration::from_secs(10)).send()?;
    match response.status() {
        200 | 204 | 404 => {
            let change = Change::new("reservation", id.clone(), "delete");
            Ok(Output::new(Returned { id }).change(change))
        }
        401 | 403 => Err(Error::auth_forbidden("the station refused the customer")),
        429 => Err(Error::rate_limit("the station limits the rate of requests")),
        status @ (400 | 405 | 409 | 410 | 412 | 413 | 415 | 422) => {
            Err(Error::policy_denied(format!("reservation {id} cannot be cancelled any more: {status}")))
        }
        status => Err(Error::temporary_provider_error(format!("the station answered {status}"))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Sledge.Reserve", reserve)
            .describe("Reserves a sledge at a hire station.")
            .effects([Effect::ExternalWrite])
            .compensate(give_back),
    ],
    exports: [compensate],
}
