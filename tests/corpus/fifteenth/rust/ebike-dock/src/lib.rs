//! Takes a dock of an e-bike station out of service.

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const DOCKS: &str = "https://fleet.example/docks";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Closing {
    /// Id of the dock, such as `harbour-07`.
    dock: String,
    reason: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Closed {
    dock: String,
    revision: String,
}

/// State of a dock at the fleet server. Each change of the state has a revision of its own.
#[derive(Deserialize)]
struct State {
    revision: String,
    state: String,
}

fn address(dock: &str) -> Result<String, Error> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if dock.is_empty() || dock.len() > 40 || !dock.chars().all(plain) {
        return Err(Error::invalid_input(format!("{dock:?} is no id of a dock")));
    }
    Ok(format!("{DOCKS}/{dock}/state"))
}

fn close(closing: Closing, context: &tool::Context) -> Result<Output<Closed>, Error> {
    let url = address(&closing.dock)?;
    if closing.reason.trim().is_empty() {
        return Err(Error::invalid_input("a closing needs a reason"));
    }
    let body = json!({ "state": "closed", "reason": closing.reason, "reference": context.external_key() });
    let response = http::Request::new("PUT", &url)
        .header("content-type", "application/json")
        .body(body.to_string())
        .timeout(context.timeout().mul_f32(0.8))
        .send()?;
    let text = format!("{url} answered {}", response.status());
    match response.status() {
        200 => {}
        401 | 403 => return Err(Error::auth_forbidden(text)),
        429 => return Err(Error::rate_limit(text)),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => return Err(Error::invalid_input(text)),
        409 | 412 => return Err(Error::policy_denied(text).applied_unknown()),
        _ => return Err(Error::temporary_provider_error(text).applied_unknown()),
    }
    let state: State = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("{url}: {error}")).applied_unknown())?;
    let change = Change::new("dock", &closing.dock, "update").version(&state.revision).external_ref(url);
    Ok(Output::new(Closed { dock: closing.dock, revision: state.revision }).change(change))
}

/// Checks that the dock is still closed by the recorded revision.
fn verify(change: &Change) -> Result<Finding, Error> {
    let url = address(&change.resource_id)?;
    let response = http::Request::get(&url).send()?;
    if response.status() != 200 {
        return Ok(Finding::Mismatch(format!("dock {}: status {}", change.resource_id, response.status())));
    }
    let state: State = serde_json::from_slice(response.body())
        .map_err(|error| Error::temporary_provider_error(format!("{url}: {error}")).not_applied())?;
    if state.state != "closed" {
        return Ok(Finding::Mismatch(format!("dock {} is {}", change.resource_id, state.state)));
    }
    Ok(Finding::compare(change.version.as_deref(), &state.revision))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Dock.Close", close)
            .describe("Takes a dock out of service.")
            .effects([Effect::ExternalWrite])
            .verify(verify),
    ],
    exports: [verify],
}
