//! `Plaque.Order`: orders an engraved plaque from a workshop.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const ORDERS: &str = "https://engraver.example/v2/orders";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Plaque {
    /// Lines of the inscription, at most six.
    lines: Vec<String>,
    material: Material,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Material {
    Brass,
    Slate,
    Oak,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Ordered {
    order: String,
    ready_on: String,
}

/// Seconds that the workshop asks to wait, or 30.
fn pause(response: &http::Response) -> Duration {
    Duration::from_secs(response.header("retry-after").and_then(|text| text.trim().parse().ok()).unwrap_or(30))
}

fn order(plaque: Plaque, context: &tool::Context) -> Result<Output<Ordered>, Error> {
    if plaque.lines.is_empty() || plaque.lines.len() > 6 {
        return Err(Error::invalid_input("a plaque has one to six lines"));
    }
    if let Some(long) = plaque.lines.iter().find(|line| line.chars().count() > 32) {
        return Err(Error::invalid_input(format!("the line {long:?} is too long")));
    }
    let token = secrets::get("ENGRAVER_TOKEN")?;
    let body = json!({ "lines": plaque.lines, "material": plaque.material, "reference": context.external_key() });
    let response = http::Request::post(ORDERS)
        .header("authorization", &format!("Bearer {token}"))
        .header("content-type", "application/json")
        .timeout(context.timeout().mul_f32(0.8))
        .body(body.to_string())
        .send()?;
    let said = format!("the workshop answered {}", response.status());
    match response.status() {
        200..=299 => {}
        401 | 403 => return Err(Error::auth_forbidden(said)),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => return Err(Error::invalid_input(said)),
        429 | 503 => return Err(Error::rate_limit(said).retry_after(pause(&response))),
        _ => return Err(Error::temporary_provider_error(said).applied_unknown()),
    }
    let ordered: Ordered = serde_json::from_slice(response.body()).map_err(|error| {
        Error::schema_validation_failed(format!("the order was accepted: {error}")).applied_unknown()
    })?;
    let change = Change::new("order", &ordered.order, "create").external_ref(ORDERS);
    Ok(Output::new(ordered).change(change))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Plaque.Order", order)
            .describe("Orders an engraved plaque.")
            .effects([Effect::ExternalWrite]),
    ],
}
