//! Slips of a boathouse: a member may take a boat as long as a slip for it is in the folder `/slips`.

use std::time::Duration;

use latchwork_guest::tool::{self, Output};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Folder of the slips. The warden's screen shows its files.
const SLIPS: &str = "/slips";
/// End of the name of each slip.
const END: &str = ".json";

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Slip {
    boat: String,
    member: String,
    /// Hours for which the boat may be taken.
    hours: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Issued {
    /// Name of the slip.
    slip: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Boat {
    boat: String,
}

#[derive(Serialize, JsonSchema)]
struct Open {
    /// Names of the slips of the boat, in order.
    slips: Vec<String>,
}

fn path(slip: &str) -> String {
    format!("{SLIPS}/{slip}{END}")
}

/// Puts a slip into the folder. The name of the slip comes from the key of the call.
fn issue(slip: Slip, context: &tool::Context) -> Result<Output<Issued>, Error> {
    if slip.boat.trim().is_empty() || slip.member.trim().is_empty() {
        return Err(Error::invalid_input("boat and member: not empty"));
    }
    if !(1..=72).contains(&slip.hours) {
        return Err(Error::invalid_input("hours: 1 to 72"));
    }
    let key = context.external_key();
    let name = key.replace([':', '/'], ".");
    let text = serde_json::to_vec(&slip).map_err(|error| Error::invalid_input(error.to_string()))?;
    fs::replace(&path(&name), &text, key)?;
    Ok(Output::new(Issued { slip: name }))
}

/// Takes a slip out of the folder, such as for a boat that leaks.
fn withdraw(issued: Issued, _: &tool::Context) -> Result<Output<Slip>, Error> {
    let name = &issued.slip;
    if name.is_empty() || name.starts_with('.') || name.contains('/') {
        return Err(Error::invalid_input("slip: no name of a slip"));
    }
    let file = path(name);
    let slip = read(&file)?;
    fs::remove(&file)?;
    Ok(Output::new(slip))
}

/// Lists the open slips of a boat.
fn list(boat: Boat, _: &tool::Context) -> Result<Output<Open>, Error> {
    let mut slips = Vec::new();
    for entry in fs::list(SLIPS)? {
        let Some(name) = entry.name.strip_suffix(END) else {
            continue;
        };
        if entry.kind != fs::Kind::File {
            continue;
        }
        let file = path(name);
        match read(&file) {
            Ok(slip) if slip.boat == boat.boat => slips.push(name.to_owned()),
            Ok(_) => {}
            // A slip that was withdrawn meanwhile is left out.
            Err(error) if fs::exists(&file)? => return Err(error),
            Err(_) => {}
        }
    }
    Ok(Output::new(Open { slips }))
}

fn read(file: &str) -> Result<Slip, Error> {
    let text = fs::read_up_to(file, 64 * 1024)?;
    serde_json::from_slice(&text)
        .map_err(|error| Error::schema_validation_failed(format!("{file} is no slip: {error}")).not_applied())
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Slip.Issue", issue)
            .describe("Issues a slip for a boat.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(7 * 86_400)),
        tool::operator("Slip.Withdraw", withdraw)
            .describe("Withdraws a slip.")
            .effects([Effect::InternalWrite]),
        tool::operator("Slip.List", list)
            .describe("Lists the open slips of a boat.")
            .effects([Effect::ReadOnly]),
    ],
}
