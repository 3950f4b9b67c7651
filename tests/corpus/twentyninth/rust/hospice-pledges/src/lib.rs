//! Enters pledges of donors at the office of a hospice.
//!
//! The office lists pledges by the reference of their sender as soon as it has answered the request. Its gateway drops
//! a request that it could not deliver within 20 s.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, http, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const PLEDGES: &str = "https://office.example/api/pledges";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pledge {
    #[schemars(length(min = 1, max = 120))]
    donor: String,
    #[schemars(range(min = 100, max = 100_000_000))]
    pence: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Entered {
    id: String,
}

/// A pledge as the office shows it.
#[derive(Deserialize)]
struct Entry {
    id: String,
    donor: String,
    pence: u32,
    #[serde(default)]
    withdrawn: bool,
}

fn address(id: &str) -> String {
    format!("{PLEDGES}/{id}")
}

fn request(method: &str, url: &str) -> http::Request {
    http::Request::new(method, url).timeout(Duration::from_secs(8))
}

/// Reads from the office, and once more if the office is about to restart.
fn read(url: &str) -> Result<http::Response, Error> {
    let mut response = request("GET", url).send()?;
    if response.status() == 503 {
        wall::sleep(Duration::from_millis(500));
        response = request("GET", url).send()?;
    }
    Ok(response)
}

/// Error of a read that the office did not answer.
fn unread(response: &http::Response) -> Error {
    match response.status() {
        401 | 403 => Error::auth_forbidden("the office does not let this client read"),
        429 => Error::rate_limit("the office asks to slow down").retry_after(Duration::from_secs(30)),
        status => Error::dependency_unavailable(format!("the office answers {status}")),
    }
}

fn parse<T: serde::de::DeserializeOwned>(response: &http::Response) -> Result<T, Error> {
    serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("the office answers in another form: {error}")))
}

/// The pledge with this reference.
fn find(key: &str) -> Result<Option<Entry>, Error> {
    let response = read(&format!("{PLEDGES}?reference={key}"))?;
    if response.status() != 200 {
        return Err(unread(&response));
    }
    let mut entries: Vec<Entry> = parse(&response)?;
    match entries.len() {
        0 | 1 => Ok(entries.pop()),
        count => Err(Error::dependency_unavailable(format!("the office has {count} pledges of one reference"))),
    }
}

fn entered(id: String, pledge: &Pledge, key: &str) -> Result<Output<Entered>, Error> {
    if id.is_empty() || id.len() > 40 || !id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        return Err(Error::schema_validation_failed("the office named no usable id"));
    }
    let change = Change::new("pledge", &id, "create").version(pledge.pence.to_string()).external_ref(address(&id));
    Ok(Output::new(Entered { id: id.clone() }).receipt(json!({ "id": id, "reference": key })).change(change))
}

fn enter(pledge: Pledge, context: &tool::Context) -> Result<Output<Entered>, Error> {
    if pledge.donor.trim().is_empty() {
        return Err(Error::invalid_input("the donor has no name"));
    }
    let key = context.external_key();
    let body = json!({ "reference": key, "donor": pledge.donor, "pence": pledge.pence }).to_string();
    let response = request("POST", PLEDGES).header("content-type", "application/json").body(body).send()?;
    match response.status() {
        200..=299 => entered(parse::<Entry>(&response)?.id, &pledge, key),
        // The reference can be that of an earlier try.
        status @ (409 | 412) => match find(key).map_err(Error::applied_unknown)? {
            Some(entry) if entry.withdrawn => Err(Error::policy_denied("the pledge is withdrawn").applied_unknown()),
            Some(entry) => entered(entry.id, &pledge, key),
            None => Err(Error::policy_denied(format!("the office answers {status}: {}", response.text()))),
        },
        401 | 403 => Err(Error::auth_forbidden("the office does not accept pledges from here")),
        429 => Err(Error::rate_limit("the office asks to slow down").retry_after(Duration::from_secs(30))),
        status @ (400 | 404 | 405 | 410 | 413 | 415 | 422) => {
            Err(Error::invalid_input(format!("the office answers {status}: {}", response.text())))
        }
        status => Err(Error::temporary_provider_error(format!("the office answers {status}")).applied_unknown()),
    }
}

fn reconcile(pledge: Pledge, key: &str) -> Result<Verdict<Output<Entered>>, Error> {
    Ok(match find(key)? {
        None => Verdict::DidNotHappen,
        Some(entry) if entry.withdrawn => Verdict::Unknown,
        Some(entry) => Verdict::Happened(entered(entry.id, &pledge, key)?),
    })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let response = read(&address(&change.resource_id))?;
    match response.status() {
        200 => match parse::<Entry>(&response)? {
            entry if entry.withdrawn => Ok(Finding::Mismatch("the pledge is withdrawn".into())),
            entry => Ok(Finding::compare(change.version.as_deref(), &entry.pence.to_string())),
        },
        404 | 410 => Ok(Finding::Mismatch("the pledge is missing".into())),
        _ => Err(unread(&response)),
    }
}

/// Deletes the pledge, if it still is as it was entered.
fn take_back(pledge: Pledge, result: Entered, _: &str) -> Result<Output<()>, Error> {
    let url = address(&result.id);
    let response = read(&url).map_err(Error::not_applied)?;
    match response.status() {
        200 => {}
        404 | 410 => return Err(Error::policy_denied("the pledge is no longer there")),
        _ => return Err(unread(&response).not_applied()),
    }
    let entry: Entry = parse(&response).map_err(Error::not_applied)?;
    if entry.withdrawn || entry.pence != pledge.pence || entry.donor != pledge.donor {
        return Err(Error::policy_denied("the pledge was changed after it was entered"));
    }
    let Some(etag) = response.header("etag") else {
        return Err(Error::policy_denied("the office names no version of the pledge"));
    };
    let response = request("DELETE", &url).header("if-match", etag).send()?;
    match response.status() {
        200..=299 => Ok(Output::new(()).change(Change::new("pledge", &result.id, "delete").external_ref(&url))),
        status @ (400 | 404 | 405 | 409 | 410 | 412 | 413 | 415 | 422) => {
            Err(Error::policy_denied(format!("the office answers {status} to the deletion")))
        }
        401 | 403 => Err(Error::auth_forbidden("the office does not accept deletions from here")),
        429 => Err(Error::rate_limit("the office asks to slow down").retry_after(Duration::from_secs(30))),
        status => Err(Error::temporary_provider_error(format!("the office answers {status}")).applied_unknown()),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Pledge.Enter", enter)
            .describe("Enters the pledge of a donor.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(30))
            .reconcile(reconcile)
            .verify(verify)
            .compensate(take_back),
    ],
    exports: [reconcile, verify, compensate],
}
