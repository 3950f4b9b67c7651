//! Step that returns its build time. The result is the same in every job and differs between builds.

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Serialize, JsonSchema)]
struct Built {
    session: String,
}

fn build(_: Nothing, _: &step::Context) -> Result<Built, Error> {
    Ok(Built { session: env!("BAKED").to_owned() })
}

latchwork_guest::export_step! {
    version: "1.0.0",
    operators: [step::operator("Baked.Session", build).describe("Returns a session name.")],
}
