//! Summarizes the repair tickets of a bicycle workshop for the monthly parts order.

use std::collections::HashMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of parts on the order.
const LONGEST_ORDER: usize = 10;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tickets {
    #[schemars(regex(pattern = r"^20[0-9]{2}-(0[1-9]|1[0-2])$"))]
    month: String,
    #[schemars(length(max = 2_000))]
    tickets: Vec<Ticket>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ticket {
    #[schemars(length(min = 1, max = 40))]
    part: String,
    #[schemars(range(min = 1, max = 50))]
    pieces: u32,
    #[schemars(range(max = 600))]
    minutes: u32,
}

#[derive(Default)]
struct Usage {
    pieces: u32,
    minutes: u32,
    tickets: u32,
}

#[derive(Serialize, JsonSchema)]
struct Line {
    part: String,
    pieces: u32,
    tickets: u32,
    minutes_per_ticket: u32,
}

#[derive(Serialize, JsonSchema)]
struct Order {
    month: String,
    /// The parts that were used most, the most used one first.
    lines: Vec<Line>,
    /// Pieces of all parts that are not on the order.
    other_pieces: u32,
}

fn order(month: Tickets, _: &step::Context) -> Result<Order, Error> {
    let mut usage: HashMap<String, Usage> = HashMap::new();
    for ticket in &month.tickets {
        let part = ticket.part.trim().to_lowercase();
        if part.is_empty() {
            return Err(Error::invalid_input("a ticket names no part"));
        }
        let entry = usage.entry(part).or_default();
        entry.pieces += ticket.pieces;
        entry.minutes += ticket.minutes;
        entry.tickets += 1;
    }
    let mut lines: Vec<Line> = usage
        .into_iter()
        .map(|(part, Usage { pieces, minutes, tickets })| Line {
            part,
            pieces,
            tickets,
            minutes_per_ticket: minutes / tickets,
        })
        .collect();
    lines.sort_by(|a, b| b.pieces.cmp(&a.pieces).then(b.tickets.cmp(&a.tickets)));
    let rest = lines.split_off(lines.len().min(LONGEST_ORDER));
    Ok(Order { month: month.month, lines, other_pieces: rest.iter().map(|line| line.pieces).sum() })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Workshop.Order", order)
            .describe("Lists the parts that a workshop used most in a month.")
            .outcome("Order.Parts", "draft"),
    ],
}
