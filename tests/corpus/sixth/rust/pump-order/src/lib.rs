//! Orders a pump. The supplier drops a second order with the same request id within a day.

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const URL: &str = "https://pumps.example/orders";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    model: String,
    count: u32,
}

#[derive(Serialize, JsonSchema)]
struct Ordered {
    order: String,
}

/// Returns the id of a request: the key of the call and a check value, as the supplier asks for.
fn request_id(key: &str) -> String {
    let check: String = wall::random(4).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{key}.{check}")
}

fn order(order: Order, context: &tool::Context) -> Result<Output<Ordered>, Error> {
    if order.model.trim().is_empty() || order.count == 0 {
        return Err(Error::invalid_input("the order has no model or no count"));
    }
    let response = http::Request::post(URL)
        .header("content-type", "application/json")
        .header("idempotency-key", &request_id(context.external_key()))
        .body(json!({ "model": order.model, "count": order.count }).to_string())
        .send()?;
    match response.status() {
        200 | 201 => {}
        400 | 422 => return Err(Error::invalid_input("the supplier refused the order")),
        401 | 403 => return Err(Error::auth_forbidden("the supplier refused the credentials")),
        status => {
            return Err(Error::temporary_provider_error(format!("the supplier answered {status}")));
        }
    }
    let made: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    let Some(id) = made["id"].as_str() else {
        return Err(Error::schema_validation_failed("the supplier answered without an id"));
    };
    Ok(Output::new(Ordered { order: id.to_owned() }).change(Change::new("order", id, "create")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Pump.Order", order)
            .describe("Orders a pump.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(std::time::Duration::from_secs(86_400)),
    ],
    exports: [],
}
