//! `Buoy.Watch`: sets an alarm at a tide buoy. The service of the buoys drops duplicates by key.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const ALARMS: &str = "https://buoys.example/alarms";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Watch {
    buoy: String,
    /// Level in centimetres above chart datum.
    level: i32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Alarm {
    id: String,
    etag: String,
}

/// The error of an answer that is no success: `no` only if the service has refused the request.
fn refusal(response: &http::Response) -> Error {
    let said = format!("the service answered {}", response.status());
    match response.status() {
        401 | 403 => Error::auth_forbidden(said),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(said),
        429 => Error::rate_limit(said).retry_after(Duration::from_secs(10)),
        _ => Error::temporary_provider_error(said).applied_unknown(),
    }
}

fn is_name(id: &str) -> bool {
    !id.is_empty() && id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

fn watch(watch: Watch, context: &tool::Context) -> Result<Output<Alarm>, Error> {
    if !is_name(&watch.buoy) {
        return Err(Error::invalid_input("the name of the buoy is not valid"));
    }
    let response = http::Request::post(ALARMS)
        .header("idempotency-key", context.external_key())
        .header("content-type", "application/json")
        .timeout(context.timeout().mul_f32(0.8))
        .body(json!({ "buoy": watch.buoy, "level_cm": watch.level }).to_string())
        .send()?;
    // The service answers a repetition with 200 and the alarm of the first request.
    if !(200..=299).contains(&response.status()) {
        return Err(refusal(&response));
    }
    let alarm: Alarm = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("unreadable alarm: {error}")).applied_unknown())?;
    if !is_name(&alarm.id) {
        return Err(Error::schema_validation_failed("the alarm has an unusable id").applied_unknown());
    }
    let change = Change::new("alarm", &alarm.id, "create").etag(&alarm.etag);
    Ok(Output::new(alarm).change(change))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let response = http::Request::get(&format!("{ALARMS}/{}", change.resource_id)).send()?;
    match response.status() {
        200 => {
            let found: Alarm = serde_json::from_slice(response.body())
                .map_err(|error| Error::schema_validation_failed(format!("unreadable alarm: {error}")))?;
            Ok(Finding::compare(change.etag.as_deref(), &found.etag))
        }
        404 | 410 => Ok(Finding::Mismatch("the alarm is gone".into())),
        _ => Err(refusal(&response)),
    }
}

fn unset(_: Watch, alarm: Alarm, _: &str) -> Result<Output<()>, Error> {
    let response =
        http::Request::new("DELETE", &format!("{ALARMS}/{}", alarm.id)).header("if-match", &alarm.etag).send()?;
    match response.status() {
        200..=299 => Ok(Output::new(()).change(Change::new("alarm", &alarm.id, "delete"))),
        404 | 410 => Err(Error::policy_denied("the alarm is gone already")),
        409 | 412 => Err(Error::policy_denied("the alarm was changed since")),
        _ => Err(refusal(&response)),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Buoy.Watch", watch)
            .describe("Sets an alarm at a tide buoy.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(7 * 86_400))
            .verify(verify)
            .compensate(unset),
    ],
    exports: [verify, compensate],
}
