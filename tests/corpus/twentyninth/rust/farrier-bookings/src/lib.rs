//! Books a farrier for a horse.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const BOOKINGS: &str = "https://forge.example/api/bookings";

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Visit {
    /// Yard, such as `hill-farm`.
    #[schemars(regex(pattern = "^[a-z0-9][a-z0-9-]{0,39}$"))]
    yard: String,
    /// Day, such as `2026-02-03`.
    #[schemars(regex(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    day: String,
    #[schemars(length(min = 1, max = 60))]
    horse: String,
    work: Work,
    #[schemars(length(max = 2000))]
    #[serde(default)]
    notes: String,
}

#[derive(Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Work {
    Trim,
    FrontShoes,
    FullSet,
}

#[derive(Serialize, JsonSchema)]
struct Booked {
    number: String,
}

/// A booking as the forge lists it.
#[derive(Deserialize)]
struct Entry {
    number: String,
    horse: String,
    work: Work,
}

#[derive(Deserialize)]
struct Created {
    number: String,
}

fn booked(number: String) -> Output<Booked> {
    let change = Change::new("booking", &number, "create").external_ref(format!("{BOOKINGS}/{number}"));
    Output::new(Booked { number }).change(change)
}

fn book(visit: Visit, _: &tool::Context) -> Result<Output<Booked>, Error> {
    if visit.horse.trim().is_empty() {
        return Err(Error::invalid_input("the horse has no name"));
    }
    let body = serde_json::to_vec(&visit).map_err(|error| Error::invalid_input(error.to_string()))?;
    let response = http::Request::post(BOOKINGS)
        .header("content-type", "application/json")
        .body(body)
        .timeout(Duration::from_secs(10))
        .send()?;
    match response.status() {
        200..=299 => serde_json::from_slice::<Created>(response.body())
            .map(|created| booked(created.number))
            .map_err(|error| Error::schema_validation_failed(format!("the forge named no booking: {error}"))),
        401 | 403 => Err(Error::auth_forbidden("the forge does not know this yard")),
        429 => Err(Error::rate_limit("the forge is busy").retry_after(Duration::from_secs(60))),
        status @ (400 | 404 | 405 | 410 | 413 | 415 | 422) => {
            Err(Error::invalid_input(format!("the forge answers {status}: {}", response.text())))
        }
        status => Err(Error::temporary_provider_error(format!("the forge answers {status}")).applied_unknown()),
    }
}

/// Looks the booking up in the list of the yard and the day. A forge keeps cancelled bookings in the list.
fn find(visit: Visit, _: &str) -> Result<Verdict<Output<Booked>>, Error> {
    let url = format!("{BOOKINGS}?yard={}&day={}", visit.yard, visit.day);
    let response = http::Request::get(&url).timeout(Duration::from_secs(10)).send()?;
    if response.status() != 200 {
        return Err(Error::dependency_unavailable(format!("the forge answers {}", response.status())));
    }
    let entries: Vec<Entry> = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("the list cannot be read: {error}")))?;
    // The newest booking is the last one.
    let entry = entries.into_iter().rev().find(|entry| entry.horse == visit.horse && entry.work == visit.work);
    Ok(match entry {
        Some(entry) => Verdict::Happened(booked(entry.number)),
        None => Verdict::DidNotHappen,
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Farrier.Book", book)
            .describe("Books a farrier for a horse.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(find),
    ],
    exports: [reconcile],
}
