//! Orders engraved plaques at a shop that drops duplicates by the idempotency key.

use std::time::Duration;

use latchwork_guest::http::Request;
use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Plaque {
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Ordered {
    id: String,
}

#[derive(Deserialize)]
struct State {
    state: String,
}

const SHOP: &str = "https://engraver.example/orders";

fn order(plaque: Plaque, context: &tool::Context) -> Result<Output<Ordered>, Error> {
    if plaque.text.trim().is_empty() {
        return Err(Error::invalid_input("the plaque has no text"));
    }
    let answer = Request::post(SHOP)
        .header("idempotency-key", context.external_key())
        .header("content-type", "application/json")
        .body(json!({ "text": plaque.text }).to_string())
        .send()?;
    match answer.status() {
        200..=299 => {}
        401 | 403 => return Err(Error::auth_forbidden("the shop refused the order")),
        429 => return Err(Error::rate_limit("the shop is busy")),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => return Err(Error::invalid_input(answer.text())),
        status => return Err(Error::temporary_provider_error(format!("the shop answers {status}")).applied_unknown()),
    }
    let ordered: Ordered = serde_json::from_slice(answer.body())
        .map_err(|error| Error::schema_validation_failed(format!("answer of the shop: {error}")))?;
    if !ordered.id.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Err(Error::schema_validation_failed(format!("strange id {:?}", ordered.id)));
    }
    let change = Change::new("order", &ordered.id, "create").external_ref(format!("{SHOP}?id={}", ordered.id));
    Ok(Output::new(ordered).change(change))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let Some(place) = change.external_ref.as_deref() else {
        return Err(Error::missing_required_context("the change has no address"));
    };
    let answer = Request::get(place).header("accept", "application/json").send()?;
    if answer.status() != 200 {
        return Ok(Finding::Mismatch(format!("order {}: status {}", change.resource_id, answer.status())));
    }
    let found: State = serde_json::from_slice(answer.body())
        .map_err(|error| Error::dependency_unavailable(format!("answer of the shop: {error}")).not_applied())?;
    Ok(match found.state.as_str() {
        "cancelled" => Finding::Mismatch("the order is cancelled".into()),
        _ => Finding::Confirmed,
    })
}

latchwork_guest::export_tool! {
    version: "0.1.0",
    operators: [
        tool::operator("Plaque.Order", order)
            .describe("Orders an engraved plaque.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(24 * 3600))
            .verify(verify),
    ],
    exports: [verify],
}
