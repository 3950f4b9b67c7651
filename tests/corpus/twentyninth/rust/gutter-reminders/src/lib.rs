//! Reminds the residents of an estate of the cleaning of their gutters.

use std::collections::HashSet;

use latchwork_guest::{Determinism, Effect, Error, clock, events, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Round {
    #[schemars(range(min = 2000, max = 2999))]
    year: u16,
    season: Season,
    #[schemars(length(min = 1, max = 200))]
    houses: Vec<House>,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Season {
    Spring,
    Autumn,
}

impl Season {
    fn name(self) -> &'static str {
        match self {
            Season::Spring => "spring",
            Season::Autumn => "autumn",
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct House {
    /// House, such as `14b`.
    #[schemars(length(min = 1, max = 20))]
    house: String,
    #[schemars(length(min = 1, max = 120))]
    to: String,
    /// Day of the cleaning, as the resident reads it.
    #[schemars(length(min = 1, max = 60))]
    day: String,
}

#[derive(Serialize, JsonSchema)]
struct Reminded {
    sent: Vec<String>,
    failed: Vec<Failed>,
    ended_at: String,
}

#[derive(Serialize, JsonSchema)]
struct Failed {
    house: String,
    /// Code of the last failure.
    code: String,
}

fn remind(round: Round, _: &step::Context) -> Result<Reminded, Error> {
    let season = round.season.name();
    let mut keys = HashSet::new();
    let mut calls = Vec::with_capacity(round.houses.len());
    for House { house, to, day } in &round.houses {
        if !to.contains('@') {
            return Err(Error::invalid_input(format!("house {house} has no mail address")));
        }
        // Everything that the letter is made of. A corrected day or address is another reminder.
        let key = json!(["gutter-reminder", round.year, season, house, to, day]).to_string();
        if !keys.insert(key.clone()) {
            return Err(Error::invalid_input(format!("house {house} is listed twice")));
        }
        let letter = json!({
            "to": to,
            "subject": format!("Gutters in {season} {}", round.year),
            "text": format!("The gutters of house {house} will be cleaned on {day}. Please keep the side gate open."),
        });
        calls.push(tools::Call::new("Mail.Send", &letter).action_key(key));
    }
    let mut reminded = Reminded { sent: Vec::new(), failed: Vec::new(), ended_at: String::new() };
    // One refused letter is no reason to lose the record of the others.
    for (House { house, .. }, answer) in round.houses.iter().zip(tools::call_all::<Value>(calls)) {
        match answer {
            Ok(_) => reminded.sent.push(house.clone()),
            Err(error) => reminded.failed.push(Failed { house: house.clone(), code: format!("{:?}", error.code()) }),
        }
    }
    reminded.ended_at = clock::now().to_string();
    let (sent, failed) = (reminded.sent.len(), reminded.failed.len());
    log::info!("{sent} reminders sent, {failed} failed, until {}", reminded.ended_at);
    events::emit("gutter-round", &json!({ "year": round.year, "season": season, "sent": sent, "failed": failed }))?;
    Ok(reminded)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Gutter.Remind", remind)
            .describe("Reminds residents of the cleaning of their gutters, and names those that could not be reached.")
            .effects([Effect::ExternalSend])
            .determinism(Determinism::External),
    ],
}
