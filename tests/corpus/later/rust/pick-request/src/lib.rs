use std::time::Duration;

use latchwork_guest::serde_json::json;
use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const PICKS: &str = "https://warehouse.example/picks";
const NOTES: &str = "https://warehouse.example/notes";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pick {
    shelf: String,
    count: u32,
    note: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Requested {
    pick: String,
}

fn send(url: &str, body: String) -> Result<(), Error> {
    let response = http::Request::post(url)
        .header("content-type", "application/json")
        .timeout(Duration::from_secs(5))
        .body(body)
        .send()?;
    match response.status() {
        200..300 => Ok(()),
        429 => Err(Error::rate_limit("the warehouse limits the rate")),
        status @ (400..=407 | 410 | 413..=499) => Err(Error::invalid_input(format!("refused with status {status}"))),
        status => Err(Error::temporary_provider_error(format!("the warehouse answered with status {status}"))),
    }
}

fn request(pick: Pick, context: &tool::Context) -> Result<Output<Requested>, Error> {
    if pick.count == 0 {
        return Err(Error::invalid_input("nothing is to be picked"));
    }
    let key = context.external_key();
    let name = key.replace(':', ".").replace('/', "+");
    send(PICKS, json!({ "name": name, "shelf": pick.shelf, "count": pick.count }).to_string())?;
    if let Some(note) = pick.note {
        // The pick exists from here on, so the outcome of the call is unknown if the note fails.
        send(NOTES, json!({ "pick": name, "text": note }).to_string())
            .map_err(|error| error.context("note").applied_unknown())?;
    }
    Ok(Output::new(Requested { pick: name.clone() })
        .receipt(json!({ "pick": &name }))
        .change(Change::new("pick", name, "create")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Pick.Request", request)
            .describe("Requests a pick from a shelf of the warehouse, with a note if there is one.")
            .effects([Effect::ExternalWrite]),
    ],
}
