//! `Escort.Book`: books an icebreaker that escorts a ship into a port.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, http, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Bookings of the office, by number. The office finds a booking by its reference as soon as it has answered.
const BOOKINGS: &str = "https://escort.ice.example/v1/bookings";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    ship: String,
    port: String,
    /// Day of the escort: `2026-02-11`.
    day: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Booked {
    booking: String,
}

/// A booking at the office. It has version 1 until someone changes it. A cancelled booking stays in the list.
#[derive(Deserialize)]
struct Booking {
    id: String,
    cancelled: bool,
    version: u32,
}

/// Answer to a new booking.
#[derive(Deserialize)]
struct Created {
    id: String,
}

fn book(args: Args, context: &tool::Context) -> Result<Output<Booked>, Error> {
    if [&args.ship, &args.port, &args.day].iter().any(|text| text.trim().is_empty()) {
        return Err(Error::invalid_input("ship, port and day: not empty"));
    }
    let key = context.external_key();
    let body = json!({ "ship": args.ship, "port": args.port, "day": args.day, "reference": key });
    let response =
        request("POST", BOOKINGS)?.header("content-type", "application/json").body(body.to_string()).send()?;
    match response.status() {
        200..=299 => Ok(booked(parse::<Created>(&response)?.id)),
        409 | 412 => match find(key).map_err(Error::applied_unknown)? {
            Some(own) if own.cancelled => Err(Error::policy_denied("the booking was cancelled").applied_unknown()),
            Some(own) => Ok(booked(own.id)),
            None => Err(Error::policy_denied(format!("no icebreaker is free on {}", args.day))),
        },
        status => Err(refusal(status)),
    }
}

fn reconcile(_: Args, key: &str) -> Result<Verdict<Output<Booked>>, Error> {
    Ok(match find(key)? {
        Some(own) if own.cancelled => Verdict::Unknown,
        Some(own) => Verdict::Happened(booked(own.id)),
        None => Verdict::DidNotHappen,
    })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let response = request("GET", &format!("{BOOKINGS}/{}", change.resource_id))?.send()?;
    match response.status() {
        200 => {}
        404 | 410 => return Ok(Finding::Mismatch("the booking is gone".to_owned())),
        status => return Err(refusal(status)),
    }
    let now: Booking = parse(&response)?;
    if now.cancelled {
        return Ok(Finding::Mismatch("the booking was cancelled".to_owned()));
    }
    Ok(Finding::compare(change.version.as_deref(), &now.version.to_string()))
}

fn cancel(_: Args, booked: Booked, _: &str) -> Result<Output<Booked>, Error> {
    let response = request("DELETE", &format!("{BOOKINGS}/{}", booked.booking))?.header("if-match", "\"1\"").send()?;
    match response.status() {
        200..=299 => Ok(Output::new(booked)),
        404 | 410 => Err(Error::policy_denied("the booking is gone already")),
        409 | 412 => Err(Error::policy_denied("the booking was changed since")),
        status => Err(refusal(status)),
    }
}

/// Returns the booking with a reference, if there is one.
fn find(key: &str) -> Result<Option<Booking>, Error> {
    let response = request("GET", &format!("{BOOKINGS}?reference={key}"))?.send()?;
    match response.status() {
        200 => Ok(parse::<Vec<Booking>>(&response)?.pop()),
        status => Err(refusal(status)),
    }
}

fn request(method: &str, url: &str) -> Result<http::Request, Error> {
    let token = format!("Bearer {}", secrets::get("ESCORT_TOKEN")?);
    Ok(http::Request::new(method, url).header("authorization", &token).timeout(Duration::from_secs(10)))
}

fn parse<T: serde::de::DeserializeOwned>(response: &http::Response) -> Result<T, Error> {
    serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("unexpected answer of the office: {error}")))
}

fn refusal(status: u16) -> Error {
    let said = format!("the office answered {status}");
    match status {
        401 | 403 => Error::auth_forbidden(said),
        429 => Error::rate_limit(said),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(said),
        _ => Error::temporary_provider_error(said),
    }
}

fn booked(booking: String) -> Output<Booked> {
    let change = Change::new("escort", &booking, "create").version("1");
    let receipt = json!({ "booking": booking });
    Output::new(Booked { booking }).receipt(receipt).change(change)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Escort.Book", book)
            .describe("Books an icebreaker for a ship.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(30))
            .reconcile(reconcile)
            .verify(verify)
            .compensate(cancel),
    ],
    exports: [reconcile, verify, compensate],
}
