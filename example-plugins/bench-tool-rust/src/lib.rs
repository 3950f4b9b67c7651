//! Tools that do nothing. The host records calls of these tools like calls of real tools. `latch bench` uses them to
//! measure the host.

use std::time::Duration;

use latchwork_guest::{Effect, Error, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    /// Number of the call within its step, from 0.
    #[serde(rename = "k")]
    _k: u32,
}

/// An empty result: `{}`.
#[derive(Debug, Serialize, JsonSchema)]
struct Done {}

fn done(_: Args, _: &tool::Context) -> Result<tool::Output<Done>, Error> {
    Ok(tool::Output::new(Done {}))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Bench.Write", done)
            .describe("Counts as a change that may be repeated under its key; changes nothing.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(86_400)),
        tool::operator("Bench.Read", done).describe("Counts as a read."),
    ],
}
