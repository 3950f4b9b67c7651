//! Register of burgees, the flags of yachts. Each entry is under the key of the call that entered it.

use std::time::Duration;

use latchwork_guest::tool::{self, Output};
use latchwork_guest::{Effect, Error, kv, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time for which a repeated call finds the entry of its first try. Entries are never deleted.
const WINDOW: Duration = Duration::from_secs(30 * 86_400);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Burgee {
    yacht: String,
    owner: String,
    /// Colours from the hoist to the fly.
    colours: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// Number of the entry, as `Burgee.Enter` returned it.
    entry: String,
}

/// An entry of the register.
#[derive(Serialize, Deserialize)]
struct Entry {
    yacht: String,
    owner: String,
    colours: Vec<String>,
    entered_at: String,
    struck: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct State {
    entry: String,
    yacht: String,
    entered_at: String,
    /// True if the yacht no longer flies the burgee.
    struck: bool,
}

fn place(entry: &str) -> String {
    format!("burgee/{entry}")
}

/// Returns an entry of the register, if there is one.
fn read(entry: &str) -> Result<Option<Entry>, Error> {
    let Some(text) = kv::get(&place(entry))? else {
        return Ok(None);
    };
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|error| Error::schema_validation_failed(format!("{entry} is damaged: {error}")).not_applied())
}

fn write(number: &str, entry: &Entry) -> Result<(), Error> {
    let text = serde_json::to_vec(entry).map_err(|error| Error::invalid_input(error.to_string()))?;
    kv::set(&place(number), &text)
}

fn state(number: &str, entry: Entry) -> Output<State> {
    let Entry { yacht, entered_at, struck, .. } = entry;
    Output::new(State { entry: number.to_owned(), yacht, entered_at, struck })
}

fn enter(burgee: Burgee, context: &tool::Context) -> Result<Output<State>, Error> {
    if burgee.yacht.trim().is_empty() || burgee.owner.trim().is_empty() {
        return Err(Error::invalid_input("yacht and owner: not empty"));
    }
    if !(1..=6).contains(&burgee.colours.len()) {
        return Err(Error::invalid_input("colours: 1 to 6"));
    }
    let number = context.external_key();
    if let Some(entry) = read(number)? {
        return Ok(state(number, entry));
    }
    let Burgee { yacht, owner, colours } = burgee;
    let entry = Entry { yacht, owner, colours, entered_at: wall::now().to_string(), struck: false };
    write(number, &entry)?;
    Ok(state(number, entry))
}

/// Strikes an entry. The entry stays in the register.
fn strike(which: Which, _: &tool::Context) -> Result<Output<State>, Error> {
    let mut entry = known(&which.entry)?;
    if !entry.struck {
        entry.struck = true;
        write(&which.entry, &entry)?;
    }
    Ok(state(&which.entry, entry))
}

fn show(which: Which, _: &tool::Context) -> Result<Output<State>, Error> {
    let entry = known(&which.entry)?;
    Ok(state(&which.entry, entry))
}

fn known(number: &str) -> Result<Entry, Error> {
    if number.is_empty() || number.len() > 128 {
        return Err(Error::invalid_input("entry: 1 to 128 characters"));
    }
    read(number)?.ok_or_else(|| Error::invalid_input(format!("the register has no entry {number}")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Burgee.Enter", enter)
            .describe("Enters a burgee in the register.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(WINDOW),
        tool::operator("Burgee.Strike", strike)
            .describe("Strikes a burgee from the register.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(WINDOW),
        tool::operator("Burgee.Show", show)
            .describe("Shows an entry of the register.")
            .effects([Effect::ReadOnly]),
    ],
}
