//! Books berths for guests at the booking server of a marina.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, config, http, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Stay {
    #[schemars(length(min = 1, max = 60))]
    boat: String,
    #[schemars(range(min = 100, max = 6_000))]
    length_cm: u32,
    #[schemars(regex(pattern = r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"))]
    arrival: String,
    #[schemars(range(min = 1, max = 60))]
    nights: u32,
    #[serde(default)]
    shore_power: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Booked {
    /// Pier and number of the berth.
    #[schemars(length(max = 20))]
    berth: String,
    #[schemars(length(max = 40))]
    booking: String,
}

/// Builds a request for the booking of a key.
fn request(method: &str, key: &str) -> Result<http::Request, Error> {
    let server: String = config::require("server")?;
    let token = secrets::get("MARINA_TOKEN")?;
    // All characters of a key are allowed in a query.
    Ok(http::Request::new(method, &format!("{}/bookings?reference={key}", server.trim_end_matches('/')))
        .header("authorization", &format!("Bearer {token}"))
        .timeout(Duration::from_secs(8)))
}

fn output(body: &[u8], key: &str) -> Result<Output<Booked>, Error> {
    let booked: Booked = serde_json::from_slice(body)
        .map_err(|error| Error::schema_validation_failed(format!("unexpected answer of the marina: {error}")))?;
    let change = Change::new("booking", key, "create").external_ref(&booked.booking);
    Ok(Output::new(booked).change(change))
}

/// Finds the booking of a key.
fn find(key: &str) -> Result<Option<Output<Booked>>, Error> {
    let answer = request("GET", key)?.send()?;
    match answer.status() {
        200 => output(answer.body(), key).map(Some),
        404 | 410 => Ok(None),
        401 | 403 => Err(Error::auth_forbidden("the marina refused the token")),
        status => Err(Error::temporary_provider_error(format!("the marina answered {status}"))),
    }
}

fn book(stay: Stay, context: &tool::Context) -> Result<Output<Booked>, Error> {
    let key = context.external_key();
    let body = json!({
        "boat": stay.boat, "length_cm": stay.length_cm, "arrival": stay.arrival, "nights": stay.nights,
        "shore_power": stay.shore_power,
    });
    let answer = request("POST", key)?.header("content-type", "application/json").body(body.to_string()).send()?;
    match answer.status() {
        200..=299 => output(answer.body(), key),
        401 | 403 => Err(Error::auth_forbidden("the marina refused the token")),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => {
            Err(Error::invalid_input(format!("the marina refused the booking: {}", answer.status())))
        }
        409 => match find(key) {
            Ok(Some(output)) => Ok(output),
            _ => Err(Error::policy_denied("the marina reports a conflict").applied_unknown()),
        },
        429 => Err(Error::rate_limit("the marina limits the rate of requests")),
        status => Err(Error::temporary_provider_error(format!("the marina answered {status}"))),
    }
}

fn reconcile(_: Stay, key: &str) -> Result<Verdict<Output<Booked>>, Error> {
    Ok(find(key)?.map_or(Verdict::DidNotHappen, Verdict::Happened))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Berth.Book", book)
            .describe("Books a berth for a boat.")
            .effects([Effect::ExternalWrite])
            // The marina drops requests that wait for more than 20 seconds.
            .settles_within(Duration::from_secs(30))
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
