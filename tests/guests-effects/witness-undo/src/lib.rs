//! A tool that undoes what it did: one file for each booking, and one for each time it was undone.

use latchwork_guest::fs;
use latchwork_guest::tool::{Change, Output};
use latchwork_guest::{Effect, Error, tool, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where the files go.
const DIRECTORY: &str = "/effects";
/// While this is there, nothing can be undone.
const CLOSED: &str = "/switch/closed";

#[derive(Debug, Deserialize, JsonSchema)]
struct Booking {
    /// Anything: it is kept in the file.
    #[serde(default)]
    note: Value,
    /// Refuse it, and do nothing.
    #[serde(default)]
    refuse: bool,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Booked {
    /// The file that was left.
    file: String,
}

/// What a compensating tool is called with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Undo {
    operator: String,
    external_key: String,
    args: Value,
    result: Booked,
    receipt: Value,
}

fn make(booking: Booking, context: &tool::Context) -> Result<Output<Booked>, Error> {
    if booking.refuse {
        return Err(Error::policy_denied("not this one"));
    }
    let key = context.external_key();
    let file = leave("made", key, &format!("{key}\n{}", booking.note))?;
    let receipt = serde_json::json!({ "booked": key });
    Ok(Output::new(Booked { file }).receipt(receipt).change(Change::new("booking", key, "create")))
}

/// The plugin's own undoing of a booking.
fn undo(_: Booking, booked: Booked, key: &str) -> Result<Output<Booked>, Error> {
    withdraw(key, &booked)
}

/// The undoing of a booking as an operator of its own.
fn cancel(undo: Undo, _: &tool::Context) -> Result<Output<Booked>, Error> {
    if undo.operator != "Booking.Make" || undo.receipt["booked"] != undo.external_key.as_str() {
        return Err(Error::invalid_input(format!("no booking: {} with {}", undo.operator, undo.args)));
    }
    withdraw(&undo.external_key, &undo.result)
}

fn withdraw(key: &str, booked: &Booked) -> Result<Output<Booked>, Error> {
    if fs::exists(CLOSED).map_err(|error| Error::from(error).not_applied())? {
        return Err(Error::policy_denied("the office is closed"));
    }
    // Who undoes has a key of its own beside that of what is undone.
    let own = tool::Context::default();
    let file = leave("undone", key, &format!("{}\n{}", own.external_key(), booked.file))?;
    Ok(Output::new(Booked { file }).change(Change::new("booking", key, "delete")))
}

fn leave(what: &str, key: &str, content: &str) -> Result<String, Error> {
    let unique: String = wall::random(8).iter().map(|byte| format!("{byte:02x}")).collect();
    let safe: String = key.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let file = format!("{what}.{safe}.{unique}");
    fs::create_new(&format!("{DIRECTORY}/{file}"), content.as_bytes())?;
    Ok(file)
}

latchwork_guest::export_tool! {
    version: "1.0.0",
    operators: [
        tool::operator("Booking.Make", make)
            .describe("Leaves a file, and can undo that by leaving another.")
            .effects([Effect::InternalWrite])
            .compensate(undo),
        tool::operator("Booking.Keep", make)
            .describe("Leaves a file that nothing takes back.")
            .effects([Effect::InternalWrite]),
        tool::operator("Booking.Cancel", cancel)
            .describe("Undoes a booking.")
            .effects([Effect::InternalWrite]),
    ],
    exports: [compensate],
}
