//! `Ring.Order`: orders rings for pigeons. The registry drops a second order with the same `Idempotency-Key` for a week,
//! and answers 409 while it still works on the first one or has it already.

use std::time::Duration;

use latchwork_guest::http::{Request, Response};
use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const ORDERS: &str = "https://rings.example/orders";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    #[schemars(length(min = 1, max = 60))]
    loft: String,
    #[schemars(range(min = 1, max = 500))]
    rings: u32,
    colour: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Ordered {
    /// Number of the order.
    order: String,
    first_ring: String,
}

fn ordered(response: &Response) -> Result<Output<Ordered>, Error> {
    let ordered: Ordered = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("unreadable order: {error}")))?;
    let receipt = json!({ "order": ordered.order });
    let change = Change::new("ring-order", &ordered.order, "create").version(&ordered.first_ring);
    Ok(Output::new(ordered).receipt(receipt).change(change))
}

/// The order under this key, after the registry said that there is one.
fn earlier(key: &str) -> Result<Output<Ordered>, Error> {
    let response = Request::get(&format!("{ORDERS}?key={key}"))
        .send()
        .map_err(|error| Error::from(error).applied_unknown().context("asking for the order"))?;
    match response.status() {
        200 => ordered(&response),
        status => Err(Error::temporary_provider_error(format!("asking for the order: {status}")).applied_unknown()),
    }
}

fn order(order: Order, context: &tool::Context) -> Result<Output<Ordered>, Error> {
    let colour = order.colour.unwrap_or_else(|| "silver".into());
    if !colour.chars().all(|c| c.is_ascii_lowercase()) {
        return Err(Error::invalid_input("colour: small letters"));
    }
    let key = context.external_key();
    let response = Request::post(ORDERS)
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .body(json!({ "loft": order.loft, "rings": order.rings, "colour": colour }).to_string())
        .send()?;
    match response.status() {
        200..=299 => ordered(&response),
        409 => earlier(key),
        429 => Err(Error::rate_limit("the registry is busy").retry_after(Duration::from_secs(20))),
        401 | 403 => Err(Error::auth_forbidden("the loft has no account")),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(response.text())),
        status => Err(Error::temporary_provider_error(format!("the registry answered {status}"))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Ring.Order", order)
            .describe("Orders rings for the pigeons of a loft.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(7 * 86_400)),
    ],
}
