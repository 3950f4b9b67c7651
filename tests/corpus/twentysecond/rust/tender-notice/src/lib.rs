//! Publishes the notice of a public tender in the gazette. The gazette finds a notice by the reference of the sender.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, config, http, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Tender {
    #[schemars(length(min = 1, max = 200))]
    title: String,
    /// Last day for offers, such as `2026-06-30`.
    #[schemars(regex(pattern = r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"))]
    deadline: String,
    #[schemars(length(min = 1, max = 30), inner(length(min = 1, max = 120)))]
    lots: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Published {
    notice: String,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    state: String,
}

/// Fingerprint of the words of a notice: FNV-1a, 16 hexadecimal digits. No text has the byte that ends each part.
fn fingerprint(tender: &Tender) -> String {
    let parts = [&tender.title, &tender.deadline].into_iter().chain(&tender.lots);
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", parts.flat_map(|part| part.bytes().chain([0xff])).fold(0xcbf2_9ce4_8422_2325, step))
}

fn request(method: &str, path: &str) -> Result<http::Request, Error> {
    let base: String = config::require("base_url")?;
    let request = http::Request::new(method, &format!("{}/notices{path}", base.trim_end_matches('/')));
    let token = format!("Bearer {}", secrets::get("GAZETTE_TOKEN")?);
    let request = request.header("authorization", &token).header("content-type", "application/json");
    Ok(request.timeout(Duration::from_secs(8)))
}

fn parse<T: serde::de::DeserializeOwned>(answer: &http::Response) -> Result<T, Error> {
    serde_json::from_slice(answer.body())
        .map_err(|error| Error::schema_validation_failed(format!("an answer of the gazette: {error}")))
}

/// Entry under a reference, also one that was withdrawn since. `None`: the gazette has never had one.
fn entry(reference: &str) -> Result<Option<Entry>, Error> {
    let answer = request("GET", &format!("?reference={reference}&state=any"))?.send()?;
    match answer.status() {
        200 => Ok(parse::<Vec<Entry>>(&answer)?.into_iter().next()),
        status => Err(Error::temporary_provider_error(format!("the list of notices has status {status}"))),
    }
}

/// Everything in the output follows from the arguments and the number that the gazette gave.
fn published(tender: &Tender, id: String) -> Output<Published> {
    let change = Change::new("notice", id.as_str(), "create").version(fingerprint(tender));
    Output::new(Published { notice: id }).change(change)
}

fn publish(tender: Tender, context: &tool::Context) -> Result<Output<Published>, Error> {
    let key = context.external_key();
    let words = serde_json::to_vec(&tender).map_err(|error| Error::invalid_input(error.to_string()))?;
    let answer = request("POST", &format!("?reference={key}"))?.body(words).send()?;
    match answer.status() {
        200 | 201 => Ok(published(&tender, parse::<Entry>(&answer).map_err(Error::applied_unknown)?.id)),
        409 | 412 => match entry(key).map_err(Error::applied_unknown)? {
            Some(entry) if entry.state == "published" => Ok(published(&tender, entry.id)),
            Some(entry) => Err(Error::policy_denied(format!("the notice is {}", entry.state)).applied_unknown()),
            None => Err(Error::policy_denied("the gazette has another notice with this title")),
        },
        429 => Err(Error::rate_limit("the gazette asks for fewer requests")),
        401 | 403 => Err(Error::auth_forbidden("the gazette refused the token")),
        status @ (400 | 404 | 405 | 410 | 413 | 415 | 422) => {
            Err(Error::invalid_input(format!("the gazette refused the notice: {status}")))
        }
        status => Err(Error::temporary_provider_error(format!("the gazette answered {status}")).applied_unknown()),
    }
}

/// Only an empty list proves that the call did nothing. A withdrawn notice was there.
fn reconcile(tender: Tender, key: &str) -> Result<Verdict<Output<Published>>, Error> {
    Ok(match entry(key)? {
        Some(entry) if entry.state == "published" => Verdict::Happened(published(&tender, entry.id)),
        Some(_) => Verdict::Unknown,
        None => Verdict::DidNotHappen,
    })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let answer = request("GET", &format!("/{}", change.resource_id))?.send()?;
    match answer.status() {
        200 => match parse::<Entry>(&answer)?.state.as_str() {
            "published" => Ok(Finding::compare(change.version.as_deref(), &fingerprint(&parse(&answer)?))),
            state => Ok(Finding::Mismatch(format!("the notice is {state}"))),
        },
        404 | 410 => Ok(Finding::Mismatch("the notice is not in the gazette".into())),
        status => Err(Error::temporary_provider_error(format!("the notice has status {status}"))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Tender.Publish", publish)
            .describe("Publishes the notice of a tender in the gazette.")
            .effects([Effect::ExternalWrite])
            // The list reads the store to which the gazette writes before it answers. Transit: two minutes.
            .settles_within(Duration::from_secs(120))
            .reconcile(reconcile)
            .verify(verify),
    ],
    exports: [reconcile, verify],
}
