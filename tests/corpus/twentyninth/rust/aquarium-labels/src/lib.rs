//! Publishes the label of a tank on the signs of an aquarium.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const SIGNS: &str = "https://signs.example/labels";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Label {
    /// Tank, such as `reef-3`.
    #[schemars(regex(pattern = "^[a-z]{1,20}-[0-9]{1,3}$"))]
    tank: String,
    /// Species in the tank, the most visible first.
    #[schemars(length(min = 1, max = 40))]
    species: Vec<Species>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Species {
    #[schemars(length(min = 1, max = 80))]
    name: String,
    #[schemars(length(min = 1, max = 80))]
    latin: String,
    #[schemars(length(max = 600))]
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Published {
    url: String,
    species: usize,
}

fn request(method: &str, url: &str) -> http::Request {
    http::Request::new(method, url).timeout(Duration::from_secs(10))
}

fn publish(label: Label, _: &tool::Context) -> Result<Output<Published>, Error> {
    if label.species.iter().any(|species| species.name.trim().is_empty()) {
        return Err(Error::invalid_input("a species has no name"));
    }
    let url = format!("{SIGNS}/{}", label.tank);
    let body = json!({ "species": label.species }).to_string();
    let response = request("PUT", &url).header("content-type", "application/json").body(body).send()?;
    match response.status() {
        200..=299 => {}
        401 | 403 => return Err(Error::auth_forbidden("the signs do not accept this client")),
        429 => return Err(Error::rate_limit("the signs are busy").retry_after(Duration::from_secs(5))),
        status @ (400 | 404 | 405 | 410 | 413 | 415 | 422) => {
            return Err(Error::invalid_input(format!("the signs answer {status}: {}", response.text())));
        }
        status => return Err(Error::temporary_provider_error(format!("the signs answer {status}"))),
    }
    let mut change = Change::new("label", &label.tank, "update").external_ref(&url);
    match response.header("etag") {
        Some(etag) => change = change.etag(etag),
        None => return Err(Error::schema_validation_failed("the signs named no version of the label")),
    }
    Ok(Output::new(Published { url, species: label.species.len() }).change(change))
}

/// Checks that the signs still show the version that the call has published.
fn verify(change: &Change) -> Result<Finding, Error> {
    let url = format!("{SIGNS}/{}", change.resource_id);
    let response = request("GET", &url).send()?;
    match response.status() {
        200 => match response.header("etag") {
            Some(etag) => Ok(Finding::compare(change.etag.as_deref(), etag)),
            None => Err(Error::dependency_unavailable("the signs named no version of the label")),
        },
        404 | 410 => Ok(Finding::Mismatch("the label is missing".into())),
        status => Err(Error::dependency_unavailable(format!("the signs answer {status}"))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Label.Publish", publish)
            .describe("Publishes the label of a tank.")
            .effects([Effect::ExternalWrite])
            .verify(verify),
    ],
    exports: [verify],
}
