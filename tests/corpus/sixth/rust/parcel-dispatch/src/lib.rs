//! Dispatches a parcel at a carrier.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const URL: &str = "https://carrier.example/parcels";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parcel {
    receiver: String,
    grams: u32,
}

#[derive(Serialize, JsonSchema)]
struct Dispatched {
    number: String,
}

/// Converts an answer that is no success.
fn refused(response: &http::Response) -> Error {
    let text = format!("the carrier answered {}", response.status());
    let wait = response.header("retry-after").and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
    match response.status() {
        401 | 403 => Error::auth_forbidden(text),
        400 | 404 | 422 => Error::invalid_input(text),
        // The carrier asks for a pause.
        429 | 503 => Error::rate_limit(text).retry_after(wait.unwrap_or(Duration::from_secs(30))),
        _ => Error::temporary_provider_error(text),
    }
}

fn dispatch(parcel: Parcel, context: &tool::Context) -> Result<Output<Dispatched>, Error> {
    if parcel.receiver.trim().is_empty() || parcel.grams == 0 {
        return Err(Error::invalid_input("the parcel has no receiver or no weight"));
    }
    let body = json!({ "receiver": parcel.receiver, "grams": parcel.grams, "reference": context.external_key() });
    let response = http::Request::post(URL)
        .header("content-type", "application/json")
        .timeout(Duration::from_secs(10))
        .body(body.to_string())
        .send()?;
    if !matches!(response.status(), 200 | 201) {
        return Err(refused(&response));
    }
    let number = serde_json::from_slice::<Value>(response.body())
        .ok()
        .and_then(|made| made["number"].as_str().map(str::to_owned))
        .ok_or_else(|| Error::schema_validation_failed("the carrier answered without a number"))?;
    Ok(Output::new(Dispatched { number: number.clone() }).change(Change::new("parcel", number, "create")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Parcel.Dispatch", dispatch)
            .describe("Dispatches a parcel at a carrier.")
            .effects([Effect::ExternalWrite]),
    ],
    exports: [],
}
