use std::time::Duration;

use latchwork_guest::serde_json::{Value, from_slice, json};
use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Switch {
    flag: String,
    value: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Switched {
    flag: String,
}

fn url(flag: &str) -> String {
    format!("https://flags.example/flags/{flag}")
}

fn switch(order: Switch, _: &tool::Context) -> Result<Output<Switched>, Error> {
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    if !is_name(&order.flag) {
        return Err(Error::invalid_input(format!("{:?} is not the name of a flag", order.flag)));
    }
    let response = http::Request::new("PUT", &url(&order.flag))
        .header("content-type", "application/json")
        .timeout(Duration::from_secs(5))
        .body(json!({ "value": order.value }).to_string())
        .send()?;
    match response.status() {
        200..300 => {}
        429 => return Err(Error::rate_limit("the flag service limits the rate")),
        status @ 400..500 => return Err(Error::invalid_input(format!("refused with status {status}"))),
        status => {
            return Err(Error::temporary_provider_error(format!("the flag service answered with status {status}")));
        }
    }
    let change = Change::new("flag", &order.flag, "update").version(order.value);
    Ok(Output::new(Switched { flag: order.flag }).change(change))
}

/// Called when a job is resumed: checks whether the flag still has the value.
fn verify(change: &Change) -> Result<Finding, Error> {
    let response = http::Request::get(&url(&change.resource_id)).timeout(Duration::from_secs(5)).send()?;
    if response.status() != 200 {
        return Ok(Finding::Mismatch(format!("flag {}: status {}", change.resource_id, response.status())));
    }
    let flag: Value = from_slice(response.body()).map_err(|e| Error::schema_validation_failed(e.to_string()))?;
    Ok(Finding::compare(change.version.as_deref(), flag["value"].as_str().unwrap_or_default()))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Flag.Switch", switch)
            .describe("Sets the value of a feature flag.")
            .effects([Effect::ExternalWrite])
            .verify(verify),
    ],
    exports: [verify],
}
