//! `Trek.Book`: books llamas for a trek. The farm drops a second request with the same key for two days.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, http, log, secrets, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const TREKS: &str = "https://llamas.example/treks";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wish {
    day: String,
    walkers: u32,
    animals: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Trek {
    id: String,
    /// The version changes with each change of the booking.
    version: String,
}

fn book(wish: Wish, context: &tool::Context) -> Result<Output<Trek>, Error> {
    if wish.day.len() != 10 || !(1..=30).contains(&wish.walkers) || wish.animals.is_empty() {
        return Err(Error::invalid_input("a trek has a day, 1 to 30 walkers and at least one animal"));
    }
    let key = context.external_key();
    log::info!("booking at {}", wall::now());
    let body = json!({ "ref": key, "day": wish.day, "walkers": wish.walkers, "animals": wish.animals });
    let request = request("POST", TREKS)?.header("idempotency-key", key).header("content-type", "application/json");
    let response = request.body(body.to_string()).send()?;
    match response.status() {
        200 | 201 => Ok(booked(parse(&response)?)),
        // The key can belong to an earlier try of this call.
        409 => match find(key).map_err(Error::applied_unknown)? {
            Some(trek) => Ok(booked(trek)),
            None => Err(Error::policy_denied(format!("the animals are away on {}", wish.day))),
        },
        429 => {
            // Some jitter keeps the calls of a large job from coming back together.
            let seconds = response.header("retry-after").and_then(|text| text.parse().ok()).unwrap_or(5_u64).min(600);
            let jitter = u64::from(wall::random(1)[0]);
            let wait = Duration::from_secs(seconds) + Duration::from_millis(jitter);
            Err(Error::rate_limit("the farm limits the rate of requests").retry_after(wait))
        }
        401 | 403 => Err(Error::auth_forbidden("the farm refused the token")),
        status @ (400 | 404 | 405 | 410 | 413 | 415 | 422) => Err(Error::invalid_input(format!("refused: {status}"))),
        status => Err(Error::temporary_provider_error(format!("the farm answered {status}")).applied_unknown()),
    }
}

fn reconcile(_: Wish, key: &str) -> Result<Verdict<Output<Trek>>, Error> {
    Ok(find(key)?.map_or(Verdict::DidNotHappen, |trek| Verdict::Happened(booked(trek))))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let response = request("GET", &format!("{TREKS}/{}", change.resource_id))?.send()?;
    match response.status() {
        200 => Ok(Finding::compare(change.version.as_deref(), &parse::<Trek>(&response)?.version)),
        404 | 410 => Ok(Finding::Mismatch("the trek is missing".into())),
        status => Err(Error::dependency_unavailable(format!("the farm answered {status}")).not_applied()),
    }
}

/// Cancels the trek if it is still as it was booked.
fn cancel(_: Wish, trek: Trek, _: &str) -> Result<Output<()>, Error> {
    let request = request("DELETE", &format!("{TREKS}/{}", trek.id))?.header("if-match", &trek.version);
    let response = request.send()?;
    match response.status() {
        200 | 204 => Ok(Output::new(()).change(Change::new("trek", trek.id, "delete"))),
        404 | 410 => Err(Error::policy_denied("the trek is no longer there")),
        429 => Err(Error::rate_limit("the farm limits the rate of requests")),
        400 | 405 | 409 | 412 | 413 | 415 | 422 => Err(Error::policy_denied("the trek was changed since")),
        401 | 403 => Err(Error::auth_forbidden("the farm refused the token")),
        status => Err(Error::temporary_provider_error(format!("the farm answered {status}")).applied_unknown()),
    }
}

/// Returns the trek that was booked with the key. The list of the farm has at most one such trek.
fn find(key: &str) -> Result<Option<Trek>, Error> {
    let response = request("GET", &format!("{TREKS}?ref={key}"))?.send()?;
    match response.status() {
        200 => Ok(parse::<Vec<Trek>>(&response)?.pop()),
        status => Err(Error::dependency_unavailable(format!("the farm answered {status}"))),
    }
}

fn request(method: &str, url: &str) -> Result<http::Request, Error> {
    let token = secrets::get("LLAMA_TOKEN")?;
    Ok(http::Request::new(method, url).header("authorization", &format!("Bearer {token}")))
}

fn parse<T: serde::de::DeserializeOwned>(response: &http::Response) -> Result<T, Error> {
    serde_json::from_slice(response.body()).map_err(|error| Error::schema_validation_failed(error.to_string()))
}

fn booked(trek: Trek) -> Output<Trek> {
    let change = Change::new("trek", trek.id.clone(), "create").version(trek.version.clone());
    Output::new(trek).change(change)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Trek.Book", book)
            .describe("Books llamas for a trek.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(48 * 3600))
            .settles_within(Duration::from_secs(60))
            .reconcile(reconcile)
            .verify(verify)
            .compensate(cancel),
    ],
    exports: [reconcile, verify, compensate],
}
