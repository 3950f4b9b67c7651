use std::cmp::Reverse;
use std::collections::HashMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Poll {
    /// The votes, the oldest first. The last vote of a guest counts.
    votes: Vec<Vote>,
    /// Number of dishes on the menu.
    #[schemars(range(min = 1, max = 20))]
    places: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Vote {
    guest: String,
    dish: String,
}

#[derive(Serialize, JsonSchema)]
struct Menu {
    guests: usize,
    /// The chosen dishes, the most popular first.
    dishes: Vec<Dish>,
    /// Dishes with votes that are not on the menu.
    left_out: usize,
}

#[derive(Serialize, JsonSchema)]
struct Dish {
    name: String,
    votes: u32,
}

fn rank(poll: Poll, _: &step::Context) -> Result<Menu, Error> {
    let mut choices: HashMap<String, String> = HashMap::new();
    for vote in &poll.votes {
        let (guest, dish) = (normal(&vote.guest), normal(&vote.dish));
        if guest.is_empty() {
            return Err(Error::invalid_input("a vote has no guest"));
        }
        if dish.is_empty() {
            // An empty vote takes back the earlier vote of the guest.
            choices.remove(&guest);
        } else {
            choices.insert(guest, dish);
        }
    }
    if choices.is_empty() {
        return Err(Error::invalid_input("the poll has no votes"));
    }

    let mut counts: HashMap<&str, u32> = HashMap::new();
    for dish in choices.values() {
        *counts.entry(dish).or_default() += 1;
    }
    let mut ranking: Vec<(&str, u32)> = counts.into_iter().collect();
    ranking.sort_by_key(|(_, votes)| Reverse(*votes));
    let left_out = ranking.len().saturating_sub(poll.places);
    let dishes =
        ranking.into_iter().take(poll.places).map(|(name, votes)| Dish { name: name.to_owned(), votes }).collect();
    Ok(Menu { guests: choices.len(), dishes, left_out })
}

/// Names in lower case, with single spaces: "Lentil  Soup" and "lentil soup" are one dish.
fn normal(name: &str) -> String {
    name.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Menu.Rank", rank).describe("Ranks the dishes of a poll, and chooses the menu."),
    ],
}
