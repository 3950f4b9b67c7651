//! Books the looms of an open weaving workshop over its booking server.

use std::time::Duration;

use latchwork_guest::http::Request;
use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const BOOKINGS: &str = "https://looms.workshop.example/bookings";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wish {
    loom: String,
    /// Day of the booking, such as `2026-03-14`.
    day: String,
    weaver: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Booked {
    booking: String,
    loom: String,
    day: String,
}

#[derive(Deserialize)]
struct Booking {
    id: String,
    /// True once the weaver or the workshop has given the day back.
    #[serde(default)]
    cancelled: bool,
}

fn address(booking: &str) -> String {
    format!("{BOOKINGS}/{booking}")
}

fn booked(booking: Booking, wish: Wish) -> Output<Booked> {
    let change = Change::new("booking", &booking.id, "create").external_ref(address(&booking.id));
    Output::new(Booked { booking: booking.id.clone(), loom: wish.loom, day: wish.day })
        .receipt(json!({ "booking": booking.id }))
        .change(change)
}

/// Reads the list of bookings, or the answer with one booking. The number of a booking is part of its address.
fn checked(booking: Booking) -> Result<Booking, Error> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if booking.id.is_empty() || !booking.id.chars().all(is_plain) {
        return Err(Error::schema_validation_failed(format!("{:?} is no number of a booking", booking.id)));
    }
    Ok(booking)
}

/// Asks the server for the booking of a reference.
fn find(reference: &str) -> Result<Option<Booking>, Error> {
    let response = Request::get(&format!("{BOOKINGS}?reference={reference}")).timeout(Duration::from_secs(5)).send()?;
    if response.status() != 200 {
        return Err(Error::temporary_provider_error(format!("the bookings have status {}", response.status())));
    }
    let bookings: Vec<Booking> = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("the bookings: {error}")))?;
    bookings.into_iter().next().map(checked).transpose()
}

fn refused(status: u16) -> Error {
    match status {
        429 => Error::rate_limit("the booking server is busy").retry_after(Duration::from_secs(20)),
        401 | 403 => Error::auth_forbidden(format!("the booking server refuses this club with {status}")),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => {
            Error::invalid_input(format!("the booking server refuses the booking with {status}"))
        }
        _ => Error::temporary_provider_error(format!("the booking server answers with {status}")).applied_unknown(),
    }
}

fn book(wish: Wish, context: &tool::Context) -> Result<Output<Booked>, Error> {
    if [&wish.loom, &wish.day, &wish.weaver].iter().any(|text| text.trim().is_empty()) {
        return Err(Error::invalid_input("a booking has a loom, a day and a weaver"));
    }
    let reference = context.external_key();
    let body = json!({ "reference": reference, "loom": wish.loom, "day": wish.day, "weaver": wish.weaver });
    let response = Request::post(BOOKINGS)
        .header("content-type", "application/json")
        .body(body.to_string())
        .timeout(Duration::from_secs(5))
        .send()?;
    match response.status() {
        200..=299 => {
            let booking = serde_json::from_slice(response.body())
                .map_err(|error| Error::schema_validation_failed(format!("the new booking: {error}")))
                .and_then(checked)
                .map_err(Error::applied_unknown)?;
            Ok(booked(booking, wish))
        }
        // The loom is taken, or the server has seen the reference before.
        409 | 412 => match find(reference).map_err(Error::applied_unknown)? {
            Some(booking) if booking.cancelled => {
                Err(Error::policy_denied("the booking was cancelled").applied_unknown())
            }
            Some(booking) => Ok(booked(booking, wish)),
            None => Err(Error::policy_denied(format!("{} is taken on {}", wish.loom, wish.day))),
        },
        status => Err(refused(status)),
    }
}

/// A booking that was cancelled proves nothing about the call.
fn reconcile(wish: Wish, key: &str) -> Result<Verdict<Output<Booked>>, Error> {
    Ok(match find(key)? {
        None => Verdict::DidNotHappen,
        Some(booking) if booking.cancelled => Verdict::Unknown,
        Some(booking) => Verdict::Happened(booked(booking, wish)),
    })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let response = Request::get(&address(&change.resource_id)).timeout(Duration::from_secs(5)).send()?;
    match response.status() {
        200 => {
            let booking: Booking = serde_json::from_slice(response.body())
                .map_err(|error| Error::schema_validation_failed(format!("the booking: {error}")))?;
            Ok(match booking.cancelled {
                true => Finding::Mismatch("the booking is cancelled".into()),
                false => Finding::Confirmed,
            })
        }
        404 | 410 => Ok(Finding::Mismatch("the server has no such booking".into())),
        status => Err(Error::temporary_provider_error(format!("the booking has status {status}"))),
    }
}

/// Gives the day back. The server refuses this once the loom is warped.
fn cancel(_: Wish, booked: Booked, _: &str) -> Result<Output<()>, Error> {
    let response = Request::new("DELETE", &address(&booked.booking)).timeout(Duration::from_secs(5)).send()?;
    match response.status() {
        200..=299 => Ok(Output::new(()).change(Change::new("booking", &booked.booking, "delete"))),
        404 | 410 => Err(Error::policy_denied("the server has no such booking")),
        409 | 412 => Err(Error::policy_denied("the loom is warped already")),
        status => Err(refused(status)),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Loom.Book", book)
            .describe("Books a loom for a day.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(reconcile)
            .verify(verify)
            .compensate(cancel),
    ],
    exports: [reconcile, verify, compensate],
}
