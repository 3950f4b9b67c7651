//! Issues short permits for the loading bays of a market.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, kv, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Request {
    bay: String,
    plate: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Permit {
    bay: String,
    plate: String,
    /// End of the permit, in seconds since 1970.
    until: i64,
}

/// A permit lasts for the unloading of one van.
const MINUTES: i64 = 20;

fn stored(entry: &str) -> Result<Option<Permit>, Error> {
    let Some(bytes) = kv::get(entry)? else { return Ok(None) };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| Error::policy_denied(format!("{entry} is no permit: {error}")))
}

fn issue(request: Request, context: &tool::Context) -> Result<Output<Permit>, Error> {
    if request.bay.is_empty() || request.plate.is_empty() || request.bay.len() + request.plate.len() > 100 {
        return Err(Error::invalid_input("a permit needs a bay and a plate of at most 100 bytes together"));
    }
    let now = wall::now().seconds;
    let entry = format!("permit/{}", context.external_key());
    if let Some(permit) = stored(&entry)?
        && permit.until > now
    {
        return Ok(output(permit, &entry));
    }
    let permit = Permit { bay: request.bay, plate: request.plate, until: now + MINUTES * 60 };
    let text = serde_json::to_vec(&permit).map_err(|error| Error::invalid_input(error.to_string()))?;
    kv::set(&entry, &text)?;
    Ok(output(permit, &entry))
}

fn output(permit: Permit, entry: &str) -> Output<Permit> {
    let change = Change::new("permit", entry, "create").version(permit.until.to_string());
    Output::new(permit).change(change)
}

latchwork_guest::export_tool! {
    version: "0.1.0",
    operators: [
        tool::operator("Bay.Issue", issue)
            .describe("Issues a permit for a loading bay.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(24 * 3600)),
    ],
}
