//! Sets and clears the nameplates of the lockers in a depot.

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, kv};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const LOCKER_MAX: usize = 20;
const NAME_MAX: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Plate {
    /// Number of the locker, such as `B-12`.
    locker: String,
    name: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Locker {
    locker: String,
}

#[derive(Serialize, JsonSchema)]
struct Set {
    locker: String,
    name: String,
}

#[derive(Serialize, JsonSchema)]
struct Cleared {
    /// True if the locker had a nameplate.
    cleared: bool,
}

/// The number of a locker as it is on the door: in capital letters.
fn door(locker: &str) -> Result<String, Error> {
    let locker = locker.trim();
    if locker.is_empty() || locker.len() > LOCKER_MAX {
        return Err(Error::invalid_input(format!("a locker has a number of 1 to {LOCKER_MAX} bytes")));
    }
    Ok(locker.to_ascii_uppercase())
}

fn entry(door: &str) -> String {
    format!("plate/{door}")
}

fn set(plate: Plate, _: &tool::Context) -> Result<Output<Set>, Error> {
    let locker = door(&plate.locker)?;
    let name = plate.name.trim().to_owned();
    if name.is_empty() || name.len() > NAME_MAX {
        return Err(Error::invalid_input(format!("a nameplate has 1 to {NAME_MAX} bytes")));
    }
    kv::set(&entry(&locker), name.as_bytes())?;
    let change = Change::new("nameplate", &locker, "update").version(&name);
    Ok(Output::new(Set { locker, name }).change(change))
}

fn clear(locker: Locker, _: &tool::Context) -> Result<Output<Cleared>, Error> {
    let cleared = kv::delete(&entry(&door(&locker.locker)?))?;
    let output = Output::new(Cleared { cleared });
    // An empty locker stays as it is.
    Ok(if cleared { output.change(Change::new("nameplate", locker.locker.trim(), "delete")) } else { output })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let found = kv::get(&entry(&door(&change.resource_id)?))?;
    Ok(match (found, change.operation.as_str()) {
        (None, "delete") => Finding::Confirmed,
        (None, _) => Finding::Mismatch("the locker has no nameplate".into()),
        (Some(_), "delete") => Finding::Mismatch("the locker has a nameplate".into()),
        (Some(name), _) => Finding::compare(change.version.as_deref(), &String::from_utf8_lossy(&name)),
    })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Nameplate.Set", set)
            .describe("Sets the nameplate of a locker.")
            .effects([Effect::InternalWrite])
            .verify(verify),
        tool::operator("Nameplate.Clear", clear)
            .describe("Removes the nameplate of a locker.")
            .effects([Effect::InternalWrite])
            .verify(verify),
    ],
    exports: [verify],
}
