//! Tool that creates one file per execution. Its reconcile function looks for that file.

use std::time::Duration;

use latchwork_guest::tool::{Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, tool, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Directory of the files.
const DIRECTORY: &str = "/effects";

#[derive(Debug, Deserialize, JsonSchema)]
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
    /// Name of the file that was created.
    file: Option<String>,
    note: Value,
}

fn queryable(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    wait(args.before_ms);
    let unique: String = wall::random(8).iter().map(|byte| format!("{byte:02x}")).collect();
    let file = format!("{}{unique}", prefix(context.external_key()));
    let content = format!("{}\n{}", context.external_key(), args.note);
    fs::create_new(&format!("{DIRECTORY}/{file}"), content.as_bytes())?;
    wait(args.after_ms);
    Ok(done(context.external_key(), file, args.note))
}

fn reconcile(args: Args, key: &str) -> Result<Verdict<Output<Done>>, Error> {
    let prefix = prefix(key);
    let found = fs::list(DIRECTORY)?.into_iter().find(|entry| entry.name.starts_with(&prefix));
    Ok(match found {
        Some(entry) => Verdict::Happened(done(key, entry.name, args.note)),
        None => Verdict::DidNotHappen,
    })
}

fn done(key: &str, file: String, note: Value) -> Output<Done> {
    let change = Change::new("file", key, "create").external_ref(&file);
    Output::new(Done { file: Some(file), note }).change(change)
}

fn prefix(key: &str) -> String {
    let safe: String = key.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("queryable.{safe}.")
}

fn wait(millis: u32) {
    if millis > 0 {
        wall::sleep(Duration::from_millis(u64::from(millis)));
    }
}

latchwork_guest::export_tool! {
    version: "1.0.0",
    operators: [
        tool::operator("Effect.Queryable", queryable)
            .describe("Creates a file, and can be reconciled by looking for it.")
            .effects([Effect::ExternalSend])
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
