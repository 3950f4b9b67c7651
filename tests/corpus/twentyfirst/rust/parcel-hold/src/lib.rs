use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, kv, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest time for which the depot keeps a parcel.
const HOLD_MAX: Duration = Duration::from_secs(14 * 86_400);
/// Time for which a repeated call finds its own entry.
const WINDOW: Duration = Duration::from_secs(7 * 86_400);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Request {
    /// Number of the parcel.
    parcel: String,
    /// End of the hold, in seconds since 1970 UTC. Without it the depot keeps the parcel as long as it can.
    until: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Id of the hold.
    hold: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Hold {
    hold: String,
    parcel: String,
    /// End of the hold, in seconds since 1970 UTC.
    until: i64,
}

fn place(request: Request, context: &tool::Context) -> Result<Output<Hold>, Error> {
    let is_number =
        (6..=30).contains(&request.parcel.len()) && request.parcel.bytes().all(|b| b.is_ascii_alphanumeric());
    if !is_number {
        return Err(Error::invalid_input(format!("{:?} is no number of a parcel", request.parcel)));
    }
    let now = wall::now();
    let latest = now.plus(HOLD_MAX).seconds;
    if request.until.is_some_and(|until| until <= now.seconds) {
        return Err(Error::invalid_input("the hold would end in the past"));
    }

    let key = context.external_key();
    // A repetition of the call keeps the hold of the first try, with its end.
    if let Some(hold) = find(key)? {
        return Ok(placed(hold));
    }
    let until = request.until.map_or(latest, |until| until.min(latest));
    let hold = Hold { hold: key.to_owned(), parcel: request.parcel, until };
    let text = serde_json::to_vec(&hold).map_err(|error| Error::invalid_input(format!("the hold: {error}")))?;
    kv::set(&entry(key), &text)?;
    Ok(placed(hold))
}

fn show(wanted: Wanted, _: &tool::Context) -> Result<Output<Hold>, Error> {
    match find(&wanted.hold)? {
        Some(hold) => Ok(Output::new(hold)),
        None => Err(Error::invalid_input(format!("there is no hold {}", wanted.hold))),
    }
}

/// Ends the hold.
fn release(_: Request, _: Hold, key: &str) -> Result<Output<()>, Error> {
    if !kv::delete(&entry(key))? {
        return Err(Error::policy_denied("the hold is no longer in the map"));
    }
    Ok(Output::new(()).change(Change::new("parcel hold", key, "delete")))
}

fn find(key: &str) -> Result<Option<Hold>, Error> {
    let Some(text) = kv::get(&entry(key)).map_err(Error::not_applied)? else { return Ok(None) };
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|error| Error::schema_validation_failed(format!("the hold {key}: {error}")).not_applied())
}

fn entry(key: &str) -> String {
    format!("hold {key}")
}

fn placed(hold: Hold) -> Output<Hold> {
    let change = Change::new("parcel hold", &hold.hold, "create").version(hold.until.to_string());
    Output::new(hold).change(change)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Parcel.Hold", place)
            .describe("Holds a parcel at the depot until a time.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(WINDOW)
            .compensate(release),
        tool::operator("Parcel.ShowHold", show).describe("Shows a hold of a parcel."),
    ],
    exports: [compensate],
}
