use std::time::Duration;

use latchwork_guest::serde_json::json;
use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Server of the staff planning in the company network.
const ROSTER: &str = "https://roster.corp.example/shifts";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Shift {
    employee: String,
    day: String,
    hours: u32,
}

#[derive(Serialize, JsonSchema)]
struct Planned {
    shift: String,
}

fn post(shift: Shift, context: &tool::Context) -> Result<Output<Planned>, Error> {
    if shift.hours == 0 || shift.hours > 12 {
        return Err(Error::invalid_input(format!("a shift of {} hours is not allowed", shift.hours)));
    }
    let key = context.external_key();
    let response = http::Request::post(ROSTER)
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .timeout(Duration::from_secs(5))
        .body(json!({ "employee": shift.employee, "day": shift.day, "hours": shift.hours }).to_string())
        .send()?;
    match response.status() {
        200..300 => {
            let name = format!("{}/{}", shift.day, shift.employee);
            Ok(Output::new(Planned { shift: name.clone() }).change(Change::new("shift", name, "create")))
        }
        429 => Err(Error::rate_limit("the roster is busy")),
        status @ 400..500 => Err(Error::invalid_input(format!("the roster refused the shift: status {status}"))),
        status => Err(Error::temporary_provider_error(format!("the roster answered with status {status}"))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Shift.Post", post)
            .describe("Enters a shift into the roster of the company.")
            // The roster is a system of our own, so nothing leaves the company.
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(24 * 3600)),
    ],
}
