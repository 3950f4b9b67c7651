//! `Trawler.Notice`: files the arrival of a trawler at the harbor, where staff may edit it later.
//!
//! The harbor finds a notice by its key, and numbers its revisions from 1. It keeps a trace of withdrawn notices, and
//! drops requests that are older than 30 seconds.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arrival {
    trawler: String,
    /// Day of the arrival, such as `2026-05-01`.
    day: String,
    catch_kg: u32,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Notice {
    /// Number of the notice at the harbor.
    number: String,
}

/// Answer of the harbor about a notice.
#[derive(Debug, Deserialize)]
struct Stored {
    number: String,
    revision: u32,
}

enum Found {
    Stored(Stored),
    Withdrawn,
    Missing,
}

fn request(method: &str, key: &str) -> http::Request {
    http::Request::new(method, &format!("https://harbor.example/notices?key={key}")).timeout(Duration::from_secs(8))
}

fn stored(response: &http::Response) -> Result<Stored, Error> {
    serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("unexpected answer of the harbor: {error}")))
}

/// Error for a status of the harbor, to the only request that changes something.
fn refusal(status: u16) -> Error {
    let said = format!("the harbor answered {status}");
    match status {
        429 => Error::rate_limit(said),
        401 | 403 => Error::auth_forbidden(said),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(said),
        _ => Error::temporary_provider_error(said),
    }
}

/// Looks for the notice with this key. An error means that the harbor could not be asked.
fn find(key: &str) -> Result<Found, Error> {
    let response = request("GET", key).send().map_err(|error| Error::from(error).not_applied())?;
    match response.status() {
        200 => Ok(Found::Stored(stored(&response).map_err(Error::not_applied)?)),
        404 => Ok(Found::Missing),
        410 => Ok(Found::Withdrawn),
        status => Err(refusal(status).not_applied()),
    }
}

/// Output of the call. A new notice has revision 1.
fn filed(number: String, key: &str) -> Output<Notice> {
    let change = Change::new("notice", &number, "create").version("1").external_ref(key);
    let receipt = json!({ "number": number });
    Output::new(Notice { number }).receipt(receipt).change(change)
}

fn file(arrival: Arrival, context: &tool::Context) -> Result<Output<Notice>, Error> {
    if arrival.trawler.trim().is_empty() || arrival.day.len() != 10 {
        return Err(Error::invalid_input("a notice needs a trawler and a day"));
    }
    let key = context.external_key();
    let body = json!({ "trawler": arrival.trawler, "day": arrival.day, "catch_kg": arrival.catch_kg });
    let put = request("PUT", key).header("content-type", "application/json").header("if-none-match", "*");
    let response = put.body(body.to_string()).send()?;
    match response.status() {
        200 | 201 => Ok(filed(stored(&response)?.number, key)),
        409 | 412 => match find(key).map_err(Error::applied_unknown)? {
            Found::Stored(earlier) => Ok(filed(earlier.number, key)),
            _ => Err(Error::policy_denied("the notice was withdrawn").applied_unknown()),
        },
        status => Err(refusal(status)),
    }
}

fn reconcile(_: Arrival, key: &str) -> Result<Verdict<Output<Notice>>, Error> {
    Ok(match find(key)? {
        Found::Stored(found) => Verdict::Happened(filed(found.number, key)),
        Found::Withdrawn => Verdict::Unknown,
        Found::Missing => Verdict::DidNotHappen,
    })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match find(change.external_ref.as_deref().unwrap_or_default())? {
        Found::Stored(found) => Finding::compare(change.version.as_deref(), &found.revision.to_string()),
        Found::Withdrawn | Found::Missing => Finding::Mismatch("the notice is not at the harbor".into()),
    })
}

/// Withdraws the notice while it has its first revision.
fn compensate(_: Arrival, notice: Notice, key: &str) -> Result<Output<()>, Error> {
    match find(key)? {
        Found::Stored(found) if found.revision == 1 => {}
        Found::Stored(_) => return Err(Error::policy_denied("the harbor has edited the notice")),
        _ => return Err(Error::policy_denied("the notice is not at the harbor any more")),
    }
    match request("DELETE", key).header("if-match", "\"1\"").send()?.status() {
        200 | 204 => Ok(Output::new(()).change(Change::new("notice", notice.number, "delete").external_ref(key))),
        404 | 409 | 410 | 412 => Err(Error::policy_denied("the notice was edited or withdrawn meanwhile")),
        status => Err(refusal(status)),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Trawler.Notice", file)
            .describe("Files the arrival of a trawler at the harbor.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(45))
            .reconcile(reconcile)
            .verify(verify)
            .compensate(compensate),
    ],
    exports: [reconcile, verify, compensate],
}
