//! `Ensign.Hoist`: tells the controller of a flagpole which ensign to fly. `verify` asks what flies now.

use std::time::Duration;

use latchwork_guest::http::Request;
use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const SERVER: &str = "https://poles.example";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    /// Number of the pole.
    #[schemars(range(min = 1, max = 40))]
    pole: u32,
    ensign: Ensign,
    #[serde(default)]
    half_mast: bool,
}

#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Ensign {
    Country,
    Harbour,
    Pilot,
    Quarantine,
    None,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Hoisted {
    pole: u32,
    flies: String,
}

#[derive(Deserialize)]
struct State {
    flies: String,
}

fn address(pole: &str) -> String {
    format!("{SERVER}/poles/{pole}")
}

fn hoist(order: Order, context: &tool::Context) -> Result<Output<Hoisted>, Error> {
    let ensign = match order.ensign {
        Ensign::Country => "country",
        Ensign::Harbour => "harbour",
        Ensign::Pilot => "pilot",
        Ensign::Quarantine => "quarantine",
        Ensign::None => "none",
    };
    let flies = if order.half_mast { format!("{ensign}/half") } else { ensign.to_owned() };
    let pole = order.pole.to_string();
    let response = Request::new("PUT", &address(&pole))
        .header("content-type", "application/json")
        .body(json!({ "flies": flies, "order": context.external_key() }).to_string())
        .timeout(Duration::from_secs(8))
        .send()?;
    match response.status() {
        200..=299 => {
            let change = Change::new("flagpole", &pole, "update").version(flies.as_str()).external_ref(address(&pole));
            Ok(Output::new(Hoisted { pole: order.pole, flies }).change(change))
        }
        401 | 403 => Err(Error::auth_forbidden("the controller refused us")),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => {
            Err(Error::invalid_input(format!("no pole {pole}, or no such ensign")))
        }
        429 => Err(Error::rate_limit("the winch is hot")),
        status => Err(Error::temporary_provider_error(format!("the controller answered {status}"))),
    }
}

fn flies_still(change: &Change) -> Result<Finding, Error> {
    let response = Request::get(&address(&change.resource_id)).timeout(Duration::from_secs(8)).send()?;
    if response.status() != 200 {
        return Ok(Finding::Mismatch(format!("pole {} shows nothing: {}", change.resource_id, response.status())));
    }
    let state: State = serde_json::from_slice(response.body())
        .map_err(|error| Error::temporary_provider_error(format!("unreadable state: {error}")))?;
    Ok(Finding::compare(change.version.as_deref(), &state.flies))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Ensign.Hoist", hoist)
            .describe("Hoists an ensign on a pole.")
            .effects([Effect::ExternalWrite])
            .verify(flies_still),
    ],
    exports: [verify],
}
