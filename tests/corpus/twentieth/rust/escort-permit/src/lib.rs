//! `Permit.Request`: requests the escort permit of a heavy transport.
//!
//! The permit office handles a request at once. It keeps each reference for a week, and makes one permit for it. A
//! permit never changes, and can be given back.

use std::time::Duration;

use latchwork_guest::tool::{Change, Output, Verdict};
use latchwork_guest::{Effect, Error, http, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const PERMITS: &str = "https://permits.example/permits";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    plate: String,
    /// Roads of the transport, in their order.
    route: Vec<String>,
    tonnes: u32,
}

/// A permit, as the office returns it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Permit {
    id: String,
    /// Number of escort vehicles.
    escorts: u32,
}

/// Returns the output for an answer that contains a permit.
fn granted(permit: Permit) -> Result<Output<Permit>, Error> {
    if permit.id.is_empty() || !permit.id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return Err(Error::schema_validation_failed(format!("{:?} is no id of a permit", permit.id)));
    }
    let place = format!("{PERMITS}/{}", permit.id);
    let receipt = json!({ "permit": permit.id });
    let change = Change::new("permit", &permit.id, "create").external_ref(place);
    Ok(Output::new(permit).receipt(receipt).change(change))
}

/// Asks the office for the permit of a reference.
fn find(key: &str) -> Result<Option<Output<Permit>>, Error> {
    let response = http::Request::get(&format!("{PERMITS}?reference={key}")).timeout(Duration::from_secs(10)).send()?;
    if response.status() != 200 {
        return Err(Error::dependency_unavailable(format!("the office answered {}", response.status())));
    }
    let found: Vec<Permit> = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("the list cannot be read: {error}")))?;
    found.into_iter().next().map(granted).transpose()
}

fn request(args: Args, context: &tool::Context) -> Result<Output<Permit>, Error> {
    if args.plate.trim().is_empty() || args.route.is_empty() {
        return Err(Error::invalid_input("a permit needs a plate and a route"));
    }
    if !(40..=500).contains(&args.tonnes) {
        return Err(Error::invalid_input(format!("{} tonnes need no permit or cannot have one", args.tonnes)));
    }
    let key = context.external_key();
    let body = json!({ "plate": args.plate, "route": args.route, "tonnes": args.tonnes, "reference": key });
    let response = http::Request::post(PERMITS)
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .timeout(context.timeout().mul_f32(0.5))
        .body(body.to_string())
        .send()?;
    let said = format!("the office answered {}", response.status());
    match response.status() {
        200 | 201 => serde_json::from_slice(response.body())
            .map_err(|error| Error::schema_validation_failed(format!("the permit cannot be read: {error}")))
            .and_then(granted),
        409 => find(key).map_err(Error::applied_unknown)?.ok_or_else(|| Error::policy_denied(said)),
        401 | 403 => Err(Error::auth_forbidden(said)),
        429 => Err(Error::rate_limit(said).retry_after(Duration::from_secs(30))),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Err(Error::invalid_input(said)),
        _ => Err(Error::temporary_provider_error(said)),
    }
}

fn reconcile(_: Args, key: &str) -> Result<Verdict<Output<Permit>>, Error> {
    Ok(match find(key)? {
        Some(output) => Verdict::Happened(output),
        None => Verdict::DidNotHappen,
    })
}

/// Gives the permit back, as long as the office has it.
fn compensate(_: Args, permit: Permit, _: &str) -> Result<Output<()>, Error> {
    let place = format!("{PERMITS}/{}", permit.id);
    let response = http::Request::new("DELETE", &place).timeout(Duration::from_secs(20)).send()?;
    let said = format!("permit {}: the office answered {}", permit.id, response.status());
    match response.status() {
        200 | 204 => Ok(Output::new(()).change(Change::new("permit", &permit.id, "delete").external_ref(place))),
        401 | 403 => Err(Error::auth_forbidden(said)),
        429 => Err(Error::rate_limit(said)),
        400 | 404 | 405 | 409 | 410 | 412 | 422 => Err(Error::policy_denied(said)),
        _ => Err(Error::temporary_provider_error(said)),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Permit.Request", request)
            .describe("Requests the escort permit of a heavy transport.")
            .effects([Effect::ExternalWrite])
            .idempotent_by_key(Duration::from_secs(2 * 86_400))
            .settles_within(Duration::from_secs(60))
            .reconcile(reconcile)
            .compensate(compensate),
    ],
    exports: [reconcile, compensate],
}
