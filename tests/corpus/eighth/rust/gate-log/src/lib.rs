use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, fs, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Entry {
    plate: String,
    direction: Direction,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Direction {
    In,
    Out,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Logged {
    file: String,
}

/// Each call has a file of its own. Neither replacement occurs in a key.
fn file(key: &str) -> String {
    format!("/gate/{}.log", key.replace(':', ".").replace('/', "="))
}

fn log_passage(entry: Entry, context: &tool::Context) -> Result<Output<Logged>, Error> {
    if entry.plate.trim().is_empty() {
        return Err(Error::invalid_input("the plate is empty"));
    }
    let direction = match entry.direction {
        Direction::In => "in",
        Direction::Out => "out",
    };
    let key = context.external_key();
    let line = format!("{} {} {direction}\n", wall::now(), entry.plate.trim());
    fs::replace(&file(key), line.as_bytes(), &key.replace(':', ".").replace('/', "="))?;
    Ok(Output::new(Logged { file: file(key) }).change(Change::new("passage", file(key), "create")))
}

latchwork_guest::export_tool! {
    version: "0.1.0",
    operators: [
        tool::operator("Gate.Log", log_passage)
            .describe("Logs that a car passed the gate.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(7 * 86_400)),
    ],
}
