//! Draws who is on call on each day of a sprint, so that a person has no two days in a row.

use latchwork_guest::{Determinism, Error, clock, events, log, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Team {
    people: Vec<String>,
    days: usize,
}

#[derive(Serialize, JsonSchema)]
struct Rota {
    id: String,
    drawn_at: String,
    days: Vec<String>,
    mean_days: f64,
}

/// Largest number of draws for one day. After that the next person in the list serves.
const DRAWS: usize = 20;

fn draw(team: Team, context: &step::Context) -> Result<Rota, Error> {
    let people = team.people.len();
    if !(2..=100).contains(&people) || !(1..=60).contains(&team.days) {
        return Err(Error::invalid_input("a rota needs 2 to 100 people and 1 to 60 days"));
    }
    let started = clock::now();
    let mut last: Option<usize> = None;
    let mut days = Vec::with_capacity(team.days);
    for _ in 0..team.days {
        let mut drawn = rng::below(people as u32) as usize;
        let mut draws = 1;
        while Some(drawn) == last && draws < DRAWS {
            drawn = rng::below(people as u32) as usize;
            draws += 1;
        }
        if Some(drawn) == last {
            drawn = (drawn + 1) % people;
        }
        last = Some(drawn);
        days.push(team.people[drawn].clone());
    }
    log::info!("drawn for {} in job {}, {} days", context.actor(), context.job_id(), days.len());
    events::emit("rota-drawn", &json!({ "days": days.len(), "first": days.first() }))?;
    Ok(Rota { id: rng::uuid(), drawn_at: started.to_string(), days, mean_days: team.days as f64 / people as f64 })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Rota.Draw", draw)
            .describe("Draws an on-call rota for a sprint.")
            .determinism(Determinism::Stable),
    ],
}
