//! `Puppet.Cast`: draws the players of a puppet play by lot and asks a model for the voice of each role.

use std::collections::{HashMap, HashSet};

use latchwork_guest::{Determinism, Error, log, rng, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const ROUNDS: u32 = 3;
const DEFAULT_VOICE: &str = "plain";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Play {
    play: String,
    roles: Vec<String>,
    players: Vec<String>,
}

#[derive(Deserialize)]
struct Suggestion {
    voice: String,
}

#[derive(Serialize, JsonSchema)]
struct Cast {
    play: String,
    parts: Vec<Part>,
    /// The players without a role are in the order of the input.
    prompters: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Part {
    role: String,
    player: String,
    voice: String,
}

fn cast(input: Play, context: &step::Context) -> Result<Cast, Error> {
    if input.roles.is_empty() || input.roles.len() > 20 || input.players.len() > 60 {
        return Err(Error::invalid_input("a play has 1 to 20 roles and at most 60 players"));
    }
    let distinct = |names: &[String]| names.iter().collect::<HashSet<_>>().len() == names.len();
    if !distinct(&input.roles) || !distinct(&input.players) {
        return Err(Error::invalid_input("a role or a player is listed twice"));
    }
    if input.players.len() < input.roles.len() {
        return Err(Error::invalid_input("there are fewer players than roles"));
    }
    log::info!("casting {} for job {}", input.play, context.job_id());

    let mut drawn: Vec<&String> = input.players.iter().collect();
    shuffle(&mut drawn);
    let players: HashMap<&String, &String> = input.roles.iter().zip(drawn).collect();

    // The map is only asked by its keys. The parts are in the order of the roles.
    let mut parts = Vec::new();
    for role in &input.roles {
        let voice = voice(&input.play, role)?;
        parts.push(Part { role: role.clone(), player: players[role].clone(), voice });
    }
    let acting: HashSet<&String> = players.values().copied().collect();
    let prompters = input.players.iter().filter(|player| !acting.contains(player)).cloned().collect();
    Ok(Cast { play: input.play, parts, prompters })
}

/// Shuffles the list with the random numbers of the step.
fn shuffle<T>(list: &mut [T]) {
    for last in (1..list.len()).rev() {
        list.swap(last, rng::below(last as u32 + 1) as usize);
    }
}

/// Asks for a voice in at most three rounds. An error in the last round is the error of the step.
fn voice(play: &str, role: &str) -> Result<String, Error> {
    for round in 1..=ROUNDS {
        let args = json!({ "play": play, "role": role, "round": round });
        match tools::call::<_, Suggestion>("Voice.Suggest", &args) {
            Ok(suggestion) if !suggestion.voice.trim().is_empty() => return Ok(suggestion.voice.trim().to_owned()),
            Ok(_) => log::warn!("no voice for {role} in round {round}"),
            Err(error) if round == ROUNDS => return Err(error.context(format!("voice of {role}"))),
            Err(error) => log::warn!("round {round} for {role}: {error}"),
        }
    }
    Ok(DEFAULT_VOICE.to_owned())
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Puppet.Cast", cast)
            .describe("Draws the players of a puppet play by lot and asks for the voices.")
            .determinism(Determinism::Stable),
    ],
}
