use std::collections::HashMap;

use latchwork_guest::{Determinism, Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Poll {
    question: String,
    votes: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Winner {
    question: String,
    answer: String,
    votes: usize,
    turnout: usize,
}

fn count(poll: Poll, _: &step::Context) -> Result<Winner, Error> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for vote in &poll.votes {
        *counts.entry(vote.trim().to_lowercase()).or_default() += 1;
    }
    counts.remove("");
    let (answer, votes) =
        counts.into_iter().max_by_key(|(_, votes)| *votes).ok_or_else(|| Error::invalid_input("there are no votes"))?;
    Ok(Winner { question: poll.question, answer, votes, turnout: poll.votes.len() })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("PollWinner.Count", count)
            .describe("Counts the votes of a poll.")
            .determinism(Determinism::Pure),
    ],
}
