use std::time::Duration;

use latchwork_guest::http::{Request, Response};
use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const BOOKINGS: &str = "https://lockers.example/v1/bookings";
/// Wait before the next try if the server names none.
const PAUSE: Duration = Duration::from_secs(20);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wish {
    /// Name of the station.
    station: String,
    #[schemars(range(min = 1, max = 72))]
    hours: u32,
}

#[derive(Serialize, JsonSchema)]
struct Booking {
    id: String,
    /// Number of the locker.
    locker: String,
}

/// A booking as the server shows it.
#[derive(Deserialize)]
struct Entry {
    id: String,
    locker: String,
}

fn make(wish: Wish, context: &tool::Context) -> Result<Output<Booking>, Error> {
    if wish.station.trim().is_empty() {
        return Err(Error::invalid_input("the station has no name"));
    }
    let key = context.external_key();
    let body = json!({ "station": wish.station.trim(), "hours": wish.hours, "reference": key });
    let response = Request::post(BOOKINGS)
        .header("authorization", &authorization()?)
        .header("content-type", "application/json")
        .body(body.to_string())
        .send()?;
    let said = format!("the booking was answered with status {}", response.status());
    match response.status() {
        200 | 201 => serde_json::from_slice(response.body())
            .map(booked)
            .map_err(|error| Error::schema_validation_failed(format!("unexpected booking: {error}")).applied_unknown()),
        409 => match find(key).map_err(Error::applied_unknown)? {
            // An earlier try of this call made the booking.
            Some(entry) => Ok(booked(entry)),
            None => Err(Error::policy_denied(format!("{} has no free locker", wish.station))),
        },
        401 | 403 => Err(Error::auth_forbidden(said)),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(said)),
        429 | 503 => Err(Error::rate_limit(said).retry_after(pause(&response))),
        _ => Err(Error::temporary_provider_error(said)),
    }
}

/// Finds the booking of a call.
fn reconcile(_: Wish, key: &str) -> Result<Verdict<Output<Booking>>, Error> {
    Ok(find(key)?.map_or(Verdict::DidNotHappen, |entry| Verdict::Happened(booked(entry))))
}

/// Returns the booking with this reference. The server lists the bookings of a reference at once.
fn find(key: &str) -> Result<Option<Entry>, Error> {
    let response =
        Request::get(&format!("{BOOKINGS}?reference={key}")).header("authorization", &authorization()?).send()?;
    if response.status() != 200 {
        return Err(Error::temporary_provider_error(format!("bookings: status {}", response.status())));
    }
    let entries: Vec<Entry> = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("unexpected bookings: {error}")))?;
    Ok(entries.into_iter().next())
}

fn booked(entry: Entry) -> Output<Booking> {
    let receipt = json!({ "booking": entry.id });
    let change = Change::new("locker booking", &entry.id, "create").external_ref(format!("{BOOKINGS}/{}", entry.id));
    Output::new(Booking { id: entry.id, locker: entry.locker }).receipt(receipt).change(change)
}

fn authorization() -> Result<String, Error> {
    Ok(format!("Bearer {}", secrets::get("LOCKER_TOKEN")?))
}

fn pause(response: &Response) -> Duration {
    response.header("retry-after").and_then(|text| text.trim().parse().ok()).map_or(PAUSE, Duration::from_secs)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Locker.Book", make)
            .describe("Books a luggage locker at a station.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(30))
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
