//! `Tenancy.File`: files a tenancy at the housing registry and asks the registry to inform the landlord.

use std::time::Duration;

use latchwork_guest::tool::{self, Output};
use latchwork_guest::{Effect, Error, http, log, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const FILES: &str = "https://registry.example/tenancies";
const NOTICES: &str = "https://registry.example/notices";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tenancy {
    tenant: String,
    /// Number of the landlord at the registry.
    landlord: String,
    /// Address of the flat.
    flat: String,
    /// Monthly rent.
    rent_cents: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Filed {
    /// Number of the file at the registry.
    file: String,
    /// Number of the notice to the landlord.
    notice: String,
}

/// Answer of the registry to a new entry.
#[derive(Debug, Deserialize)]
struct Entry {
    number: String,
}

/// Creates an entry at the registry and returns its number.
fn create(url: &str, token: &str, body: &Value) -> Result<String, Error> {
    let response = http::Request::post(url)
        .header("content-type", "application/json")
        .header("authorization", &format!("Bearer {token}"))
        .body(body.to_string())
        .timeout(Duration::from_secs(10))
        .send()?;
    let said = format!("{url} answered {}", response.status());
    match response.status() {
        200 | 201 => serde_json::from_slice::<Entry>(response.body())
            .map(|entry| entry.number)
            .map_err(|error| Error::schema_validation_failed(format!("{said}: {error}"))),
        429 => Err(Error::rate_limit(said)),
        401 | 403 => Err(Error::auth_forbidden(said)),
        409 | 412 => Err(Error::policy_denied(said).applied_unknown()),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(said)),
        _ => Err(Error::temporary_provider_error(said)),
    }
}

fn file(tenancy: Tenancy, context: &tool::Context) -> Result<Output<Filed>, Error> {
    for (name, value) in [("tenant", &tenancy.tenant), ("landlord", &tenancy.landlord), ("flat", &tenancy.flat)] {
        if value.trim().is_empty() {
            return Err(Error::invalid_input(format!("{name} is empty")));
        }
    }
    if tenancy.rent_cents == 0 {
        return Err(Error::invalid_input("the rent is 0"));
    }
    let token = secrets::get("REGISTRY_TOKEN")?;
    let file = create(
        FILES,
        &token,
        &json!({
            "reference": context.external_key(), "tenant": tenancy.tenant, "landlord": tenancy.landlord,
            "flat": tenancy.flat, "rent_cents": tenancy.rent_cents,
        }),
    )?;
    let notice = create(NOTICES, &token, &json!({ "file": file, "to": tenancy.landlord }))
        .map_err(|error| error.context(format!("informing {}", tenancy.landlord)))?;
    log::info!("{}: file {file}, notice {notice}", context.slot());
    let receipt = json!({ "file": file, "notice": notice });
    Ok(Output::new(Filed { file, notice }).receipt(receipt))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Tenancy.File", file)
            .describe("Files a tenancy at the housing registry and informs the landlord.")
            .effects([Effect::ExternalWrite, Effect::ExternalSend]),
    ],
}
