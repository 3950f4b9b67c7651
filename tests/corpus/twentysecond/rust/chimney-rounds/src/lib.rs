//! Announces the yearly round of the chimney sweep to the owners of a district, one letter for each house.

use std::collections::BTreeSet;

use latchwork_guest::{Determinism, Effect, Error, events, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Round {
    #[schemars(range(min = 2000, max = 2199))]
    year: u16,
    #[schemars(range(min = 1, max = 12))]
    month: usize,
    /// Name of the district. Two districts can have a house with the same number.
    #[schemars(length(min = 1, max = 60))]
    district: String,
    /// First day of the visits in the district.
    #[schemars(range(min = 1, max = 28))]
    first_day: u32,
    #[schemars(length(max = 120))]
    houses: Vec<House>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct House {
    /// Number in the sweep's book, such as `17` or `17b`.
    #[schemars(length(min = 1, max = 12))]
    number: String,
    #[schemars(length(min = 1, max = 120))]
    owner: String,
    #[schemars(range(min = 1, max = 20))]
    flues: u32,
}

#[derive(Deserialize)]
struct Posted {
    letter: String,
}

#[derive(Serialize, JsonSchema)]
struct Announced {
    letters: Vec<Letter>,
    /// Working time of the round in minutes.
    minutes: u32,
}

#[derive(Serialize, JsonSchema)]
struct Letter {
    house: String,
    letter: String,
}

/// Identity of the letter in all jobs: the round of this month and year, and the house as the book writes it.
fn action_key(round: &Round, house: &House) -> String {
    json!(["chimney-round", round.year, round.month, round.district, house.number]).to_string()
}

fn announce(round: Round, _: &step::Context) -> Result<Announced, Error> {
    let mut keys = BTreeSet::new();
    for house in &round.houses {
        if !keys.insert(action_key(&round, house)) {
            return Err(Error::invalid_input(format!("house {} is listed twice", house.number)));
        }
    }
    let month = round.month.checked_sub(1).and_then(|index| MONTHS.get(index));
    let month = month.ok_or_else(|| Error::invalid_input("the month is not between 1 and 12"))?;

    // A sweep needs 25 minutes for each flue. The letters follow from the input alone, so that a second job
    // with the same round gets the letters of the first one.
    let calls = round.houses.iter().map(|house| {
        let text = format!(
            "The chimney sweep visits {} from {} {month} {} on. Please keep the access to {} flue(s) free.",
            round.district, round.first_day, round.year, house.flues
        );
        tools::Call::new("Letter.Post", &json!({ "to": house.owner, "text": text }))
            .action_key(action_key(&round, house))
    });
    let answers: Vec<Result<Posted, Error>> = tools::call_all(calls);

    let mut letters = Vec::with_capacity(answers.len());
    for (house, answer) in round.houses.iter().zip(answers) {
        let posted = answer.map_err(|error| error.context(format!("letter for house {}", house.number)))?;
        letters.push(Letter { house: house.number.clone(), letter: posted.letter });
    }
    let minutes = round.houses.iter().map(|house| house.flues * 25).sum();
    events::emit("chimney-round-announced", &json!({ "letters": letters.len(), "minutes": minutes }))?;
    Ok(Announced { letters, minutes })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Chimney.Announce", announce)
            .describe("Announces the round of the chimney sweep to each house of a district.")
            .determinism(Determinism::External)
            .effects([Effect::ExternalSend]),
    ],
}
