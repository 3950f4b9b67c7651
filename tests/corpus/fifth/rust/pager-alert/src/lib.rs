//! Alerts the engineer on duty by a pager. The gateway of the pager is busy at times, so that a request is sent up to
//! three times.

use std::time::Duration;

use latchwork_guest::tool::{self, Output};
use latchwork_guest::{Effect, Error, http, log};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const TRIES: u32 = 3;

#[derive(Deserialize, JsonSchema)]
struct Alert {
    pager: String,
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Sent {
    message: String,
}

fn alert(alert: Alert, _: &tool::Context) -> Result<Output<Sent>, Error> {
    if alert.pager.is_empty() || alert.text.is_empty() {
        return Err(Error::invalid_input("the pager or the text is empty"));
    }
    let request = http::Request::post("https://pager.example/messages")
        .header("content-type", "application/json")
        .timeout(Duration::from_secs(5))
        .body(json!({ "pager": alert.pager, "text": alert.text }).to_string());
    let mut last = Error::dependency_unavailable("the gateway was not asked");
    for number in 1..=TRIES {
        match request.send() {
            Ok(response) if response.status() < 300 => {
                let sent: Sent = serde_json::from_slice(response.body())
                    .map_err(|error| Error::schema_validation_failed(format!("no message: {error}")))?;
                return Ok(Output::new(sent));
            }
            Ok(response) if response.status() < 500 => {
                return Err(
                    Error::invalid_input(format!("the gateway answered {}", response.status())).applied_unknown()
                );
            }
            Ok(response) => {
                last = Error::temporary_provider_error(format!("the gateway answered {}", response.status()));
            }
            Err(error) => last = Error::from(error).applied_unknown(),
        }
        log::warn!("try {number}: {}", last.message());
    }
    Err(last)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Pager.Alert", alert)
            .describe("Alerts the engineer on duty by a pager.")
            .effects([Effect::ExternalSend]),
    ],
    exports: [],
}
