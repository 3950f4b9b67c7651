//! `Bench.Book`: books a laboratory bench for a day on the server of the institute.
//!
//! The server keeps the external key of a call as the reference of the booking, and lists bookings by reference.

use std::time::Duration;

use latchwork_guest::tool::{Change, Output, Verdict};
use latchwork_guest::{Effect, Error, config, http, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name of the bench, such as `B-12`.
    bench: String,
    /// Day of the booking: `2026-03-09`.
    day: String,
    /// Group that uses the bench.
    group: String,
}

/// A booking, as the server returns it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Booking {
    id: String,
    bench: String,
    day: String,
}

/// Returns the address of the bookings, from the config key `server`.
fn bookings() -> Result<String, Error> {
    let server: String = config::require("server")?;
    Ok(format!("{}/bookings", server.trim_end_matches('/')))
}

fn booked(booking: Booking) -> Output<Booking> {
    let change = Change::new("booking", &booking.id, "create");
    Output::new(booking).change(change)
}

/// Returns the failure for an answer of the server to the request that books.
fn refusal(status: u16) -> Error {
    let said = format!("the server answered {status}");
    match status {
        401 | 403 => Error::auth_forbidden(said),
        429 => Error::rate_limit(said).retry_after(Duration::from_secs(20)),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(said),
        _ => Error::temporary_provider_error(said),
    }
}

/// Asks the server for the booking of a reference.
fn find(key: &str) -> Result<Option<Booking>, Error> {
    let response = http::Request::get(&format!("{}?reference={key}", bookings()?))
        .header("accept", "application/json")
        .timeout(Duration::from_secs(10))
        .send()?;
    if response.status() != 200 {
        return Err(Error::dependency_unavailable(format!("the server answered {}", response.status())));
    }
    let mut found: Vec<Booking> = serde_json::from_slice(response.body()).unwrap_or_default();
    Ok(found.pop())
}

fn book(args: Args, context: &tool::Context) -> Result<Output<Booking>, Error> {
    if args.bench.trim().is_empty() || args.group.trim().is_empty() {
        return Err(Error::invalid_input("a booking needs a bench and a group"));
    }
    let plain = |(index, byte): (usize, u8)| {
        if matches!(index, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() }
    };
    if args.day.len() != 10 || !args.day.bytes().enumerate().all(plain) {
        return Err(Error::invalid_input(format!("{:?} is no day", args.day)));
    }
    let body = json!({
        "bench": args.bench,
        "day": args.day,
        "group": args.group,
        "reference": context.external_key(),
    });
    let response = http::Request::post(&bookings()?)
        .header("content-type", "application/json")
        .timeout(context.timeout().mul_f32(0.6))
        .body(body.to_string())
        .send()?;
    match response.status() {
        200 | 201 => serde_json::from_slice(response.body())
            .map(booked)
            .map_err(|error| Error::schema_validation_failed(format!("the booking cannot be read: {error}"))),
        409 => match find(context.external_key()).map_err(Error::applied_unknown)? {
            Some(booking) => Ok(booked(booking)),
            None => Err(Error::policy_denied("the bench is taken on that day")),
        },
        status => Err(refusal(status)),
    }
}

fn reconcile(_: Args, key: &str) -> Result<Verdict<Output<Booking>>, Error> {
    Ok(match find(key)? {
        Some(booking) => Verdict::Happened(booked(booking)),
        None => Verdict::DidNotHappen,
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Bench.Book", book)
            .describe("Books a laboratory bench for a day.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
