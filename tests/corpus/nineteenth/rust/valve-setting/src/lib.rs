//! `Valve.Set`, `Valve.Rest` and `Valve.Show`: the settings of the irrigation valves of a garden.

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, kv};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest number of a valve.
const VALVES: u16 = 400;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Opening {
    valve: u16,
    /// Opening of the valve: 0 is shut and 100 is wide open.
    percent: u8,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    valve: u16,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Setting {
    valve: u16,
    /// Opening of the valve. It is null if the valve was never set.
    percent: Option<u8>,
}

/// Sets a valve. The controller in the garden follows the map.
fn set(opening: Opening, _: &tool::Context) -> Result<Output<Setting>, Error> {
    let entry = entry(opening.valve)?;
    if opening.percent > 100 {
        return Err(Error::invalid_input(format!("{} percent are more than wide open", opening.percent)));
    }
    kv::set(&entry, opening.percent.to_string().as_bytes())?;
    let change = Change::new("valve", opening.valve.to_string(), "update").version(opening.percent.to_string());
    Ok(Output::new(Setting { valve: opening.valve, percent: Some(opening.percent) }).change(change))
}

/// Shuts a valve for the night.
fn rest(which: Which, _: &tool::Context) -> Result<Output<Setting>, Error> {
    let entry = entry(which.valve)?;
    if kv::get(&entry)?.is_none() {
        return Err(Error::invalid_input(format!("valve {} was never set", which.valve)));
    }
    kv::set(&entry, b"0")?;
    Ok(Output::new(Setting { valve: which.valve, percent: Some(0) }))
}

/// Returns the present setting of a valve.
fn show(which: Which, _: &tool::Context) -> Result<Output<Setting>, Error> {
    let percent = read(&entry(which.valve)?)?;
    Ok(Output::new(Setting { valve: which.valve, percent }))
}

/// Checks that a valve still has the opening of the change.
fn verify(change: &Change) -> Result<Finding, Error> {
    let valve = change.resource_id.parse().map_err(|_| Error::invalid_input("the change names no valve"))?;
    Ok(match read(&entry(valve)?)? {
        Some(percent) => Finding::compare(change.version.as_deref(), &percent.to_string()),
        None => Finding::Mismatch(format!("valve {valve} has no setting")),
    })
}

fn read(entry: &str) -> Result<Option<u8>, Error> {
    let Some(bytes) = kv::get(entry)? else { return Ok(None) };
    let percent = std::str::from_utf8(&bytes).ok().and_then(|text| text.parse().ok());
    match percent {
        Some(percent) => Ok(Some(percent)),
        None => Err(Error::dependency_unavailable(format!("the entry {entry} is damaged")).not_applied()),
    }
}

/// Returns the key of a valve in the map.
fn entry(valve: u16) -> Result<String, Error> {
    if valve == 0 || valve > VALVES {
        return Err(Error::invalid_input(format!("the garden has the valves 1 to {VALVES}, and no valve {valve}")));
    }
    Ok(format!("valve/{valve}"))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Valve.Set", set)
            .describe("Sets the opening of an irrigation valve.")
            .effects([Effect::InternalWrite])
            .verify(verify),
        tool::operator("Valve.Rest", rest)
            .describe("Shuts an irrigation valve for the night.")
            .effects([Effect::InternalWrite]),
        tool::operator("Valve.Show", show).describe("Returns the opening of an irrigation valve."),
    ],
    exports: [verify],
}
