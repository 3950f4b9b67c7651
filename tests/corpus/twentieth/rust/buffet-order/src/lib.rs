//! `Buffet.Order`: orders a buffet at the caterer, and texts the order number to the host of the event.

use std::time::Duration;

use latchwork_guest::tool::{Change, Output};
use latchwork_guest::{Effect, Error, http, log, secrets, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const CATERER: &str = "https://caterer.example/v1/orders";
const TEXTS: &str = "https://texts.example/v2/messages";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    event: String,
    /// Day of the event: `2026-05-16`.
    day: String,
    guests: u32,
    /// Number of the host's telephone: `+4930123456`.
    phone: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Ordered {
    /// Number of the caterer's order.
    order: String,
    /// Id of the text to the host.
    text: String,
}

#[derive(Debug, Deserialize)]
struct Created {
    id: String,
}

/// Sends JSON to a server, with the token of the secret in its header.
fn post(url: &str, token: &str, body: &Value, timeout: Duration) -> Result<http::Response, http::Error> {
    http::Request::post(url)
        .header("authorization", &format!("Bearer {token}"))
        .header("content-type", "application/json")
        .timeout(timeout)
        .body(body.to_string())
        .send()
}

/// Returns the id in an answer, or the failure that the answer stands for.
fn created(who: &str, response: &http::Response) -> Result<String, Error> {
    let said = format!("{who} answered {}", response.status());
    match response.status() {
        200 | 201 => serde_json::from_slice(response.body())
            .map(|created: Created| created.id)
            .map_err(|error| Error::schema_validation_failed(format!("{who} sent no id: {error}"))),
        401 | 403 => Err(Error::auth_forbidden(said)),
        429 => Err(Error::rate_limit(said)),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(said)),
        _ => Err(Error::temporary_provider_error(said)),
    }
}

/// Texts the order number to the host. The order exists already.
fn text(args: &Args, order: &str, key: &str, timeout: Duration) -> Result<String, Error> {
    let token = secrets::get("TEXTS_TOKEN")?;
    let words = format!("Buffet for {} on {}: order {order}", args.event, args.day);
    let body = json!({ "to": args.phone, "text": words, "reference": key });
    let response = post(TEXTS, &token, &body, timeout).map_err(|error| Error::from(error).applied_unknown())?;
    created("the text service", &response).map_err(Error::applied_unknown)
}

fn order(args: Args, context: &tool::Context) -> Result<Output<Ordered>, Error> {
    if args.event.trim().is_empty() || args.event.chars().count() > 60 {
        return Err(Error::invalid_input("the name of an event has 1 to 60 characters"));
    }
    if args.guests == 0 || args.guests > 800 {
        return Err(Error::invalid_input(format!("the caterer serves 1 to 800 guests, not {}", args.guests)));
    }
    let digits = args.phone.strip_prefix('+').unwrap_or_default();
    if !(8..=15).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::invalid_input(format!("{:?} is no telephone number", args.phone)));
    }
    // Each of the two requests gets its share of the time of the call.
    let timeout = context.timeout().mul_f32(0.4);
    let key = context.external_key();
    let token = secrets::get("CATERER_TOKEN")?;
    let body = json!({ "event": args.event, "day": args.day, "guests": args.guests, "reference": key });
    let order = created("the caterer", &post(CATERER, &token, &body, timeout)?)?;
    log::info!("order {order} for {} guests", args.guests);
    let text = text(&args, &order, key, timeout)?;
    let receipt = json!({ "order": order, "text": text });
    let change = Change::new("order", &order, "create").external_ref(format!("{CATERER}/{order}"));
    Ok(Output::new(Ordered { order, text }).receipt(receipt).change(change))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Buffet.Order", order)
            .describe("Orders a buffet at the caterer, and texts the order number to the host of the event.")
            .effects([Effect::ExternalWrite, Effect::ExternalSend]),
    ],
}
