//! Orders a courier that fetches samples for the laboratory.

use std::time::Duration;

use latchwork_guest::http::Request;
use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const PICKUPS: &str = "https://courier.example/v2/pickups";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Samples {
    clinic: String,
    boxes: u32,
    #[serde(default)]
    cooled: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Pickup {
    pickup: String,
    window: String,
}

fn request(samples: Samples, context: &tool::Context) -> Result<Output<Pickup>, Error> {
    if samples.boxes == 0 || samples.boxes > 40 {
        return Err(Error::invalid_input("a courier takes 1 to 40 boxes"));
    }
    let token = secrets::get("COURIER_TOKEN")?;
    let body = json!({
        "from": samples.clinic,
        "boxes": samples.boxes,
        "cooled": samples.cooled,
        "remark": context.external_key(),
    });
    let response = Request::post(PICKUPS)
        .header("authorization", &format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(body.to_string())
        .timeout(Duration::from_secs(15))
        .send()?;
    match response.status() {
        200..=299 => {
            let pickup: Pickup = serde_json::from_slice(response.body())
                .map_err(|error| Error::schema_validation_failed(format!("answer of the courier: {error}")))?;
            let change = Change::new("pickup", &pickup.pickup, "create");
            Ok(Output::new(pickup).change(change))
        }
        // The courier is overloaded in the morning and asks for patience.
        429 | 503 => {
            let wait = response.header("retry-after").and_then(|text| text.parse().ok()).unwrap_or(30);
            Err(Error::rate_limit("the courier is busy").retry_after(Duration::from_secs(wait)))
        }
        401 | 403 => Err(Error::auth_forbidden("the courier refused the token")),
        400 | 404 | 422 => Err(Error::invalid_input(response.text())),
        status => Err(Error::temporary_provider_error(format!("the courier answered {status}"))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Courier.Request", request)
            .describe("Orders a courier for samples.")
            .effects([Effect::ExternalWrite]),
    ],
    exports: [],
}
