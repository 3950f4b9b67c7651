//! `Herd.Tally`: tallies the ear chips that the readers of a farm have seen in a day.
//!
//! A chip has 15 digits: three of the country and twelve of the animal.

use std::cmp::Reverse;
use std::collections::HashMap;

use latchwork_guest::{Error, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Digits of a chip.
const DIGITS: usize = 15;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Day {
    /// Readings in the order of the readers' clocks.
    readings: Vec<Reading>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Reading {
    /// Chip as the reader prints it: `276 000312345678`.
    chip: String,
    /// Pen of the reader.
    pen: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Tally {
    /// Animals in the order of their chips.
    animals: Vec<Animal>,
    /// Chip that was read most often, the lower one of two.
    busiest: u64,
    /// Readings for each animal, on average.
    mean: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Animal {
    chip: u64,
    readings: u32,
    /// Pen of the last reading.
    pen: String,
}

/// Readings of one chip.
struct Seen {
    readings: u32,
    pen: String,
}

/// Returns the number of a chip. Readers group the digits by blanks.
fn parse(chip: &str) -> Option<u64> {
    let digits: String = chip.chars().filter(|c| *c != ' ').collect();
    let plain = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

fn tally(day: Day, _: &step::Context) -> Result<Tally, Error> {
    let mut seen: HashMap<u64, Seen> = HashMap::new();
    let count = day.readings.len();
    for (index, reading) in day.readings.into_iter().enumerate() {
        let Some(chip) = parse(&reading.chip) else {
            return Err(Error::invalid_input(format!("reading {index}: {:?} is no chip", reading.chip)));
        };
        let entry = seen.entry(chip).or_insert_with(|| Seen { readings: 0, pen: String::new() });
        entry.readings += 1;
        entry.pen = reading.pen;
    }
    let busiest = seen.iter().max_by_key(|(chip, seen)| (seen.readings, Reverse(**chip))).map(|(chip, _)| *chip);
    let Some(busiest) = busiest else {
        return Err(Error::invalid_input("the day has no readings"));
    };
    log::info!("{count} readings of {} animals", seen.len());
    let mean = count as f64 / seen.len() as f64;
    let mut animals: Vec<Animal> =
        seen.into_iter().map(|(chip, seen)| Animal { chip, readings: seen.readings, pen: seen.pen }).collect();
    animals.sort_unstable_by_key(|animal| animal.chip);
    Ok(Tally { animals, busiest, mean })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Herd.Tally", tally)
            .describe("Tallies the ear chips that the readers of a farm have seen in a day."),
    ],
}
