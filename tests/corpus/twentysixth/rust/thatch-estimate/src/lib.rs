//! Asks thatchers for their prices and estimates the cost of a roof.

use latchwork_guest::{Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Roof {
    house: String,
    area_m2: u32,
    /// Two to eight thatchers.
    thatchers: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Estimate {
    house: String,
    /// Price in the middle of all answers.
    pounds: u32,
    lowest: u32,
    highest: u32,
    /// Thatchers without an answer.
    silent: Vec<String>,
}

#[derive(Deserialize)]
struct Price {
    pounds: u32,
}

fn estimate(roof: Roof, _: &step::Context) -> Result<Estimate, Error> {
    if roof.area_m2 == 0 {
        return Err(Error::invalid_input("the roof has no area"));
    }
    if !(2..=8).contains(&roof.thatchers.len()) {
        return Err(Error::invalid_input("an estimate needs two to eight thatchers"));
    }
    let calls = roof
        .thatchers
        .iter()
        .map(|thatcher| tools::Call::new("Thatcher.Price", &json!({ "thatcher": thatcher, "area_m2": roof.area_m2 })));
    let answers: Vec<Result<Price, Error>> = tools::call_all(calls);

    // A thatcher who does not answer must not stop the estimate.
    let mut prices = Vec::new();
    let mut silent = Vec::new();
    for (thatcher, answer) in roof.thatchers.into_iter().zip(answers) {
        match answer {
            Ok(price) => prices.push(price.pounds),
            Err(error) => {
                log::warn!("no price from {thatcher}: {error}");
                silent.push(thatcher);
            }
        }
    }
    prices.sort_unstable();
    let (lowest, highest) = (prices[0], prices[prices.len() - 1]);
    // With an even number of prices the estimate is the higher one of the two in the middle.
    Ok(Estimate { house: roof.house, pounds: prices[prices.len() / 2], lowest, highest, silent })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Thatch.Estimate", estimate)
            .describe("Estimates the cost of a thatched roof from the prices of several thatchers.")
            .determinism(Determinism::External),
    ],
}
