//! Applies for permits to take water from hydrants at the waterworks.

use std::time::Duration;

use latchwork_guest::http::{Request, Response};
use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const PERMITS: &str = "https://waterworks.example/permits";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Application {
    hydrant: String,
    cubic_meters: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Permit {
    permit: String,
}

fn apply(application: Application, context: &tool::Context) -> Result<Output<Permit>, Error> {
    if application.cubic_meters == 0 {
        return Err(Error::invalid_input("the application is for no water"));
    }
    let body = json!({
        "reference": context.external_key(),
        "hydrant": application.hydrant,
        "cubic_meters": application.cubic_meters,
    });
    let response = Request::post(PERMITS)
        .header("content-type", "application/json")
        .body(body.to_string())
        .timeout(Duration::from_secs(10))
        .send()?;
    match response.status() {
        200..=299 => granted(&response),
        429 => Err(Error::rate_limit("too many applications")),
        401 | 403 => Err(Error::auth_forbidden("the waterworks refused the applicant")),
        400 | 404 | 422 => Err(Error::invalid_input(response.text())),
        status => Err(Error::temporary_provider_error(format!("the waterworks answered {status}"))),
    }
}

fn granted(response: &Response) -> Result<Output<Permit>, Error> {
    let permit: Permit = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("answer of the waterworks: {error}")))?;
    let change = Change::new("permit", &permit.permit, "create");
    Ok(Output::new(permit).change(change))
}

/// The waterworks gives a permit by the reference of its application.
fn find(_: Application, key: &str) -> Result<Verdict<Output<Permit>>, Error> {
    let response = Request::get(&format!("{PERMITS}?reference={key}")).timeout(Duration::from_secs(10)).send()?;
    if response.status() != 200 {
        return Ok(Verdict::DidNotHappen);
    }
    Ok(Verdict::Happened(granted(&response)?))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Hydrant.Apply", apply)
            .describe("Applies for a permit to take water.")
            .effects([Effect::ExternalWrite])
            // A request is stored or dropped within a minute.
            .settles_within(Duration::from_secs(60))
            .reconcile(find),
    ],
    exports: [reconcile],
}
