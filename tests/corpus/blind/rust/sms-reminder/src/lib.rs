use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Reminder {
    phone: String,
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Sent {
    id: String,
}

fn send(reminder: Reminder, context: &tool::Context) -> Result<Output<Sent>, Error> {
    if !reminder.phone.starts_with('+') || reminder.text.is_empty() {
        return Err(Error::invalid_input("a phone number with + and a text are needed"));
    }
    let key = format!("{}/{}", context.external_key(), context.attempt());
    let token = secrets::get("SMS_TOKEN")?;
    let response = http::Request::post("https://sms.example/v2/messages")
        .header("authorization", &format!("Bearer {token}"))
        .header("content-type", "application/json")
        .header("idempotency-key", &key)
        .body(json!({ "to": reminder.phone, "text": reminder.text, "reference": key }).to_string())
        .timeout(Duration::from_secs(10))
        .send()?;
    match response.status() {
        200 | 201 => {}
        401 | 403 => return Err(Error::auth_forbidden("the gateway refused the token")),
        429 => return Err(Error::rate_limit("the gateway is busy")),
        400..=499 => return Err(Error::invalid_input(format!("the gateway answered {}", response.status()))),
        status => return Err(Error::temporary_provider_error(format!("the gateway answered {status}"))),
    }
    let sent: Sent = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("the gateway's answer: {error}")))?;
    let change = Change::new("sms", &sent.id, "send");
    Ok(Output::new(sent).change(change))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("SmsReminder.Send", send)
            .describe("Sends a reminder by SMS.")
            .effects([Effect::ExternalSend])
            .idempotent_by_key(Duration::from_secs(86_400)),
    ],
    exports: [],
}
