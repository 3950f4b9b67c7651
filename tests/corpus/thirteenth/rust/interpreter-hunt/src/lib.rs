//! `Interpreter.Find`: finds an interpreter for a hearing. Those who cannot be reached right now are asked again later.

use std::collections::VecDeque;

use latchwork_guest::{Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Hearing {
    #[schemars(length(min = 2, max = 40))]
    language: String,
    /// Day of the hearing: `2026-03-01`.
    #[schemars(length(equal = 10))]
    day: String,
    /// Names in the order in which they are asked.
    #[schemars(length(max = 50))]
    interpreters: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Found {
    /// The first who is free, if there is one.
    interpreter: Option<String>,
    /// Those who declined.
    declined: Vec<String>,
    fee_cents: u32,
}

#[derive(Deserialize)]
struct Reply {
    free: bool,
    #[serde(default)]
    fee_cents: u32,
}

fn find(hearing: Hearing, _: &step::Context) -> Result<Found, Error> {
    let mut declined = Vec::new();
    let mut waiting: VecDeque<String> = hearing.interpreters.into();
    while let Some(name) = waiting.pop_front() {
        let question = json!({ "name": name, "language": hearing.language, "day": hearing.day });
        match tools::call::<_, Reply>("Interpreter.Ask", &question) {
            Ok(reply) if reply.free => {
                return Ok(Found { interpreter: Some(name), declined, fee_cents: reply.fee_cents });
            }
            Ok(_) => declined.push(name),
            Err(error) => {
                log::warn!("{name} cannot be reached: {error}");
                waiting.push_back(name);
            }
        }
    }
    Ok(Found { interpreter: None, declined, fee_cents: 0 })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Interpreter.Find", find)
            .describe("Finds an interpreter who is free on the day of a hearing.")
            .determinism(Determinism::External),
    ],
}
