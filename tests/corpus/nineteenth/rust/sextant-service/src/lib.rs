//! `Sextant.Service`: orders the repair of an instrument, and the courier that fetches it.

use latchwork_guest::http::{Request, Response};
use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const JOBS: &str = "https://workshop.example/v2/jobs";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    /// Serial number of the instrument.
    serial: String,
    fault: String,
    /// Day on which the courier comes, as `2026-02-10`.
    pickup: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Ordered {
    /// Number of the repair at the workshop.
    job: String,
    pickup: String,
}

/// Answer of the workshop to a new job.
#[derive(Debug, Deserialize)]
struct Job {
    id: String,
}

fn order(order: Order, context: &tool::Context) -> Result<Output<Ordered>, Error> {
    let serial = order.serial.trim();
    if serial.is_empty() || order.fault.trim().is_empty() {
        return Err(Error::invalid_input("an order names the instrument and its fault"));
    }
    if order.pickup.len() != 10 || !order.pickup.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return Err(Error::invalid_input(format!("{:?} is no day", order.pickup)));
    }
    let token = format!("Bearer {}", secrets::get("WORKSHOP_TOKEN")?);
    let body = json!({ "serial": serial, "fault": order.fault, "our_reference": context.external_key() });
    let job = opened(&sending("POST", JOBS, &token, &body).send()?)?;

    let courier = format!("{JOBS}/{}/courier", job.id);
    let answer = sending("PUT", &courier, &token, &json!({ "day": order.pickup })).send()?;
    match answer.status() {
        200 | 201 | 204 => {}
        429 => return Err(Error::rate_limit(said("courier", &answer)).applied_unknown()),
        400..=499 => return Err(Error::policy_denied(said("courier", &answer)).applied_unknown()),
        _ => return Err(Error::temporary_provider_error(said("courier", &answer)).applied_unknown()),
    }
    let change = Change::new("repair", context.external_key(), "create").external_ref(&job.id);
    let receipt = json!({ "job": job.id });
    Ok(Output::new(Ordered { job: job.id, pickup: order.pickup }).receipt(receipt).change(change))
}

/// Reads the answer to a new job.
fn opened(answer: &Response) -> Result<Job, Error> {
    match answer.status() {
        200 | 201 => {}
        401 | 403 => return Err(Error::auth_forbidden(said("job", answer))),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => return Err(Error::invalid_input(said("job", answer))),
        429 => return Err(Error::rate_limit(said("job", answer))),
        _ => return Err(Error::temporary_provider_error(said("job", answer))),
    }
    let job: Job = serde_json::from_slice(answer.body())
        .map_err(|error| Error::schema_validation_failed(format!("the workshop's job cannot be read: {error}")))?;
    if job.id.is_empty() || !job.id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Err(Error::schema_validation_failed(format!("{:?} is no number of a job", job.id)));
    }
    Ok(job)
}

fn sending(method: &str, url: &str, token: &str, body: &serde_json::Value) -> Request {
    Request::new(method, url)
        .header("authorization", token)
        .header("content-type", "application/json")
        .body(body.to_string())
}

fn said(what: &str, answer: &Response) -> String {
    format!("{what}: the workshop answered {}", answer.status())
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Sextant.Service", order)
            .describe("Orders the repair of an instrument, and the courier that fetches it.")
            .effects([Effect::ExternalWrite]),
    ],
}
