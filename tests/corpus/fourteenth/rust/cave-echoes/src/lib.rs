//! `Echo.Record`: computes the distances of the walls of a cave from echoes, and keeps them in a file.

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const FOLDER: &str = "/echoes";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Echoes {
    cave: String,
    /// The temperature of the air decides the speed of sound.
    celsius: f64,
    /// Each delay is the time from the clap to an echo.
    delays_ms: Vec<u32>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Record {
    file: String,
    /// The distances of the walls begin with the nearest one.
    metres: Vec<f64>,
}

#[derive(Serialize)]
struct Removed {
    file: String,
}

fn record(echoes: Echoes, context: &tool::Context) -> Result<Output<Record>, Error> {
    if echoes.cave.trim().is_empty() || echoes.cave.len() > 200 {
        return Err(Error::invalid_input("cave: 1 to 200 bytes"));
    }
    if !(-20.0..=50.0).contains(&echoes.celsius) {
        return Err(Error::invalid_input("celsius: -20 to 50"));
    }
    let delays = &echoes.delays_ms;
    if delays.is_empty() || delays.len() > 2000 || delays.iter().any(|delay| !(1..=10_000).contains(delay)) {
        return Err(Error::invalid_input("delays_ms: 1 to 2000 delays of 1 to 10000 ms"));
    }
    let key = context.external_key();
    fs::replace(&file(key), content(&echoes).as_bytes(), key)?;
    Ok(recorded(&echoes, key))
}

/// The host calls this function after a crash. The file exists as soon as it is complete.
fn reconcile(echoes: Echoes, key: &str) -> Result<Verdict<Output<Record>>, Error> {
    Ok(match fs::exists(&file(key))? {
        true => Verdict::Happened(recorded(&echoes, key)),
        false => Verdict::DidNotHappen,
    })
}

/// Removes the file, unless it was edited since.
fn remove(echoes: Echoes, record: Record, _: &str) -> Result<Output<Removed>, Error> {
    if fs::read(&record.file)? != content(&echoes).as_bytes() {
        return Err(Error::policy_denied(format!("{} was edited since", record.file)));
    }
    fs::remove(&record.file)?;
    let change = Change::new("echo", record.file.clone(), "delete");
    Ok(Output::new(Removed { file: record.file }).change(change))
}

/// Returns the path of the file of a call. Slashes and colons cannot be part of a file name.
fn file(key: &str) -> String {
    format!("{FOLDER}/{}.json", key.replace([':', '/'], "-"))
}

fn metres(echoes: &Echoes) -> Vec<f64> {
    // The speed of sound in dry air is in metres for each millisecond.
    let speed = (331.3 + 0.606 * echoes.celsius) / 1000.0;
    let mut delays = echoes.delays_ms.clone();
    delays.sort_unstable();
    delays.into_iter().map(|delay| (f64::from(delay) * speed / 2.0 * 100.0).round() / 100.0).collect()
}

fn content(echoes: &Echoes) -> String {
    json!({ "cave": echoes.cave, "celsius": echoes.celsius, "metres": metres(echoes) }).to_string()
}

fn recorded(echoes: &Echoes, key: &str) -> Output<Record> {
    let file = file(key);
    let change = Change::new("echo", file.clone(), "create").external_ref(file.clone());
    Output::new(Record { file, metres: metres(echoes) }).change(change)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Echo.Record", record)
            .describe("Keeps the distances of the walls of a cave in a file.")
            .effects([Effect::InternalWrite])
            .reconcile(reconcile)
            .compensate(remove),
    ],
    exports: [reconcile, compensate],
}
