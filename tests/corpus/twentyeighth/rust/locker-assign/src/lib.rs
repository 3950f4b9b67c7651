//! Assigns a compartment of a parcel locker to a parcel.
//!
//! The locker service keeps the reference of an assignment, and lists assignments by reference within a second.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, config, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Size {
    S,
    M,
    L,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parcel {
    /// Site of the locker, such as `hbf-sued`.
    site: String,
    parcel: String,
    size: Size,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Assigned {
    assignment: String,
    compartment: u32,
    /// Code with which the recipient opens the compartment.
    code: String,
}

fn assignments(site: &str) -> Result<String, Error> {
    let fits = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    if site.is_empty() || !site.bytes().all(fits) {
        return Err(Error::invalid_input(format!("{site:?} is no site of a locker")));
    }
    Ok(format!("{}/sites/{site}/assignments", config::require::<String>("lockers")?))
}

/// `Retry-After` in seconds. The service sends it when a site is overloaded.
fn retry_after(response: &http::Response) -> Duration {
    let seconds = response.header("retry-after").and_then(|text| text.trim().parse().ok());
    Duration::from_secs(seconds.unwrap_or(5).min(600))
}

/// The output follows from what the service has, whether the call or a question got it.
fn assigned(found: Assigned) -> Output<Assigned> {
    let receipt = json!({ "assignment": found.assignment });
    let change = Change::new("assignment", &found.assignment, "create").version(found.compartment.to_string());
    Output::new(found).receipt(receipt).change(change)
}

fn body<T: serde::de::DeserializeOwned>(response: &http::Response) -> Result<T, Error> {
    serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("unexpected answer of the locker service: {error}")))
}

/// Asks for the assignment of a call. Keys are letters, digits and characters that a query may contain.
fn lookup(site: &str, key: &str) -> Result<Option<Assigned>, Error> {
    let response = http::Request::get(&format!("{}?reference={key}", assignments(site)?)).send()?;
    match response.status() {
        200 => Ok(body::<Vec<Assigned>>(&response)?.into_iter().next()),
        status => Err(Error::temporary_provider_error(format!("list of assignments: status {status}"))),
    }
}

fn assign(parcel: Parcel, context: &tool::Context) -> Result<Output<Assigned>, Error> {
    if parcel.parcel.trim().is_empty() {
        return Err(Error::invalid_input("the parcel has no number"));
    }
    let key = context.external_key();
    let wanted = json!({ "parcel": parcel.parcel, "size": parcel.size, "reference": key });
    let response = http::Request::post(&assignments(&parcel.site)?)
        .header("content-type", "application/json")
        .body(wanted.to_string())
        .send()?;
    match response.status() {
        200 | 201 => Ok(assigned(body(&response)?)),
        400 | 404 | 422 => Err(Error::invalid_input(format!("the locker refused the parcel: {}", response.text()))),
        401 | 403 => Err(Error::auth_forbidden("the locker service refused the request")),
        // The site is full, or it has an assignment of this call.
        409 => match lookup(&parcel.site, key).map_err(Error::applied_unknown)? {
            Some(found) => Ok(assigned(found)),
            None => Err(Error::policy_denied(format!("{} has no free compartment", parcel.site))),
        },
        // The gateway of the site sheds load. It names the time after which it takes requests again.
        429 | 503 => {
            let wait = retry_after(&response);
            Err(Error::rate_limit(format!("{} takes no requests now", parcel.site)).retry_after(wait))
        }
        status => Err(Error::temporary_provider_error(format!("assignment: status {status}"))),
    }
}

fn find(parcel: Parcel, key: &str) -> Result<Verdict<Output<Assigned>>, Error> {
    Ok(match lookup(&parcel.site, key)? {
        Some(found) => Verdict::Happened(assigned(found)),
        None => Verdict::DidNotHappen,
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Locker.Assign", assign)
            .describe("Assigns a compartment of a parcel locker to a parcel.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(find),
    ],
    exports: [reconcile],
}
