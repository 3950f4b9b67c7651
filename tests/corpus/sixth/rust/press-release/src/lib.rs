//! Publishes a press release on the news server of the company.

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const URL: &str = "https://news.example/releases";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Release {
    title: String,
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Published {
    id: String,
}

fn published(id: &str) -> Output<Published> {
    Output::new(Published { id: id.to_owned() }).change(Change::new("release", id, "create"))
}

/// Returns the id of the release with this reference, if the server has it.
fn lookup(key: &str) -> Option<String> {
    let response = http::Request::get(&format!("{URL}?reference={key}")).send().ok()?;
    let found: Vec<Value> = serde_json::from_slice(response.body()).ok()?;
    found.first()?["id"].as_str().map(str::to_owned)
}

fn publish(release: Release, context: &tool::Context) -> Result<Output<Published>, Error> {
    if release.title.trim().is_empty() || release.text.trim().is_empty() {
        return Err(Error::invalid_input("the release has no title or no text"));
    }
    let body = json!({ "title": release.title, "text": release.text, "reference": context.external_key() });
    let response = http::Request::post(URL).header("content-type", "application/json").body(body.to_string()).send()?;
    match response.status() {
        200 | 201 => {}
        400 | 422 => return Err(Error::invalid_input("the server refused the release")),
        401 | 403 => return Err(Error::auth_forbidden("the server refused the credentials")),
        429 => return Err(Error::rate_limit("the server asks for a pause")),
        status => return Err(Error::temporary_provider_error(format!("the server answered {status}"))),
    }
    let made: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    match made["id"].as_str() {
        Some(id) => Ok(published(id)),
        None => Err(Error::schema_validation_failed("the server answered without an id")),
    }
}

fn find(_: Release, key: &str) -> Result<Verdict<Output<Published>>, Error> {
    Ok(match lookup(key) {
        Some(id) => Verdict::Happened(published(&id)),
        None => Verdict::DidNotHappen,
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Release.Publish", publish)
            .describe("Publishes a press release.")
            .effects([Effect::ExternalWrite])
            .settles_within(std::time::Duration::from_secs(30))
            .reconcile(find),
    ],
    exports: [reconcile],
}
