//! Prices an order of seeds from the catalogue of the season.

use std::collections::{HashMap, HashSet};

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most packets of one line.
const PACKETS: u32 = 10_000;
/// Most cents of one packet.
const CENTS: u32 = 100_000;
/// Most lines of one order.
const LINES: usize = 2_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    catalogue: Vec<Packet>,
    lines: Vec<Line>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Packet {
    code: String,
    cents: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Line {
    code: String,
    packets: u32,
}

#[derive(Serialize, JsonSchema)]
struct Priced {
    lines: Vec<PricedLine>,
    total_cents: u64,
}

#[derive(Serialize, JsonSchema)]
struct PricedLine {
    code: String,
    packets: u32,
    cents: u64,
}

/// Codes are printed in capitals, and typed in any case.
fn code(text: &str) -> String {
    text.trim().to_uppercase()
}

fn price(order: Order, _: &step::Context) -> Result<Priced, Error> {
    if order.lines.is_empty() || order.lines.len() > LINES {
        return Err(Error::invalid_input(format!("an order has 1 to {LINES} lines")));
    }
    let mut prices = HashMap::with_capacity(order.catalogue.len());
    for packet in &order.catalogue {
        if packet.cents > CENTS {
            return Err(Error::invalid_input(format!("{} is too expensive for a packet", packet.code)));
        }
        if prices.insert(code(&packet.code), packet.cents).is_some() {
            return Err(Error::invalid_input(format!("{} is twice in the catalogue", packet.code)));
        }
    }
    // A code that is missing in the catalogue is named once, in however many lines it is.
    let missing: HashSet<String> =
        order.lines.iter().map(|line| code(&line.code)).filter(|code| !prices.contains_key(code)).collect();
    if !missing.is_empty() {
        let names: Vec<String> = missing.into_iter().collect();
        return Err(Error::invalid_input(format!("not in the catalogue: {}", names.join(", "))));
    }
    let mut lines = Vec::with_capacity(order.lines.len());
    for line in &order.lines {
        if line.packets == 0 || line.packets > PACKETS {
            return Err(Error::invalid_input(format!("{}: a line has 1 to {PACKETS} packets", line.code)));
        }
        let code = code(&line.code);
        let cents = u64::from(prices.get(&code).copied().unwrap_or_default()) * u64::from(line.packets);
        lines.push(PricedLine { code, packets: line.packets, cents });
    }
    let total_cents = lines.iter().map(|line| line.cents).sum();
    Ok(Priced { lines, total_cents })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [step::operator("Seeds.Price", price).describe("Prices an order of seeds.")],
}
