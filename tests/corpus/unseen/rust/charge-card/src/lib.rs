use std::fmt::Write;
use std::time::Duration;

use latchwork_guest::serde_json::{Value, from_slice, json};
use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Charge {
    order: String,
    cents: u32,
}

#[derive(Serialize, JsonSchema)]
struct Charged {
    id: String,
}

/// Returns a new key for the header `idempotency-key`.
fn request_key() -> String {
    wall::random(16).iter().fold(String::new(), |mut key, byte| {
        let _ = write!(key, "{byte:02x}");
        key
    })
}

fn charge(charge: Charge, _: &tool::Context) -> Result<Output<Charged>, Error> {
    let response = http::Request::post("https://pay.example/charges")
        .header("content-type", "application/json")
        .header("idempotency-key", &request_key())
        .body(json!({ "order": charge.order, "cents": charge.cents }).to_string())
        .send()?;
    match response.status() {
        200 | 201 => {}
        429 => return Err(Error::rate_limit("the payment service limits the rate")),
        500.. => {
            return Err(Error::temporary_provider_error(format!("the payment service answered {}", response.status())));
        }
        status => return Err(Error::invalid_input(format!("the payment service answered {status}"))),
    }
    let body: Value = from_slice(response.body()).map_err(|e| Error::schema_validation_failed(e.to_string()))?;
    let id = body["id"].as_str().unwrap_or_default().to_owned();
    Ok(Output::new(Charged { id: id.clone() }).change(Change::new("charge", id, "create")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Card.Charge", charge)
            .describe("Charges the card of an order.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(24 * 3600)),
    ],
}
