//! `Carillon.Cycle`: after how many ticks of the drum all bells of an automatic carillon strike together again.

use latchwork_guest::{Error, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Drum {
    #[schemars(length(min = 1, max = 24))]
    bells: Vec<Bell>,
    /// Ticks of the drum in a minute.
    #[schemars(range(min = 1, max = 600))]
    ticks_per_minute: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Bell {
    #[schemars(length(min = 1, max = 20))]
    note: String,
    /// The bell strikes once in this number of ticks.
    #[schemars(range(min = 1, max = 100000))]
    every: u64,
}

#[derive(Serialize, JsonSchema)]
struct Cycle {
    /// Ticks until all bells strike together.
    ticks: u64,
    /// The same in whole days.
    days: u64,
    strikes: Vec<Strikes>,
}

#[derive(Serialize, JsonSchema)]
struct Strikes {
    note: String,
    /// Strikes of this bell in an hour, rounded down.
    per_hour: u64,
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn cycle(drum: Drum, _: &step::Context) -> Result<Cycle, Error> {
    let mut ticks: u64 = 1;
    for bell in &drum.bells {
        if bell.every == 0 {
            return Err(Error::invalid_input(format!("{} never strikes", bell.note)));
        }
        let factor = bell.every / gcd(ticks, bell.every);
        ticks = ticks
            .checked_mul(factor)
            .ok_or_else(|| Error::invalid_input("these bells do not strike together in the life of a drum"))?;
    }
    let per_day = drum.ticks_per_minute.max(1) * 60 * 24;
    if ticks / per_day > 36_500 {
        log::warn!("nobody will hear this cycle end");
    }
    let strikes = drum
        .bells
        .into_iter()
        .map(|bell| Strikes { per_hour: drum.ticks_per_minute * 60 / bell.every, note: bell.note })
        .collect();
    Ok(Cycle { ticks, days: ticks / per_day, strikes })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Carillon.Cycle", cycle)
            .describe("Computes when all bells of an automatic carillon strike together again."),
    ],
}
