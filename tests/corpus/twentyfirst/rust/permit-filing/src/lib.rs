use std::time::Duration;

use latchwork_guest::http::Request;
use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const PERMITS: &str = "https://permits.example/api/permits";
/// Address of the permit with a reference.
const BY_REFERENCE: &str = "https://permits.example/api/permit";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Works {
    street: String,
    #[schemars(range(min = 1, max = 60))]
    days: u32,
    #[serde(default)]
    closes_road: bool,
}

#[derive(Serialize, JsonSchema)]
struct Filed {
    /// Number of the permit in the register.
    number: String,
    street: String,
}

/// A permit as the register shows it.
#[derive(Deserialize)]
struct Permit {
    number: String,
}

fn file(works: Works, context: &tool::Context) -> Result<Output<Filed>, Error> {
    if works.street.trim().is_empty() {
        return Err(Error::invalid_input("the works have no street"));
    }
    let key = context.external_key();
    let body = json!({
        "reference": key,
        "street": works.street,
        "days": works.days,
        "closure": if works.closes_road { "full" } else { "none" },
    });
    let response = Request::post(PERMITS).header("content-type", "application/json").body(body.to_string()).send()?;
    let said = format!("the filing was answered with status {}", response.status());
    match response.status() {
        200 | 201 => Ok(filed(read(response.body()).map_err(Error::applied_unknown)?, works.street)),
        // The register has one permit for each reference, and one for a street at a time.
        409 => match find(key).map_err(Error::applied_unknown)? {
            Some(permit) => Ok(filed(permit, works.street)),
            None => Err(Error::policy_denied(format!("{} has another permit already", works.street))),
        },
        401 | 403 => Err(Error::auth_forbidden(said)),
        429 => Err(Error::rate_limit(said)),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(said)),
        _ => Err(Error::temporary_provider_error(said)),
    }
}

/// Asks the register for the permit of the call.
fn reconcile(works: Works, key: &str) -> Result<Verdict<Output<Filed>>, Error> {
    Ok(match find(key)? {
        Some(permit) => Verdict::Happened(filed(permit, works.street)),
        None => Verdict::DidNotHappen,
    })
}

/// Returns the permit with this reference, or `None` if the register has no such permit.
fn find(key: &str) -> Result<Option<Permit>, Error> {
    let response = Request::get(&format!("{BY_REFERENCE}?reference={key}")).send()?;
    match response.status() {
        200 => read(response.body()).map(Some),
        404 | 410 => Ok(None),
        401 | 403 => Err(Error::auth_forbidden("the register refuses to show the permit")),
        status => Err(Error::dependency_unavailable(format!("the register answered with status {status}"))),
    }
}

fn read(body: &[u8]) -> Result<Permit, Error> {
    serde_json::from_slice(body).map_err(|error| Error::schema_validation_failed(format!("unexpected permit: {error}")))
}

fn filed(permit: Permit, street: String) -> Output<Filed> {
    Output::new(Filed { number: permit.number.clone(), street })
        .receipt(json!({ "permit": permit.number }))
        .change(Change::new("permit", permit.number, "create"))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Permit.File", file)
            .describe("Files road works with the register of the city, which gives them a permit.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(45))
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
