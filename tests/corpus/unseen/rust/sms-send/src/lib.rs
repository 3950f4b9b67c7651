use std::time::Duration;

use latchwork_guest::serde_json::{Value, from_slice, json};
use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Message {
    to: String,
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Sent {
    id: String,
}

fn failed(what: impl std::fmt::Display) -> Error {
    Error::network_timeout(format!("the message was not sent: {what}")).not_applied()
}

fn send(message: Message, context: &tool::Context) -> Result<Output<Sent>, Error> {
    let response = http::Request::post("https://sms.example/messages")
        .header("content-type", "application/json")
        .timeout(Duration::from_secs(5))
        .body(json!({ "to": message.to, "text": message.text, "reference": context.external_key() }).to_string())
        .send()
        .map_err(failed)?;
    if !(200..300).contains(&response.status()) {
        return Err(failed(format!("status {}", response.status())));
    }
    let body: Value = from_slice(response.body()).map_err(|e| Error::schema_validation_failed(e.to_string()))?;
    let id = body["id"].as_str().unwrap_or_default().to_owned();
    Ok(Output::new(Sent { id: id.clone() }).change(Change::new("sms", id, "create")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Sms.Send", send).describe("Sends a text message.").effects([Effect::ExternalSend]),
    ],
}
