//! Draws the prizes of a scarecrow contest among the makers. Each vote is one ticket.

use std::collections::HashMap;

use latchwork_guest::{Code, Determinism, Error, clock, log, rng, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Rounds in which the ballots are requested. The host retries within each round.
const ROUNDS: u32 = 3;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Contest {
    village: String,
    prizes: Vec<String>,
}

#[derive(Deserialize)]
struct Ballot {
    maker: String,
    votes: u32,
}

#[derive(Serialize, JsonSchema)]
struct Won {
    prize: String,
    maker: String,
    tickets: u32,
}

#[derive(Serialize, JsonSchema)]
struct Draw {
    village: String,
    drawn_at: String,
    won: Vec<Won>,
}

/// Requests the ballots. Gives up after a fixed number of rounds.
fn ballots(village: &str) -> Result<Vec<Ballot>, Error> {
    let mut round = 1;
    loop {
        match tools::call("Ballot.List", &json!({ "village": village, "round": round })) {
            Ok(ballots) => return Ok(ballots),
            Err(error) if round < ROUNDS && error.code() == Code::NetworkTimeout => {
                log::warn!("round {round} of {ROUNDS}: {error}");
                round += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Sums the tickets of each maker. The makers are sorted by name, so the order of the map has no influence.
fn tickets(ballots: Vec<Ballot>) -> Vec<(String, u32)> {
    let mut sums: HashMap<String, u32> = HashMap::new();
    for ballot in ballots {
        let sum = sums.entry(ballot.maker).or_default();
        *sum = sum.saturating_add(ballot.votes);
    }
    let mut makers: Vec<(String, u32)> = sums.into_iter().filter(|(_, votes)| *votes > 0).collect();
    makers.sort();
    makers
}

fn draw(contest: Contest, _: &step::Context) -> Result<Draw, Error> {
    let mut makers = tickets(ballots(&contest.village)?);
    if makers.len() < contest.prizes.len() {
        return Err(Error::invalid_input(format!("{} prizes, {} makers", contest.prizes.len(), makers.len())));
    }
    let sum = makers.iter().try_fold(0_u32, |sum, (_, votes)| sum.checked_add(*votes));
    let mut left = sum.ok_or_else(|| Error::invalid_input("the contest has too many votes"))?;
    let mut won = Vec::with_capacity(contest.prizes.len());
    for prize in contest.prizes {
        let mut ticket = rng::below(left);
        let place = makers.iter().position(|(_, votes)| {
            let is_winner = ticket < *votes;
            ticket = ticket.saturating_sub(*votes);
            is_winner
        });
        let (maker, tickets) = makers.remove(place.unwrap_or(0));
        left -= tickets;
        won.push(Won { prize, maker, tickets });
    }
    Ok(Draw { village: contest.village, drawn_at: clock::now().to_string(), won })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Scarecrow.Draw", draw)
            .describe("Draws the prizes of a scarecrow contest.")
            .determinism(Determinism::External),
    ],
}
