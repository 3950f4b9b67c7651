use std::time::Duration;

use latchwork_guest::serde_json::{Value, from_slice, json};
use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http, log};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TopUp {
    card: String,
    cents: u32,
}

#[derive(Serialize, JsonSchema)]
struct Booked {
    booking: String,
}

fn top_up(order: TopUp, context: &tool::Context) -> Result<Output<Booked>, Error> {
    if order.cents == 0 {
        return Err(Error::invalid_input("the amount is zero"));
    }
    // The service keeps the answer of a request for a day, also that of a request that it could not serve. A new
    // attempt needs a request of its own.
    let request_id = format!("{}/{}", context.external_key(), context.attempt());
    log::info!("request {request_id}");
    let response = http::Request::post("https://cards.example/topups")
        .header("content-type", "application/json")
        .header("idempotency-key", &request_id)
        .timeout(Duration::from_secs(10))
        .body(json!({ "card": order.card, "cents": order.cents }).to_string())
        .send()?;
    match response.status() {
        200..300 => {}
        429 => return Err(Error::rate_limit("the card service limits the rate")),
        status @ 400..500 => return Err(Error::invalid_input(format!("refused with status {status}"))),
        status => {
            return Err(Error::temporary_provider_error(format!("the card service answered with status {status}")));
        }
    }
    let answer: Value = from_slice(response.body()).map_err(|e| Error::schema_validation_failed(e.to_string()))?;
    let booking = answer["booking"].as_str().unwrap_or_default().to_owned();
    Ok(Output::new(Booked { booking: booking.clone() })
        .receipt(json!({ "booking": &booking }))
        .change(Change::new("booking", booking, "create")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Card.TopUp", top_up)
            .describe("Adds an amount to a prepaid card.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(24 * 3600)),
    ],
}
