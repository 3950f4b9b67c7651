//! Adds a record to a domain. The name server drops a second request with the same key for a day and answers with the
//! record of the first one.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const RECORDS: &str = "https://names.example/records";

#[derive(Deserialize, JsonSchema)]
struct Wanted {
    name: String,
    address: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Record {
    id: String,
    version: String,
}

fn add(wanted: Wanted, context: &tool::Context) -> Result<Output<Record>, Error> {
    if wanted.name.is_empty() || wanted.address.is_empty() {
        return Err(Error::invalid_input("the name or the address is empty"));
    }
    let response = http::Request::post(RECORDS)
        .header("content-type", "application/json")
        .header("idempotency-key", context.external_key())
        .body(json!({ "name": wanted.name, "address": wanted.address }).to_string())
        .send()?;
    match response.status() {
        200 | 201 => {}
        429 => return Err(Error::rate_limit("the name server answered 429")),
        status @ 400..=499 => return Err(Error::invalid_input(format!("the name server answered {status}"))),
        status => return Err(Error::temporary_provider_error(format!("the name server answered {status}"))),
    }
    let record: Record = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("the record cannot be read: {error}")))?;
    let place = format!("{RECORDS}/{}", record.id);
    let change = Change::new("record", &record.id, "create").version(&record.version).external_ref(place);
    Ok(Output::new(record).change(change))
}

/// Called when a job is resumed: checks whether the record is still in place.
fn verify(change: &Change) -> Result<Finding, Error> {
    let place = change.external_ref.as_deref().unwrap_or_default();
    let response = http::Request::get(place).send()?;
    if response.status() != 200 {
        return Ok(Finding::Mismatch(format!("the name server answered {} for {place}", response.status())));
    }
    let record: Record = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("the record cannot be read: {error}")))?;
    Ok(Finding::compare(change.version.as_deref(), &record.version))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Domain.Record", add)
            .describe("Adds a record to a domain.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(86_400))
            .verify(verify),
    ],
    exports: [verify],
}
