//! Orders a taxi at the dispatch desk of the city.

use std::time::Duration;

use latchwork_guest::http::{Request, Response};
use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const DESK: &str = "https://desk.taxi.example/rides";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ride {
    from: String,
    to: String,
    passengers: u8,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Ordered {
    /// Number of the ride at the desk.
    ride: String,
}

/// Address of the ride that a call has ordered. All characters of a key are allowed in a query.
fn ride_of(key: &str) -> String {
    format!("{DESK}?reference={key}")
}

fn ordered(response: &Response) -> Result<Output<Ordered>, Error> {
    let ordered: Ordered = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("unexpected answer of the desk: {error}")))?;
    let change = Change::new("ride", &ordered.ride, "create");
    Ok(Output::new(ordered).change(change))
}

/// Asks the desk for the ride of a call.
fn ask(key: &str) -> Result<Response, Error> {
    Ok(Request::get(&ride_of(key)).timeout(Duration::from_secs(10)).send()?)
}

fn order(ride: Ride, context: &tool::Context) -> Result<Output<Ordered>, Error> {
    if !(1..=8).contains(&ride.passengers) {
        return Err(Error::invalid_input("a taxi takes 1 to 8 passengers"));
    }
    let body = json!({ "from": ride.from, "to": ride.to, "passengers": ride.passengers }).to_string();
    let response = Request::post(&ride_of(context.external_key()))
        .header("content-type", "application/json")
        .timeout(Duration::from_secs(10))
        .body(body)
        .send()?;
    match response.status() {
        200..=299 => ordered(&response),
        // The ride of an earlier try has the same reference.
        409 | 412 => {
            let found = ask(context.external_key()).map_err(Error::applied_unknown)?;
            match found.status() {
                200 => ordered(&found),
                404 => Err(Error::invalid_input("the desk has another ride for these passengers")),
                status => Err(Error::temporary_provider_error(format!("the desk answers {status}"))),
            }
        }
        429 => Err(Error::rate_limit("the desk has too many orders")),
        401 | 403 => Err(Error::auth_forbidden("the desk refuses the login")),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => {
            Err(Error::invalid_input(format!("the desk refuses the ride with {}", response.status())))
        }
        status => Err(Error::temporary_provider_error(format!("the desk answers {status}"))),
    }
}

fn find(_: Ride, key: &str) -> Result<Verdict<Output<Ordered>>, Error> {
    let response = ask(key)?;
    match response.status() {
        200 => Ok(Verdict::Happened(ordered(&response)?)),
        404 | 410 => Ok(Verdict::DidNotHappen),
        status => Err(Error::temporary_provider_error(format!("the desk answers {status}"))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Taxi.Order", order)
            .describe("Orders a taxi at the dispatch desk.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(find),
    ],
    exports: [reconcile],
}
