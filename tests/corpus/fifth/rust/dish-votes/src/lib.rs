//! Finds the dish with the most votes of a canteen.

use std::collections::HashMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Ballot {
    /// One dish for each vote.
    votes: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Winner {
    dish: String,
    votes: usize,
    of: usize,
}

fn winner(ballot: Ballot, _: &step::Context) -> Result<Winner, Error> {
    let of = ballot.votes.len();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for vote in ballot.votes {
        *counts.entry(vote.trim().to_lowercase()).or_default() += 1;
    }
    let (dish, votes) =
        counts.into_iter().max_by_key(|(_, count)| *count).ok_or_else(|| Error::invalid_input("there are no votes"))?;
    Ok(Winner { dish, votes, of })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [step::operator("Dish.Winner", winner).describe("Finds the dish with the most votes.")],
}
