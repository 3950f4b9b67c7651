use std::time::Duration;

use latchwork_guest::serde_json::{Value, from_slice, json};
use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const CLAIMS: &str = "https://claims.example/claims";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Claim {
    policy: String,
    damage: String,
    photo: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Filed {
    claim: String,
    photo: bool,
}

fn send(request: http::Request, what: &str) -> Result<http::Response, Error> {
    let response = request.timeout(Duration::from_secs(5)).send()?;
    match response.status() {
        200..300 => Ok(response),
        429 => Err(Error::rate_limit(format!("{what}: too many requests"))),
        401 | 403 => Err(Error::auth_forbidden(format!("{what}: not allowed"))),
        status @ 400..500 => Err(Error::invalid_input(format!("{what}: refused with status {status}"))),
        status => Err(Error::temporary_provider_error(format!("{what}: status {status}"))),
    }
}

fn file(claim: Claim, _: &tool::Context) -> Result<Output<Filed>, Error> {
    if claim.damage.trim().is_empty() {
        return Err(Error::invalid_input("the damage is not described"));
    }
    let body = json!({ "policy": claim.policy, "damage": claim.damage }).to_string();
    let response = send(http::Request::post(CLAIMS).header("content-type", "application/json").body(body), "claim")?;
    let answer: Value = from_slice(response.body()).map_err(|e| Error::schema_validation_failed(e.to_string()))?;
    let id = answer["id"].as_str().unwrap_or_default().to_owned();

    let has_photo = claim.photo.is_some();
    if let Some(photo) = claim.photo {
        let url = format!("{CLAIMS}/{id}/photo");
        send(http::Request::new("PUT", &url).header("content-type", "text/plain").body(photo), "photo")?;
    }
    Ok(Output::new(Filed { claim: id.clone(), photo: has_photo }).change(Change::new("claim", id, "create")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Claim.File", file)
            .describe("Files an insurance claim, with a photo if there is one.")
            .effects([Effect::ExternalWrite]),
    ],
}
