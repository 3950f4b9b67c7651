//! `Precinct.Sample`: draws the households of a survey from the list of a precinct.

use std::collections::HashSet;

use latchwork_guest::{Determinism, Error, log, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of households in a sample.
const SAMPLE_MAX: usize = 20_000;

/// Maximum length of the number of a household.
const NUMBER_MAX: usize = 40;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Precinct {
    /// Numbers of the households: letters, digits and `-`.
    households: Vec<String>,
    /// Number of households to draw.
    size: usize,
}

#[derive(Serialize, JsonSchema)]
struct Sample {
    /// Number of households in the precinct.
    of: usize,
    /// The drawn households, in the order of the list.
    households: Vec<String>,
}

fn sample(precinct: Precinct, context: &step::Context) -> Result<Sample, Error> {
    let mut known = HashSet::new();
    for number in &precinct.households {
        let plain = number.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if !plain || number.is_empty() || number.len() > NUMBER_MAX {
            return Err(Error::invalid_input(format!("{number:?} is no number of a household")));
        }
        if !known.insert(number.as_str()) {
            return Err(Error::invalid_input(format!("household {number} is twice in the list")));
        }
    }
    let of = precinct.households.len();
    if precinct.size == 0 || precinct.size > of.min(SAMPLE_MAX) {
        return Err(Error::invalid_input(format!("{} of {of} households cannot be drawn", precinct.size)));
    }
    let mut drawn = draw(of, precinct.size);
    drawn.sort_unstable();
    log::info!("{} of {of} households drawn for {}", drawn.len(), context.actor());
    let households = drawn.into_iter().map(|place| precinct.households[place].clone()).collect();
    Ok(Sample { of, households })
}

/// Draws `size` different places below `of`. Each place needs eight random bytes.
fn draw(of: usize, size: usize) -> Vec<usize> {
    let random = rng::bytes(size * 8);
    let mut places: Vec<usize> = (0..of).collect();
    for (at, bytes) in random.chunks_exact(8).enumerate() {
        let left = (of - at) as u64;
        let number = bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        places.swap(at, at + (number % left) as usize);
    }
    places.truncate(size);
    places
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Precinct.Sample", sample)
            .describe("Draws a random sample of the households of a precinct.")
            .determinism(Determinism::Stable),
    ],
}
