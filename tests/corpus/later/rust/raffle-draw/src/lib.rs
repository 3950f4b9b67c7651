use std::collections::{BTreeMap, HashMap};

use latchwork_guest::serde_json::json;
use latchwork_guest::{Determinism, Error, clock, events, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Raffle {
    /// Names of the buyers, one for each ticket.
    tickets: Vec<String>,
    winners: u32,
}

#[derive(Serialize, JsonSchema)]
struct Drawn {
    /// Number of the draw, as text because it has 64 bits.
    draw: String,
    drawn_at: String,
    winners: Vec<String>,
    tickets: BTreeMap<String, u32>,
}

fn draw(raffle: Raffle, context: &step::Context) -> Result<Drawn, Error> {
    let mut counts: HashMap<String, u32> = HashMap::new();
    for name in &raffle.tickets {
        *counts.entry(name.clone()).or_default() += 1;
    }
    if counts.len() < raffle.winners as usize {
        return Err(Error::invalid_input(format!("{} buyers cannot have {} winners", counts.len(), raffle.winners)));
    }
    let mut left = raffle.tickets;
    left.sort();
    let mut winners = Vec::new();
    while winners.len() < raffle.winners as usize {
        let at = rng::below(u32::try_from(left.len()).unwrap_or(u32::MAX)) as usize;
        let winner = left[at].clone();
        left.retain(|name| *name != winner);
        winners.push(winner);
    }
    let number = u64::from(rng::u32()) << 32 | u64::from(rng::u32());
    events::emit("raffle-drawn", &json!({ "job": context.job_id(), "winners": winners }))?;
    Ok(Drawn {
        draw: number.to_string(),
        drawn_at: clock::now().to_string(),
        winners,
        tickets: counts.into_iter().collect(),
    })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Raffle.Draw", draw)
            .describe("Draws the winners of a raffle.")
            // The winners differ between jobs.
            .determinism(Determinism::Stable),
    ],
}
