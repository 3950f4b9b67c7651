//! Books parcels with a carrier.

use std::time::Duration;

use latchwork_guest::http::{Request, Response};
use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const BOOKINGS: &str = "https://api.carrier.example/bookings";
const TIMEOUT: Duration = Duration::from_secs(8);
const GRAMS_MAX: u32 = 31_500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parcel {
    to: String,
    grams: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Booking {
    /// Number of the booking at the carrier.
    id: String,
}

/// Address of the bookings of a call. All characters of a key are allowed in a query.
fn bookings_of(key: &str) -> String {
    format!("{BOOKINGS}?key={key}")
}

fn booked(booking: Booking) -> Output<Booking> {
    let receipt = json!({ "booking": booking.id });
    let change = Change::new("booking", &booking.id, "create");
    Output::new(booking).receipt(receipt).change(change)
}

/// Asks the carrier for the booking of a call.
fn look_up(key: &str) -> Result<Option<Booking>, Error> {
    let response = Request::get(&bookings_of(key)).timeout(TIMEOUT).send()?;
    if response.status() != 200 {
        return Err(Error::temporary_provider_error(format!("the carrier answers {}", response.status())));
    }
    let mut bookings: Vec<Booking> = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("unexpected list of the carrier: {error}")))?;
    match bookings.len() {
        0 | 1 => Ok(bookings.pop()),
        more => Err(Error::schema_validation_failed(format!("{more} bookings have one key"))),
    }
}

fn pause(response: &Response) -> Option<Duration> {
    response.header("retry-after")?.trim().parse().ok().map(|seconds: u32| Duration::from_secs(u64::from(seconds)))
}

fn book(parcel: Parcel, context: &tool::Context) -> Result<Output<Booking>, Error> {
    if parcel.to.trim().is_empty() {
        return Err(Error::invalid_input("the parcel has no address"));
    }
    if !(1..=GRAMS_MAX).contains(&parcel.grams) {
        return Err(Error::invalid_input(format!("a parcel has 1 to {GRAMS_MAX} grams")));
    }
    let key = context.external_key();
    let response = Request::post(&bookings_of(key))
        .header("content-type", "application/json")
        .timeout(TIMEOUT)
        .body(json!({ "to": parcel.to, "grams": parcel.grams }).to_string())
        .send()?;
    let status = response.status();
    match status {
        200..=299 => serde_json::from_slice(response.body())
            .map(booked)
            .map_err(|error| Error::schema_validation_failed(format!("unexpected answer of the carrier: {error}"))),
        // The booking of an earlier try has the same key.
        409 | 412 => match look_up(key) {
            Ok(Some(booking)) => Ok(booked(booking)),
            Ok(None) => Err(Error::invalid_input("the carrier has another booking of this parcel")),
            Err(error) => Err(error.context("asking for the booking").applied_unknown()),
        },
        429 => {
            let error = Error::rate_limit("the carrier has too many requests");
            Err(match pause(&response) {
                Some(pause) => error.retry_after(pause),
                None => error,
            })
        }
        401 | 403 => Err(Error::auth_forbidden(format!("the carrier answers {status}"))),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => {
            Err(Error::invalid_input(format!("the carrier refuses the parcel with {status}")))
        }
        // A busy carrier may have taken the booking before it answered.
        503 => {
            let error = Error::rate_limit("the carrier is busy").applied_unknown();
            Err(match pause(&response) {
                Some(pause) => error.retry_after(pause),
                None => error,
            })
        }
        _ => Err(Error::temporary_provider_error(format!("the carrier answers {status}"))),
    }
}

fn find(_: Parcel, key: &str) -> Result<Verdict<Output<Booking>>, Error> {
    Ok(match look_up(key)? {
        Some(booking) => Verdict::Happened(booked(booking)),
        None => Verdict::DidNotHappen,
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Parcel.Book", book)
            .describe("Books a parcel with the carrier.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(30))
            .reconcile(find),
    ],
    exports: [reconcile],
}
