use std::time::Duration;

use latchwork_guest::tool::{self, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const HOOK: &str = "https://hooks.example/incoming";

#[derive(Deserialize, JsonSchema)]
struct Message {
    topic: String,
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Relayed {
    status: u16,
}

fn relay(message: Message, context: &tool::Context) -> Result<Output<Relayed>, Error> {
    if message.topic.is_empty() {
        return Err(Error::invalid_input("the topic is empty"));
    }
    let body = json!({ "topic": message.topic, "text": message.text, "id": context.external_key() });
    let response =
        http::Request::post(HOOK).header("content-type", "application/json").body(body.to_string()).send()?;
    let wait = response
        .header("retry-after")
        .and_then(|value| value.parse().ok())
        .map_or(Duration::from_secs(10), Duration::from_secs);
    match response.status() {
        status @ 200..=299 => Ok(Output::new(Relayed { status })),
        // The gateway asks for a pause.
        429 | 503 => Err(Error::rate_limit("the gateway is busy").retry_after(wait)),
        401 | 403 => Err(Error::auth_forbidden("the gateway refuses this sender")),
        status @ 500..=599 => Err(Error::temporary_provider_error(format!("the gateway answered {status}"))),
        status => Err(Error::invalid_input(format!("the gateway answered {status}")).applied_unknown()),
    }
}

latchwork_guest::export_tool! {
    version: "0.1.0",
    operators: [
        tool::operator("Webhook.Relay", relay)
            .describe("Relays a message to the incoming hook.")
            .effects([Effect::ExternalSend]),
    ],
}
