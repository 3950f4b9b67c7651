use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, http, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const SERVER: &str = "https://orchids.example/cultivars";

#[derive(Deserialize, JsonSchema)]
struct Cultivar {
    genus: String,
    epithet: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Registered {
    number: u32,
}

fn bearer() -> Result<String, Error> {
    Ok(format!("Bearer {}", secrets::get("ORCHID_TOKEN")?))
}

fn register(cultivar: Cultivar, context: &tool::Context) -> Result<Output<Registered>, Error> {
    if cultivar.genus.trim().is_empty() || cultivar.epithet.trim().is_empty() {
        return Err(Error::invalid_input("a cultivar has a genus and an epithet"));
    }
    let body = json!({ "genus": cultivar.genus, "epithet": cultivar.epithet, "request": context.external_key() });
    let response = http::Request::post(SERVER)
        .header("authorization", &bearer()?)
        .header("content-type", "application/json")
        .body(body.to_string())
        .send()?;
    match response.status() {
        200..=299 => {
            let registered: Registered = serde_json::from_slice(response.body())
                .map_err(|error| Error::schema_validation_failed(format!("unexpected answer: {error}")))?;
            let mut change = Change::new("cultivar", registered.number.to_string(), "create");
            change.etag = response.header("etag").map(str::to_owned);
            Ok(Output::new(registered).change(change))
        }
        401 | 403 => Err(Error::auth_forbidden("the registry refused the token")),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(response.text())),
        429 => Err(Error::rate_limit("the registry limits requests").retry_after(Duration::from_secs(60))),
        status => Err(Error::temporary_provider_error(format!("the registry answered {status}"))),
    }
}

/// Checks that the registry still has the entry as it was registered.
fn verify(change: &Change) -> Result<Finding, Error> {
    let response =
        http::Request::get(&format!("{SERVER}/{}", change.resource_id)).header("authorization", &bearer()?).send()?;
    if response.status() != 200 {
        return Ok(Finding::Mismatch(format!("the registry answered {}", response.status())));
    }
    Ok(Finding::compare(change.etag.as_deref(), response.header("etag").unwrap_or_default()))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("OrchidRegistry.Register", register)
            .describe("Registers an orchid cultivar.")
            .effects([Effect::ExternalWrite])
            .verify(verify),
    ],
    exports: [verify],
}
