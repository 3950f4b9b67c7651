//! `Pennant.Label`: short labels for the finish board of a regatta.

use std::collections::BTreeSet;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Characters of a row of the board before the sail number.
const WIDTH: usize = 8;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Boat {
    name: String,
    /// Sail number, such as `GER 412`.
    sail: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fleet {
    boats: Vec<Boat>,
}

#[derive(Serialize, JsonSchema)]
struct Board {
    labels: Vec<String>,
    /// Boats whose names were shortened.
    shortened: usize,
}

/// The name in capitals, without articles, at most as long as the board allows.
fn short(name: &str) -> (String, bool) {
    let mut words: Vec<&str> = name.split_whitespace().collect();
    if words.len() > 1 && matches!(words[0].to_lowercase().as_str(), "the" | "la" | "le" | "die" | "der" | "das") {
        words.remove(0);
    }
    let full = words.join(" ").to_uppercase();
    if full.len() <= WIDTH {
        return (full, false);
    }
    (full[..WIDTH].trim_end().to_owned(), true)
}

/// The digits of a sail number, without leading zeros.
fn number(sail: &str) -> String {
    let digits: String = sail.chars().filter(char::is_ascii_digit).collect();
    digits.trim_start_matches('0').to_owned()
}

fn label(fleet: Fleet, _: &step::Context) -> Result<Board, Error> {
    let mut seen = BTreeSet::new();
    let mut board = Board { labels: Vec::new(), shortened: 0 };
    for boat in &fleet.boats {
        let number = number(&boat.sail);
        if number.is_empty() {
            return Err(Error::invalid_input(format!("{} has no sail number", boat.name)));
        }
        if !seen.insert(number.clone()) {
            return Err(Error::invalid_input(format!("sail number {number} is used twice")));
        }
        let (name, cut) = short(&boat.name);
        board.shortened += usize::from(cut);
        board.labels.push(format!("{name:<WIDTH$} {number:>5}"));
    }
    Ok(board)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Pennant.Label", label).describe("Makes short labels for the finish board of a regatta."),
    ],
}
