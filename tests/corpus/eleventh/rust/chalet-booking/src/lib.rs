use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

const SERVER: &str = "https://chalets.example/bookings";

#[derive(Serialize, Deserialize, JsonSchema)]
struct Stay {
    chalet: String,
    from: String,
    nights: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Booked {
    number: u32,
}

/// A booking as the server lists it.
#[derive(Deserialize)]
struct Listed {
    number: u32,
    state: String,
}

fn parse<T: DeserializeOwned>(response: &http::Response) -> Result<T, Error> {
    serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("unexpected answer of the server: {error}")))
}

fn booked(number: u32) -> Output<Booked> {
    let change = Change::new("booking", number.to_string(), "create").version("booked");
    Output::new(Booked { number }).change(change)
}

/// Returns the booking that was made under this key, if there is one. The server lists cancelled bookings too.
fn look_up(key: &str) -> Result<Option<Listed>, Error> {
    let response = http::Request::get(&format!("{SERVER}?key={key}")).send()?;
    match response.status() {
        200 => Ok(parse::<Vec<Listed>>(&response)?.into_iter().next()),
        status => Err(Error::temporary_provider_error(format!("the list of bookings answered {status}"))),
    }
}

/// The server answers a repeated key with the first booking. If it keeps the dates busy, it answers 409, also for the
/// dates of this call's own booking.
fn book(stay: Stay, context: &tool::Context) -> Result<Output<Booked>, Error> {
    if stay.chalet.trim().is_empty() || stay.from.len() != 10 || !(1..=28).contains(&stay.nights) {
        return Err(Error::invalid_input("a stay has a chalet, a day such as 2026-02-07, and 1 to 28 nights"));
    }
    let key = context.external_key();
    let body = serde_json::to_vec(&stay).map_err(|error| Error::invalid_input(error.to_string()))?;
    let response = http::Request::post(SERVER)
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .body(body)
        .send()?;
    match response.status() {
        200..=299 => Ok(booked(parse::<Booked>(&response)?.number)),
        409 => match look_up(key).map_err(Error::applied_unknown)? {
            Some(found) if found.state == "booked" => Ok(booked(found.number)),
            Some(found) => {
                Err(Error::policy_denied(format!("booking {} is {}", found.number, found.state)).applied_unknown())
            }
            None => Err(Error::policy_denied("the chalet is taken").not_applied()),
        },
        401 | 403 => Err(Error::auth_forbidden("the server refused the booking")),
        429 => Err(Error::rate_limit("the server limits bookings").retry_after(Duration::from_secs(45))),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(response.text())),
        503 => {
            Err(Error::rate_limit("the server is overloaded").retry_after(Duration::from_secs(90)).applied_unknown())
        }
        status => Err(Error::temporary_provider_error(format!("the server answered {status}"))),
    }
}

fn reconcile(_: Stay, key: &str) -> Result<Verdict<Output<Booked>>, Error> {
    Ok(match look_up(key)? {
        Some(found) if found.state == "booked" => Verdict::Happened(booked(found.number)),
        Some(_) => Verdict::Unknown,
        None => Verdict::DidNotHappen,
    })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let response = http::Request::get(&format!("{SERVER}/{}", change.resource_id)).send()?;
    match response.status() {
        200 => Ok(Finding::compare(change.version.as_deref(), &parse::<Listed>(&response)?.state)),
        404 | 410 => Ok(Finding::Mismatch("the booking is gone".into())),
        status => Err(Error::temporary_provider_error(format!("the booking answered {status}"))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("ChaletBooking.Book", book)
            .describe("Books a chalet for some nights.")
            .effects([Effect::ExternalWrite])
            // The server keeps keys for two days, and writes a booking within a minute.
            .idempotent_by_key(Duration::from_secs(48 * 3600))
            .settles_within(Duration::from_secs(120))
            .reconcile(reconcile)
            .verify(verify),
    ],
    exports: [reconcile, verify],
}
