//! Step that reads the clock, draws random numbers, calls a tool twice and returns all values. The same step
//! exists in every guest language.

use latchwork_guest::{Determinism, Error, clock, events, rng, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Debug, Deserialize)]
struct Kept {
    key: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Walked {
    id: String,
    at: f64,
    dice: f64,
    until: f64,
    keys: [String; 2],
}

fn now() -> f64 {
    let now = clock::now();
    now.seconds as f64 + f64::from(now.nanoseconds) / 1e9
}

fn walk(_: Nothing, _: &step::Context) -> Result<Walked, Error> {
    let (id, at) = (rng::uuid(), now());
    let first: Kept = tools::call("MadeJsTool.Keep", &json!({ "text": format!("{id} at {at}") }))?;
    events::emit("halfway", &json!({ "id": id }));
    let dice = f64::from(rng::below(1 << 30)) / f64::from(1 << 30);
    let second: Kept = tools::call("MadeJsTool.Keep", &json!({ "text": format!("{dice} after {}", first.key) }))?;
    Ok(Walked { id, at, dice, until: now(), keys: [first.key, second.key] })
}

latchwork_guest::export_step! {
    version: "0.1.0",
    operators: [step::operator("Walk.There", walk).determinism(Determinism::Stable)],
}
