//! Tool that can undo its own effect. It creates one file per booking and one file per undo.

use latchwork_guest::fs;
use latchwork_guest::tool::{Change, Output};
use latchwork_guest::{Effect, Error, tool, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Directory of the files.
const DIRECTORY: &str = "/effects";
/// File that disables undo while it exists.
const CLOSED: &str = "/switch/closed";

#[derive(Debug, Deserialize, JsonSchema)]
struct Booking {
    /// JSON value to store in the file.
    #[serde(default)]
    note: Value,
    /// Refuses the booking without any effect.
    #[serde(default)]
    refuse: bool,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Booked {
    /// Name of the file that was created.
    file: String,
}

/// Arguments of a compensating call.
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

/// Compensation that the plugin exports for its own booking.
fn undo(_: Booking, booked: Booked, key: &str) -> Result<Output<Booked>, Error> {
    withdraw(key, &booked)
}

/// Operator that undoes a booking. A plan can name this operator as the compensation of the booking.
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
    // The key of the compensating call differs from the key of the call that is undone.
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
            .describe("Creates a file. Its compensation creates another file.")
            .effects([Effect::InternalWrite])
            .compensate(undo),
        tool::operator("Booking.Keep", make)
            .describe("Creates a file without a compensation.")
            .effects([Effect::InternalWrite]),
        tool::operator("Booking.Cancel", cancel)
            .describe("Undoes a booking.")
            .effects([Effect::InternalWrite]),
    ],
    exports: [compensate],
}
