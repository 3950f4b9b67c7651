//! Steps with minimal cost. `latch bench` uses them to measure the host.

use latchwork_guest::{Effect, Error, step, tools};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Input of `Bench.Call`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Calls {
    /// Tool to call: `Bench.Write` or `Bench.Read`.
    operator: String,
    /// Number of sequential calls.
    calls: u32,
    /// Number that makes the requests of a benchmark run distinct.
    #[serde(rename = "job")]
    _job: u64,
}

fn call(input: Calls, _: &step::Context) -> Result<u32, Error> {
    for k in 0..input.calls {
        let _: Value = tools::Call::new(&input.operator, &json!({ "k": k })).send()?;
    }
    Ok(input.calls)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Bench.Call", call)
            .describe("Calls a tool so many times, one call after the other.")
            .effects([Effect::ReadOnly, Effect::InternalWrite]),
        step::operator("Bench.Noop", |_: Value, _: &step::Context| Ok(())).describe("Returns null."),
    ],
}
