//! Books a place on a guided tour. The booking service keeps the key of a request for a week. It answers a second
//! request with the same key with 409, and the booking of the first one is then looked up by the key.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const BOOKINGS: &str = "https://tours.example/bookings";

#[derive(Deserialize, JsonSchema)]
struct Wish {
    tour: String,
    places: u8,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Booking {
    id: String,
    version: String,
}

fn place(id: &str) -> String {
    format!("{BOOKINGS}/{id}")
}

fn read<T: serde::de::DeserializeOwned>(response: &http::Response) -> Result<T, Error> {
    serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("the answer cannot be read: {error}")))
}

/// Returns the failure for an answer that is no success. A request that was refused with 4xx did nothing.
fn failed(status: u16) -> Error {
    let text = format!("the booking service answered {status}");
    match status {
        401 | 403 => Error::auth_forbidden(text),
        408 => Error::network_timeout(text),
        429 => Error::rate_limit(text),
        400..=499 => Error::invalid_input(text),
        _ => Error::temporary_provider_error(text),
    }
}

fn look_up(key: &str) -> Result<Option<Booking>, Error> {
    let response = http::Request::get(&format!("{BOOKINGS}?key={key}")).send()?;
    match response.status() {
        200 => Ok(read::<Vec<Booking>>(&response)?.into_iter().next()),
        status => Err(failed(status)),
    }
}

fn book(wish: Wish, context: &tool::Context) -> Result<Output<Booking>, Error> {
    if wish.tour.is_empty() || wish.places == 0 {
        return Err(Error::invalid_input("the tour is empty, or no place is wanted"));
    }
    let key = context.external_key();
    let response = http::Request::post(BOOKINGS)
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .body(json!({ "tour": wish.tour, "places": wish.places }).to_string())
        .send()?;
    let booking = match response.status() {
        200 | 201 => read(&response)?,
        409 => look_up(key)
            .map_err(Error::applied_unknown)?
            .ok_or_else(|| Error::dependency_unavailable("the booking of the key is not listed yet"))?,
        status => return Err(failed(status)),
    };
    Ok(booked(booking))
}

/// Called after a crash: looks for the booking of the key.
fn find(_: Wish, key: &str) -> Result<Verdict<Output<Booking>>, Error> {
    Ok(match look_up(key)? {
        Some(booking) => Verdict::Happened(booked(booking)),
        None => Verdict::DidNotHappen,
    })
}

/// Called when a job is resumed: checks whether the booking is as it was recorded.
fn verify(change: &Change) -> Result<Finding, Error> {
    let response = http::Request::get(&place(&change.resource_id)).send()?;
    match response.status() {
        200 => Ok(Finding::compare(change.version.as_deref(), &read::<Booking>(&response)?.version)),
        404 | 410 => Ok(Finding::Mismatch("the booking is gone".into())),
        status => Err(failed(status)),
    }
}

/// Called when the job is cancelled or undone.
fn cancel(_: Wish, booking: Booking, _: &str) -> Result<Output<()>, Error> {
    let response = http::Request::new("DELETE", &place(&booking.id)).header("if-match", &booking.version).send()?;
    match response.status() {
        200 | 204 => {}
        404 | 409 | 410 | 412 => return Err(Error::policy_denied("the booking was changed or is cancelled already")),
        status => return Err(failed(status)),
    }
    Ok(Output::new(()).change(Change::new("booking", &booking.id, "delete")))
}

fn booked(booking: Booking) -> Output<Booking> {
    let change =
        Change::new("booking", &booking.id, "create").version(&booking.version).external_ref(place(&booking.id));
    Output::new(booking).change(change)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Tour.Book", book)
            .describe("Books a place on a guided tour.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(7 * 86_400))
            .settles_within(Duration::from_secs(120))
            .reconcile(find)
            .verify(verify)
            .compensate(cancel),
    ],
    exports: [reconcile, verify, compensate],
}
