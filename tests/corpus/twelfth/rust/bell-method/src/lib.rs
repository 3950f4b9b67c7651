//! `Touch.Prove`: proves a touch of change ringing. A touch is true if no row is rung twice.

use std::collections::BTreeMap;

use latchwork_guest::{Error, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Touch {
    /// Number of bells, 3 to 12.
    bells: u8,
    /// Rows in the order of ringing. A row names each bell once, from 1.
    rows: Vec<Vec<u8>>,
}

#[derive(Serialize, JsonSchema)]
struct Repeat {
    first: usize,
    again: usize,
}

#[derive(Serialize, JsonSchema)]
struct Proof {
    is_true: bool,
    rows: usize,
    repeats: Vec<Repeat>,
    /// Largest number of places that a bell moves between two rows. More than one place cannot be rung.
    widest_move: usize,
}

fn check_row(row: &[u8], bells: u8, number: usize) -> Result<(), Error> {
    let mut sorted = row.to_vec();
    sorted.sort_unstable();
    if sorted.iter().copied().eq(1..=bells) {
        return Ok(());
    }
    Err(Error::invalid_input(format!("row {number} does not name each of {bells} bells once")))
}

fn widest(before: &[u8], after: &[u8]) -> usize {
    let places = before.iter().enumerate().map(|(place, bell)| {
        let now = after.iter().position(|other| other == bell).unwrap_or(place);
        now.abs_diff(place)
    });
    places.max().unwrap_or(0)
}

fn prove(touch: Touch, context: &step::Context) -> Result<Proof, Error> {
    if !(3..=12).contains(&touch.bells) {
        return Err(Error::invalid_input("a touch has 3 to 12 bells"));
    }
    for (number, row) in touch.rows.iter().enumerate() {
        check_row(row, touch.bells, number)?;
    }
    let mut seen: BTreeMap<&[u8], usize> = BTreeMap::new();
    let mut repeats = Vec::new();
    for (again, row) in touch.rows.iter().enumerate() {
        match seen.get(row.as_slice()) {
            Some(&first) => repeats.push(Repeat { first, again }),
            None => {
                seen.insert(row, again);
            }
        }
    }
    let widest_move = touch.rows.windows(2).map(|pair| widest(&pair[0], &pair[1])).max().unwrap_or(0);
    if !repeats.is_empty() {
        log::warn!("{}: the touch is false, {} rows are repeated", context.actor(), repeats.len());
    }
    Ok(Proof { is_true: repeats.is_empty(), rows: touch.rows.len(), repeats, widest_move })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Touch.Prove", prove).describe("Proves that no row of a touch is rung twice."),
    ],
}
