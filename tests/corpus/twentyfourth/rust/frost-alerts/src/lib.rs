//! Warns the growers of a valley of frost, over the text message gateway of the cooperative.

use std::time::Duration;

use latchwork_guest::http::{Request, Response};
use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const ALERTS: &str = "https://gateway.growers.example/alerts";
/// Characters of one text message.
const CHARACTERS: usize = 160;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Alert {
    valley: String,
    /// Lowest temperature of the night, in degrees Celsius.
    low: i8,
    advice: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Sent {
    id: String,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
}

fn text(alert: &Alert) -> Result<String, Error> {
    if alert.valley.trim().is_empty() {
        return Err(Error::invalid_input("the alert names no valley"));
    }
    if alert.low > 3 {
        return Err(Error::invalid_input(format!("{} degrees are no frost", alert.low)));
    }
    let text = format!("Frost in {}: {} C. {}", alert.valley.trim(), alert.low, alert.advice.trim());
    if text.chars().count() > CHARACTERS {
        return Err(Error::invalid_input(format!("the alert has more than {CHARACTERS} characters")));
    }
    Ok(text)
}

fn sent(entry: Entry) -> Output<Sent> {
    let id = entry.id;
    Output::new(Sent { id: id.clone() })
        .receipt(json!({ "id": id }))
        .change(Change::new("alert", &id, "create").external_ref(format!("{ALERTS}/{id}")))
}

/// Asks the gateway for the alert of a reference.
fn find(reference: &str) -> Result<Option<Entry>, Error> {
    let response = Request::get(&format!("{ALERTS}?reference={reference}")).timeout(Duration::from_secs(8)).send()?;
    if response.status() != 200 {
        return Err(Error::temporary_provider_error(format!("the list of alerts has status {}", response.status())));
    }
    let entries: Vec<Entry> = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("the list of alerts: {error}")))?;
    Ok(entries.into_iter().next())
}

/// Time after which the gateway wants to be asked again.
fn pause(response: &Response) -> Duration {
    let seconds = response.header("retry-after").and_then(|text| text.trim().parse().ok()).unwrap_or(15);
    Duration::from_secs(seconds)
}

fn send(alert: Alert, context: &tool::Context) -> Result<Output<Sent>, Error> {
    let text = text(&alert)?;
    let reference = context.external_key();
    let response = Request::post(ALERTS)
        .header("content-type", "application/json")
        .body(json!({ "reference": reference, "group": alert.valley.trim(), "text": text }).to_string())
        .timeout(Duration::from_secs(8))
        .send()?;
    let status = response.status();
    match status {
        200..=299 => {
            let entry = serde_json::from_slice(response.body()).map_err(|error| {
                Error::schema_validation_failed(format!("the answer to the alert: {error}")).applied_unknown()
            })?;
            Ok(sent(entry))
        }
        // The reference may be known from an earlier message.
        409 | 412 => match find(reference).map_err(Error::applied_unknown)? {
            Some(entry) => Ok(sent(entry)),
            None => Err(Error::policy_denied("the gateway refuses the alert")),
        },
        429 | 503 => {
            let wait = pause(&response);
            Err(Error::rate_limit(format!("the gateway is busy for {} s", wait.as_secs())).retry_after(wait))
        }
        401 | 403 => Err(Error::auth_forbidden(format!("the gateway refuses this sender with {status}"))),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => {
            Err(Error::invalid_input(format!("the gateway refuses the alert with {status}")))
        }
        _ => Err(Error::temporary_provider_error(format!("the gateway answers with {status}")).applied_unknown()),
    }
}

fn reconcile(_: Alert, key: &str) -> Result<Verdict<Output<Sent>>, Error> {
    Ok(find(key)?.map_or(Verdict::DidNotHappen, |entry| Verdict::Happened(sent(entry))))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Frost.Warn", send)
            .describe("Warns the growers of a valley of frost.")
            .effects([Effect::ExternalSend])
            .settles_within(Duration::from_secs(60))
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
