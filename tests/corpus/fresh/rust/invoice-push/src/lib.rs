use std::time::Duration;

use latchwork_guest::serde_json::{Value, from_slice, json};
use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http, log};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Deserialize, JsonSchema)]
struct Invoice {
    customer: String,
    cents: u32,
}

#[derive(Serialize, JsonSchema)]
struct Pushed {
    number: String,
}

/// The server keeps the answer of each idempotency key for a day.
fn post(body: &str, key: &str) -> Result<http::Response, Error> {
    let request = http::Request::post("https://books.example/invoices")
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .timeout(Duration::from_secs(4))
        .body(body);
    let first = request.send()?;
    if first.status() != 503 {
        return Ok(first);
    }
    log::info!("the server is busy, a second request follows under the same key");
    Ok(request.send()?)
}

fn push(invoice: Invoice, context: &tool::Context) -> Result<Output<Pushed>, Error> {
    let body = json!({ "customer": invoice.customer, "cents": invoice.cents }).to_string();
    let response = post(&body, context.external_key())?;
    match response.status() {
        200 | 201 => {}
        401 | 403 => return Err(Error::auth_forbidden("the server refused the request")),
        429 => return Err(Error::rate_limit("too many requests").retry_after(Duration::from_secs(3))),
        400..=407 | 410 | 413..=499 => return Err(Error::invalid_input(format!("refused: {}", response.text()))),
        status => return Err(Error::temporary_provider_error(format!("status {status}"))),
    }
    let stored: Value = from_slice(response.body()).map_err(|e| Error::schema_validation_failed(e.to_string()))?;
    let Some(number) = stored["number"].as_str() else {
        return Err(Error::schema_validation_failed("the answer has no number"));
    };
    let change = Change::new("invoice", number, "create");
    Ok(Output::new(Pushed { number: number.to_owned() }).receipt(json!({ "number": number })).change(change))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Invoice.Push", push)
            .describe("Stores an invoice in the books.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(DAY),
    ],
}
