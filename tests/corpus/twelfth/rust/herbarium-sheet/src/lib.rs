//! `Sheet.Mount`: files the sheet of a pressed plant.

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Plant {
    species: String,
    locality: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Mounted {
    file: String,
    mounted_at: String,
}

/// Content of a file.
#[derive(Serialize, Deserialize)]
struct Sheet {
    species: String,
    locality: String,
    mounted_at: String,
}

/// No key has a dot or a plus sign, so different calls have different files.
fn file(key: &str) -> String {
    format!("/herbarium/{}.json", key.replace(':', ".").replace('/', "+"))
}

fn text(sheet: &Sheet) -> Result<String, Error> {
    serde_json::to_string(sheet).map_err(|error| Error::invalid_input(format!("the sheet is not JSON: {error}")))
}

fn mounted(sheet: Sheet, text: &str, key: &str) -> Output<Mounted> {
    let file = file(key);
    let change = Change::new("sheet", key, "create").external_ref(&file).version(text);
    Output::new(Mounted { file, mounted_at: sheet.mounted_at }).change(change)
}

fn mount(plant: Plant, context: &tool::Context) -> Result<Output<Mounted>, Error> {
    if plant.species.trim().is_empty() {
        return Err(Error::invalid_input("the plant has no name"));
    }
    let key = context.external_key();
    let sheet = Sheet { species: plant.species, locality: plant.locality, mounted_at: wall::now().to_string() };
    let text = text(&sheet)?;
    fs::replace(&file(key), text.as_bytes(), key)?;
    Ok(mounted(sheet, &text, key))
}

/// Called after a crash. The time comes from the file, because the clock has moved on.
fn find(_: Plant, key: &str) -> Result<Verdict<Output<Mounted>>, Error> {
    let content = match fs::read(&file(key)) {
        Ok(content) => content,
        Err(error) if error.kind() == fs::ErrorKind::NotFound => return Ok(Verdict::DidNotHappen),
        Err(error) => return Err(error.into()),
    };
    match serde_json::from_slice(&content) {
        Ok(sheet) => Ok(Verdict::Happened(mounted(sheet, &String::from_utf8_lossy(&content), key))),
        Err(_) => Ok(Verdict::Unknown),
    }
}

fn verify(change: &Change) -> Result<Finding, Error> {
    match fs::read(change.external_ref.as_deref().unwrap_or_default()) {
        Ok(found) => Ok(Finding::compare(change.version.as_deref(), &String::from_utf8_lossy(&found))),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(Finding::Mismatch("the sheet is missing".into())),
        Err(error) => Err(error.into()),
    }
}

fn take_down(plant: Plant, done: Mounted, key: &str) -> Result<Output<()>, Error> {
    let path = file(key);
    let found = match fs::read(&path) {
        Ok(found) => found,
        Err(error) if error.kind() == fs::ErrorKind::NotFound => {
            return Err(Error::policy_denied("the sheet is no longer there"));
        }
        Err(error) => return Err(error.into()),
    };
    let sheet = Sheet { species: plant.species, locality: plant.locality, mounted_at: done.mounted_at };
    if found != text(&sheet)?.as_bytes() {
        return Err(Error::policy_denied("the sheet was changed after it was filed"));
    }
    fs::remove(&path)?;
    Ok(Output::new(()).change(Change::new("sheet", key, "delete").external_ref(path)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Sheet.Mount", mount)
            .describe("Files the sheet of a pressed plant.")
            .effects([Effect::InternalWrite])
            .reconcile(find)
            .verify(verify)
            .compensate(take_down),
    ],
    exports: [reconcile, verify, compensate],
}
