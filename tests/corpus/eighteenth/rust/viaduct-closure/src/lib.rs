//! `Closure.Publish`: publishes the closure of a viaduct on the server of the road office.

use std::time::Duration;

use latchwork_guest::tool::{self, Output, Verdict};
use latchwork_guest::{Effect, Error, http, log};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const SERVER: &str = "https://roads.example/closures";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Closure {
    /// Number of the viaduct, such as `V-17`.
    viaduct: String,
    /// First day of the closure.
    from: String,
    /// Last day of the closure.
    until: String,
    /// Reason that road users see.
    reason: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Published {
    /// Number that the road office gave the closure.
    number: String,
}

/// Address of the closure with this reference. A reference has no character that a query must encode.
fn address(reference: &str) -> String {
    format!("{SERVER}?reference={reference}")
}

/// Reads the number of a closure from an answer of the road office.
fn number(response: &http::Response) -> Result<Published, Error> {
    serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("unexpected answer of the road office: {error}")))
}

/// Finds the closure with this reference. The road office has no such closure if the result is `None`.
fn find(reference: &str) -> Result<Option<Published>, Error> {
    let response = http::Request::get(&address(reference)).timeout(Duration::from_secs(10)).send()?;
    match response.status() {
        200 => number(&response).map(Some),
        404 | 410 => Ok(None),
        status => Err(Error::temporary_provider_error(format!("the road office answered {status}"))),
    }
}

fn published(published: Published) -> Output<Published> {
    let receipt = json!({ "number": published.number });
    Output::new(published).receipt(receipt)
}

fn publish(closure: Closure, context: &tool::Context) -> Result<Output<Published>, Error> {
    if closure.viaduct.trim().is_empty() || closure.reason.trim().is_empty() {
        return Err(Error::invalid_input("a closure needs a viaduct and a reason"));
    }
    if closure.until < closure.from {
        return Err(Error::invalid_input("the closure ends before it begins"));
    }
    let reference = context.external_key();
    let body = json!({
        "viaduct": closure.viaduct, "from": closure.from, "until": closure.until, "reason": closure.reason,
    });
    let response = http::Request::post(&address(reference))
        .header("content-type", "application/json")
        .body(body.to_string())
        .timeout(Duration::from_secs(10))
        .send()?;
    let said = format!("the road office answered {}", response.status());
    match response.status() {
        200 | 201 => Ok(published(number(&response)?)),
        409 => match find(reference).map_err(Error::applied_unknown)? {
            Some(earlier) => {
                log::info!("the closure was already published as {}", earlier.number);
                Ok(published(earlier))
            }
            None => Err(Error::policy_denied(said).applied_unknown()),
        },
        429 => Err(Error::rate_limit(said)),
        401 | 403 => Err(Error::auth_forbidden(said)),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(said)),
        _ => Err(Error::temporary_provider_error(said)),
    }
}

/// Asks the road office for the closure after a crash.
fn reconcile(_: Closure, key: &str) -> Result<Verdict<Output<Published>>, Error> {
    Ok(match find(key)? {
        Some(found) => Verdict::Happened(published(found)),
        None => Verdict::DidNotHappen,
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Closure.Publish", publish)
            .describe("Publishes the closure of a viaduct at the road office.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
