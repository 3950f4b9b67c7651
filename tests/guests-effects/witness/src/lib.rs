//! Tools that create one file per execution.

use std::time::Duration;

use latchwork_guest::fs;
use latchwork_guest::{Effect, Error, tool, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Directory of the files.
const DIRECTORY: &str = "/effects";

#[derive(Debug, Default, Deserialize, JsonSchema)]
struct Args {
    /// JSON value to store in the file.
    #[serde(default)]
    note: Value,
    /// Time to wait before the effect, in milliseconds.
    #[serde(default)]
    before_ms: u32,
    /// Time to wait after the effect, in milliseconds.
    #[serde(default)]
    after_ms: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Done {
    /// Name of the file that was created, if any.
    file: Option<String>,
    note: Value,
}

fn opaque(args: Args, context: &tool::Context) -> Result<tool::Output<Done>, Error> {
    perform("opaque", args, context)
}

fn keyed(args: Args, context: &tool::Context) -> Result<tool::Output<Done>, Error> {
    let applied = format!("{DIRECTORY}/applied.{}", safe(context.external_key()));
    let output = perform("keyed", args, context)?;
    // Simulates a downstream system that ignores duplicates: the effect of one key is applied only once.
    match fs::create_new(&applied, context.external_key().as_bytes()) {
        Err(error) if error.kind() != fs::ErrorKind::AlreadyExists => Err(error.into()),
        _ => Ok(output),
    }
}

fn read(args: Args, _: &tool::Context) -> Result<tool::Output<Done>, Error> {
    wait(args.before_ms);
    Ok(tool::Output::new(Done { file: None, note: args.note }))
}

fn perform(what: &str, args: Args, context: &tool::Context) -> Result<tool::Output<Done>, Error> {
    wait(args.before_ms);
    let unique: String = wall::random(8).iter().map(|byte| format!("{byte:02x}")).collect();
    let file = format!("{what}.{}.{unique}", safe(context.external_key()));
    let content = format!("{}\n{}", context.external_key(), args.note);
    fs::create_new(&format!("{DIRECTORY}/{file}"), content.as_bytes())?;
    wait(args.after_ms);
    let change = tool::Change::new("file", context.external_key(), "create").external_ref(&file);
    Ok(tool::Output::new(Done { file: Some(file), note: args.note }).change(change))
}

fn wait(millis: u32) {
    if millis > 0 {
        wall::sleep(Duration::from_millis(u64::from(millis)));
    }
}

fn safe(key: &str) -> String {
    key.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

latchwork_guest::export_tool! {
    version: "1.0.0",
    operators: [
        tool::operator("Effect.Opaque", opaque)
            .describe("Creates a file. The call cannot be reconciled.")
            .effects([Effect::ExternalSend]),
        tool::operator("Effect.Keyed", keyed)
            .describe("Creates a file. Further executions with the same key change nothing.")
            .effects([Effect::ExternalSend])
            .idempotent_by_key(Duration::from_secs(7 * 86_400)),
        tool::operator("Effect.Read", read).describe("Changes nothing."),
    ],
}
