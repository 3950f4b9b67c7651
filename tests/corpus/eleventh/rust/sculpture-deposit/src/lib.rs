use std::time::Duration;

use latchwork_guest::tool::{self, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const SERVER: &str = "https://depot.example/deposits";

#[derive(Deserialize, JsonSchema)]
struct Sculpture {
    title: String,
    kilograms: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Deposit {
    number: String,
    bay: String,
}

fn deposit(sculpture: Sculpture, context: &tool::Context) -> Result<Output<Deposit>, Error> {
    if sculpture.title.trim().is_empty() || sculpture.kilograms == 0 {
        return Err(Error::invalid_input("a sculpture has a title and a weight"));
    }
    let body = json!({
        "title": sculpture.title,
        "kilograms": sculpture.kilograms,
        "reference": context.external_key(),
    });
    let response =
        http::Request::post(SERVER).header("content-type", "application/json").body(body.to_string()).send()?;
    match response.status() {
        200..=299 => Ok(Output::new(parse(&response)?)),
        401 | 403 => Err(Error::auth_forbidden(response.text())),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(response.text())),
        429 => Err(Error::rate_limit("the depot limits requests").retry_after(Duration::from_secs(60))),
        status => Err(Error::temporary_provider_error(format!("the depot answered {status}"))),
    }
}

fn parse(response: &http::Response) -> Result<Deposit, Error> {
    serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("unexpected answer of the depot: {error}")))
}

/// Asks the depot for the deposit with the reference of the call.
fn reconcile(_: Sculpture, key: &str) -> Result<Verdict<Output<Deposit>>, Error> {
    let response = http::Request::get(&format!("{SERVER}/find?reference={key}")).send()?;
    match response.status() {
        200 => Ok(Verdict::Happened(Output::new(parse(&response)?))),
        404 | 410 => Ok(Verdict::DidNotHappen),
        status => Err(Error::temporary_provider_error(format!("the depot answered {status}"))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("SculptureDeposit.Book", deposit)
            .describe("Books the deposit of a sculpture in a depot.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
