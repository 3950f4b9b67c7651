//! Closes a hiking trail in the register of the park. The register keeps one closure for each `ref`, for good: a `PUT`
//! with the same `ref` and the same body changes nothing.

use std::time::Duration;

use latchwork_guest::http::Request;
use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Closure {
    trail: String,
    /// First and last day, such as 2026-02-01.
    from: String,
    to: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Closed {
    id: String,
}

/// A closure as the register shows it. A new one has the revision 1.
#[derive(Deserialize)]
struct Entry {
    id: String,
    revision: u32,
}

fn place(key: &str) -> String {
    format!("https://trails.example/closure?ref={key}")
}

fn close(closure: Closure, context: &tool::Context) -> Result<Output<Closed>, Error> {
    if closure.trail.trim().is_empty() || closure.from > closure.to {
        return Err(Error::invalid_input("a closure has a trail, and a first day before its last day"));
    }
    let url = place(context.external_key());
    let body = json!({ "trail": closure.trail, "from": closure.from, "to": closure.to }).to_string();
    let answer = Request::new("PUT", &url).header("content-type", "application/json").body(body).send()?;
    match answer.status() {
        200 | 201 => {
            let entry: Entry = serde_json::from_slice(answer.body())
                .map_err(|error| Error::schema_validation_failed(format!("answer of the register: {error}")))?;
            let change = Change::new("closure", &entry.id, "create").version("1").external_ref(url);
            Ok(Output::new(Closed { id: entry.id }).change(change))
        }
        401 | 403 => Err(Error::auth_forbidden("the register refused the credentials")),
        429 => Err(Error::rate_limit("the register asks for fewer requests")),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(answer.text())),
        status => Err(Error::temporary_provider_error(format!("the register answered {status}"))),
    }
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let answer = Request::get(change.external_ref.as_deref().unwrap_or_default()).send()?;
    if answer.status() != 200 {
        return Ok(Finding::Mismatch(format!("the closure is not in the register: {}", answer.status())));
    }
    let entry: Entry = serde_json::from_slice(answer.body())
        .map_err(|error| Error::schema_validation_failed(format!("answer of the register: {error}")))?;
    Ok(Finding::compare(change.version.as_deref(), &entry.revision.to_string()))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Trail.Close", close)
            .describe("Closes a hiking trail.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(7 * 24 * 3600))
            .verify(verify),
    ],
    exports: [verify],
}
