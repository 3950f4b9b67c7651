use std::time::Duration;

use latchwork_guest::serde_json::{Value, from_slice, json};
use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const SERVER: &str = "https://cards.example";

#[derive(Deserialize, JsonSchema)]
struct Gift {
    owner: String,
    cents: u32,
}

#[derive(Serialize, JsonSchema)]
struct Card {
    id: String,
    cents: u32,
}

fn post(path: &str, body: &Value) -> Result<http::Response, Error> {
    let response = http::Request::post(&format!("{SERVER}{path}"))
        .header("content-type", "application/json")
        .timeout(Duration::from_secs(5))
        .body(body.to_string())
        .send()?;
    match response.status() {
        200..=299 => Ok(response),
        // The server did nothing with a request that it refused.
        401 | 403 => Err(Error::auth_forbidden(format!("{path}: refused"))),
        429 => Err(Error::rate_limit(format!("{path}: too many requests"))),
        400..=499 => Err(Error::invalid_input(format!("{path}: {}", response.text()))),
        status => Err(Error::temporary_provider_error(format!("{path}: status {status}"))),
    }
}

fn issue(gift: Gift, _: &tool::Context) -> Result<Output<Card>, Error> {
    let created = post("/cards", &json!({ "owner": gift.owner }))?;
    let card: Value = from_slice(created.body()).map_err(|e| Error::schema_validation_failed(e.to_string()))?;
    let Some(id) = card["id"].as_str() else { return Err(Error::schema_validation_failed("the card has no id")) };
    post(&format!("/cards/{id}/loads"), &json!({ "cents": gift.cents }))?;
    let change = Change::new("card", id, "create").version("1");
    Ok(Output::new(Card { id: id.to_owned(), cents: gift.cents }).change(change))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Card.Issue", issue)
            .describe("Creates a gift card and loads it.")
            .effects([Effect::ExternalWrite]),
    ],
}
