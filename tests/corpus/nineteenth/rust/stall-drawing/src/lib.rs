//! `Stall.Draw`: draws the pitches of a market among its traders.

use std::collections::HashSet;

use latchwork_guest::{Determinism, Error, clock, log, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest number of traders, and of pitches.
const PLACES_MAX: usize = 2_000;
/// Longest name of a trader or a pitch, in bytes.
const NAME_MAX: usize = 60;
/// Random bytes of each trader.
const LOT: usize = 8;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Market {
    /// Pitches in the order of the market, the best one first.
    pitches: Vec<String>,
    traders: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Drawing {
    drawn_at: String,
    stalls: Vec<Stall>,
    /// Traders without a pitch, in the order in which they move up.
    waiting: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Stall {
    pitch: String,
    trader: String,
}

fn draw(market: Market, context: &step::Context) -> Result<Drawing, Error> {
    check("pitch", &market.pitches)?;
    check("trader", &market.traders)?;
    log::info!("{} draws {} traders", context.actor(), market.traders.len());
    let mut drawn = shuffled(market.traders).into_iter();
    let stalls = market.pitches.into_iter().zip(drawn.by_ref()).map(|(pitch, trader)| Stall { pitch, trader });
    let stalls = stalls.collect();
    Ok(Drawing { drawn_at: clock::now().to_string(), stalls, waiting: drawn.collect() })
}

/// Refuses lists that are empty or too long, and names that occur twice or cannot be printed.
fn check(noun: &str, names: &[String]) -> Result<(), Error> {
    if names.is_empty() || names.len() > PLACES_MAX {
        return Err(Error::invalid_input(format!("{noun}: the list has 1 to {PLACES_MAX} names")));
    }
    let mut seen = HashSet::new();
    for name in names {
        if name.is_empty() || name.len() > NAME_MAX || name.chars().any(char::is_control) {
            return Err(Error::invalid_input(format!("{noun}: {name:?} cannot be printed on a card")));
        }
        if !seen.insert(name.as_str()) {
            return Err(Error::invalid_input(format!("{noun}: {name} occurs twice")));
        }
    }
    Ok(())
}

/// Returns the names in random order. Each name has a random lot, and the lots are sorted.
fn shuffled(names: Vec<String>) -> Vec<String> {
    let bytes = rng::bytes(names.len() * LOT);
    let mut lots: Vec<(&[u8], String)> = bytes.chunks(LOT).zip(names).collect();
    lots.sort();
    lots.into_iter().map(|(_, name)| name).collect()
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Stall.Draw", draw)
            .describe("Draws the pitches of a market among its traders.")
            .determinism(Determinism::Stable),
    ],
}
