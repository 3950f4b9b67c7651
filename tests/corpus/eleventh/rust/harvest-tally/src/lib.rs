use std::collections::{HashMap, HashSet};

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Tickets {
    tickets: Vec<Ticket>,
}

#[derive(Deserialize, JsonSchema)]
struct Ticket {
    number: String,
    picker: String,
    crates: u32,
}

#[derive(Serialize, JsonSchema)]
struct Tally {
    pickers: Vec<Picker>,
    best: Option<String>,
    duplicates: usize,
}

#[derive(Serialize, JsonSchema)]
struct Picker {
    name: String,
    crates: u64,
}

/// Adds up the crates of each picker. A ticket that was scanned twice counts once.
fn tally(book: Tickets, _: &step::Context) -> Result<Tally, Error> {
    let mut seen = HashSet::new();
    let mut crates: HashMap<String, u64> = HashMap::new();
    let mut duplicates = 0;
    for ticket in book.tickets {
        if seen.insert(ticket.number) {
            *crates.entry(ticket.picker).or_default() += u64::from(ticket.crates);
        } else {
            duplicates += 1;
        }
    }
    // The most crates win. Among equals, the first name in the alphabet.
    let best = crates.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0))).map(|(name, _)| name.clone());
    let mut pickers: Vec<Picker> = crates.into_iter().map(|(name, crates)| Picker { name, crates }).collect();
    pickers.sort_unstable_by(|a, b| b.crates.cmp(&a.crates).then_with(|| a.name.cmp(&b.name)));
    Ok(Tally { pickers, best, duplicates })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("HarvestTally.Add", tally).describe("Adds up the picked crates of a harvest day."),
    ],
}
