//! Berths in mountain bothies, booked at the association's server.

use std::time::Duration;

use latchwork_guest::http::{Request, Response};
use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const STAYS: &str = "https://bothies.example/api/stays";

#[derive(Deserialize, JsonSchema)]
struct Wish {
    bothy: String,
    /// Night that begins on this day: `2026-06-20`.
    night: String,
    people: u32,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct Stay {
    stay: String,
    berths: Vec<u32>,
}

/// A stay as the server lists it. A cancelled one stays in the list.
#[derive(Deserialize)]
struct Listed {
    #[serde(flatten)]
    stay: Stay,
    #[serde(default)]
    cancelled: bool,
}

#[derive(Deserialize)]
struct Answer {
    stays: Vec<Listed>,
    /// True if the server has left out some stays.
    more: bool,
}

/// Reads without changing anything, so no failure of it has an effect.
fn get(url: &str) -> Result<Response, Error> {
    Request::get(url).timeout(Duration::from_secs(8)).send().map_err(|error| Error::from(error).not_applied())
}

fn unreadable(url: &str, status: u16) -> Error {
    Error::dependency_unavailable(format!("{url} cannot be read: {status}")).not_applied()
}

/// Asks the server for a key.
fn asked(key: &str) -> Result<Verdict<Output<Stay>>, Error> {
    let answer = get(&format!("{STAYS}?ref={key}"))?;
    if answer.status() != 200 {
        return Err(unreadable(STAYS, answer.status()));
    }
    let answer: Answer = serde_json::from_slice(answer.body())
        .map_err(|error| Error::dependency_unavailable(format!("list of stays: {error}")).not_applied())?;
    Ok(match answer.stays.into_iter().next() {
        Some(listed) if listed.cancelled => Verdict::Unknown,
        Some(listed) => Verdict::Happened(booked(listed.stay)),
        None if answer.more => Verdict::Unknown,
        None => Verdict::DidNotHappen,
    })
}

fn booked(stay: Stay) -> Output<Stay> {
    let change =
        Change::new("stay", &stay.stay, "create").version(berths(&stay)).external_ref(format!("{STAYS}/{}", stay.stay));
    Output::new(stay.clone()).receipt(json!({ "stay": stay.stay })).change(change)
}

fn berths(stay: &Stay) -> String {
    stay.berths.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

/// The failure of a request that would change something, if no request before it did.
fn refused(answer: &Response) -> Error {
    let text = format!("the server answered {}: {}", answer.status(), answer.text());
    match answer.status() {
        429 => Error::rate_limit(text),
        401 | 403 => Error::auth_forbidden(text),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(text),
        _ => Error::temporary_provider_error(text).applied_unknown(),
    }
}

fn book(wish: Wish, context: &tool::Context) -> Result<Output<Stay>, Error> {
    if wish.bothy.trim().is_empty() || !(1..=30).contains(&wish.people) {
        return Err(Error::invalid_input("a stay has a bothy, and 1 to 30 people"));
    }
    let key = context.external_key();
    let body = json!({ "ref": key, "bothy": wish.bothy, "night": wish.night, "people": wish.people });
    let answer = Request::post(STAYS)
        .header("content-type", "application/json")
        .body(body.to_string())
        .timeout(Duration::from_secs(12))
        .send()?;
    match answer.status() {
        200..=299 => serde_json::from_slice(answer.body()).map(booked).map_err(|error| {
            Error::schema_validation_failed(format!("answer of the server: {error}")).applied_unknown()
        }),
        // Either all berths are taken, or an earlier try of this call has them.
        409 | 412 => match asked(key).map_err(Error::applied_unknown)? {
            Verdict::Happened(output) => Ok(output),
            Verdict::DidNotHappen => Err(Error::invalid_input(format!("no berths: {}", answer.text())).not_applied()),
            _ => Err(refused(&answer)),
        },
        _ => Err(refused(&answer)),
    }
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let url = change.external_ref.as_deref().unwrap_or_default();
    let answer = get(url)?;
    match answer.status() {
        200 => match serde_json::from_slice::<Listed>(answer.body()) {
            Ok(listed) if listed.cancelled => Ok(Finding::Mismatch("the stay is cancelled".into())),
            Ok(listed) => Ok(Finding::compare(change.version.as_deref(), &berths(&listed.stay))),
            Err(error) => Err(Error::dependency_unavailable(format!("{url}: {error}"))),
        },
        404 | 410 => Ok(Finding::Mismatch("the stay was removed".into())),
        status => Err(unreadable(url, status)),
    }
}

fn cancel(_: Wish, stay: Stay, _: &str) -> Result<Output<()>, Error> {
    let url = format!("{STAYS}/{}", stay.stay);
    // The warden may have moved the party to other berths. Then the warden decides, not this job.
    let answer = get(&url)?;
    let listed: Listed = match answer.status() {
        200 => serde_json::from_slice(answer.body())
            .map_err(|error| Error::dependency_unavailable(format!("{url}: {error}")).not_applied())?,
        404 | 410 => return Err(Error::policy_denied("someone else has removed the stay")),
        status => return Err(unreadable(&url, status)),
    };
    if listed.cancelled || listed.stay.berths != stay.berths {
        return Err(Error::policy_denied("the warden has changed the stay since"));
    }
    let mut request = Request::new("DELETE", &url).timeout(Duration::from_secs(12));
    if let Some(tag) = answer.header("etag") {
        request = request.header("if-match", tag);
    }
    let answer = request.send()?;
    match answer.status() {
        200 | 204 => Ok(Output::new(()).change(Change::new("stay", stay.stay, "delete"))),
        404 | 409 | 410 | 412 => Err(Error::policy_denied("the stay was changed or removed by someone else")),
        _ => Err(refused(&answer)),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Berth.Book", book)
            .describe("Books berths in a bothy for one night.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(120))
            .reconcile(|_, key| asked(key))
            .verify(verify)
            .compensate(cancel),
    ],
    exports: [reconcile, verify, compensate],
}
