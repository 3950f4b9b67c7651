//! Sets the misting program of a zone of a greenhouse. The controller reads the files of the folder.

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    zone: String,
    seconds: u32,
    every_minutes: u32,
}

#[derive(Serialize, Deserialize)]
struct Program {
    seconds: u32,
    every_minutes: u32,
    /// Call that set the program.
    set_by: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Set {
    zone: String,
}

fn file(zone: &str) -> Result<String, Error> {
    if zone.is_empty() || zone.len() > 40 || !zone.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(Error::invalid_input("the name of a zone has 1 to 40 letters and digits"));
    }
    Ok(format!("/programs/{zone}.json"))
}

fn read(file: &str) -> Result<Option<Program>, Error> {
    match fs::read(file) {
        Ok(content) => serde_json::from_slice(&content)
            .map(Some)
            .map_err(|error| Error::dependency_unavailable(format!("{file}: {error}")).not_applied()),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn set(wanted: Wanted, context: &tool::Context) -> Result<Output<Set>, Error> {
    let file = file(&wanted.zone)?;
    if wanted.every_minutes == 0 || wanted.seconds > wanted.every_minutes.saturating_mul(60) {
        return Err(Error::invalid_input("the program has no pause"));
    }
    let key = context.external_key();
    let program = Program { seconds: wanted.seconds, every_minutes: wanted.every_minutes, set_by: key.to_owned() };
    let content = serde_json::to_vec(&program).map_err(|error| Error::invalid_input(error.to_string()))?;
    fs::replace(&file, &content, key)?;
    let change = Change::new("program", &wanted.zone, "update").version(key).external_ref(file);
    Ok(Output::new(Set { zone: wanted.zone }).change(change))
}

fn take_back(wanted: Wanted, _: Set, key: &str) -> Result<Output<()>, Error> {
    let file = file(&wanted.zone)?;
    match read(&file)? {
        Some(program) if program.set_by == key => fs::remove(&file)?,
        Some(_) => return Err(Error::policy_denied("the zone has another program by now")),
        None => return Err(Error::policy_denied("the zone has no program any more")),
    }
    Ok(Output::new(()).change(Change::new("program", &wanted.zone, "delete")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Mist.Program", set)
            .describe("Sets the misting program of a zone.")
            .effects([Effect::InternalWrite])
            .compensate(take_back),
    ],
    exports: [compensate],
}
