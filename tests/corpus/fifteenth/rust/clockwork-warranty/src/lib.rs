//! Registers the warranty of a mechanical clock at the registry of its maker.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const WARRANTIES: &str = "https://registry.example/v2/warranties";

/// The registry refuses idempotency keys of more than 36 characters, the length of a UUID.
const KEY_MAX: usize = 36;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Clock {
    /// Serial number on the movement: 6 to 12 capital letters and digits.
    serial: String,
    owner: String,
    years: u8,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Warranty {
    id: String,
    serial: String,
    /// Last day of the warranty, as the registry computed it.
    ends: String,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    ends: String,
}

fn check(clock: &Clock) -> Result<(), Error> {
    let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    if !(6..=12).contains(&clock.serial.len()) || !clock.serial.chars().all(plain) {
        return Err(Error::invalid_input(format!("{:?} is no serial number", clock.serial)));
    }
    if !(1..=10).contains(&clock.years) {
        return Err(Error::invalid_input("a warranty has 1 to 10 years"));
    }
    Ok(())
}

/// Classifies a refusal of the registry.
fn refusal(response: &http::Response) -> Error {
    let text = format!("the registry answered {}", response.status());
    match response.status() {
        401 | 403 => Error::auth_forbidden(text),
        429 => Error::rate_limit(text),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(text),
        // The registry cannot be asked about a key, so the entry may be that of an earlier try.
        409 | 412 => Error::policy_denied(text).applied_unknown(),
        _ => Error::temporary_provider_error(text).applied_unknown(),
    }
}

fn register(clock: Clock, context: &tool::Context) -> Result<Output<Warranty>, Error> {
    check(&clock)?;
    let token = secrets::get("REGISTRY_TOKEN")?;
    let key: String = context.external_key().chars().take(KEY_MAX).collect();
    let body = json!({ "serial": clock.serial, "owner": clock.owner, "years": clock.years });
    let response = http::Request::post(WARRANTIES)
        .header("authorization", &format!("Bearer {token}"))
        .header("content-type", "application/json")
        .header("idempotency-key", &key)
        .body(body.to_string())
        .timeout(context.timeout().mul_f32(0.8))
        .send()?;
    // The registry repeats its first answer for a key that it has seen.
    if !matches!(response.status(), 200 | 201) {
        return Err(refusal(&response));
    }
    let entry: Entry = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("warranty: {error}")).applied_unknown())?;
    let change = Change::new("warranty", &entry.id, "create").external_ref(format!("{WARRANTIES}/{}", entry.id));
    let receipt = json!({ "id": entry.id });
    Ok(Output::new(Warranty { id: entry.id, serial: clock.serial, ends: entry.ends }).receipt(receipt).change(change))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Warranty.Register", register)
            .describe("Registers the warranty of a clock.")
            .effects([Effect::ExternalWrite])
            // The registry keeps keys for two days.
            .idempotent_by_key(Duration::from_secs(24 * 3600)),
    ],
}
