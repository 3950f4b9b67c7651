//! `Locker.Book`: books a compartment of a parcel locker.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const BOOKINGS: &str = "https://lockers.example/bookings";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parcel {
    station: String,
    /// Outer size in centimetres.
    longest_side: u16,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Booking {
    id: String,
    compartment: String,
}

fn booked(booking: Booking) -> Output<Booking> {
    let change = Change::new("booking", &booking.id, "create").version(&booking.compartment);
    Output::new(booking).change(change)
}

fn book(parcel: Parcel, context: &tool::Context) -> Result<Output<Booking>, Error> {
    let size = match parcel.longest_side {
        0 => return Err(Error::invalid_input("a parcel has a size")),
        1..=35 => "S",
        36..=60 => "M",
        61..=100 => "L",
        _ => return Err(Error::invalid_input("no compartment is that large")),
    };
    let body = json!({ "station": parcel.station, "size": size, "key": context.external_key() });
    let response = http::Request::post(BOOKINGS)
        .header("content-type", "application/json")
        .timeout(context.timeout().mul_f32(0.8))
        .body(body.to_string())
        .send()?;
    let said = format!("the station answered {}", response.status());
    match response.status() {
        200..=299 => {}
        401 | 403 => return Err(Error::auth_forbidden(said)),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => return Err(Error::invalid_input(said)),
        429 => return Err(Error::rate_limit(said)),
        _ => return Err(Error::temporary_provider_error(said).applied_unknown()),
    }
    let booking = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("unreadable booking: {error}")).applied_unknown())?;
    Ok(booked(booking))
}

/// Called after a crash: looks for the booking that has the key of the call.
fn find(_: Parcel, key: &str) -> Result<Verdict<Output<Booking>>, Error> {
    let response = http::Request::get(&format!("{BOOKINGS}?key={key}")).send()?;
    if response.status() != 200 {
        return Ok(Verdict::DidNotHappen);
    }
    let mut bookings: Vec<Booking> = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("unreadable list of bookings: {error}")))?;
    Ok(match bookings.pop() {
        Some(booking) => Verdict::Happened(booked(booking)),
        None => Verdict::DidNotHappen,
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Locker.Book", book)
            .describe("Books a compartment of a parcel locker.")
            .effects([Effect::ExternalWrite])
            // A station takes a booking at once or not at all. A request is in transit for less than a minute.
            .settles_within(Duration::from_secs(60))
            .reconcile(find),
    ],
    exports: [reconcile],
}
