//! `Choir.Seat`: draws the places of singers for a rehearsal, each voice in its own block.

use std::collections::{BTreeMap, HashSet};

use latchwork_guest::{Determinism, Error, clock, log, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// More singers than this do not fit on the stage.
const STAGE: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Singer {
    name: String,
    voice: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Choir {
    singers: Vec<Singer>,
    /// Singers who keep the first places of their voice.
    #[serde(default)]
    leaders: Vec<String>,
    /// Seats of a row, 1 to 40.
    row: u8,
}

#[derive(Serialize, JsonSchema)]
struct Plan {
    id: String,
    drawn_on: String,
    voices: BTreeMap<String, Vec<Vec<String>>>,
}

/// Shuffles as Fisher and Yates describe it.
fn shuffle(names: &mut [String]) {
    for last in (1..names.len()).rev() {
        let bound = u32::try_from(last + 1).unwrap_or(u32::MAX);
        names.swap(last, rng::below(bound) as usize);
    }
}

fn seat(choir: Choir, _: &step::Context) -> Result<Plan, Error> {
    if choir.singers.len() > STAGE || !(1..=40).contains(&choir.row) {
        return Err(Error::invalid_input(format!("at most {STAGE} singers, in rows of 1 to 40")));
    }
    let leaders: HashSet<&str> = choir.leaders.iter().map(String::as_str).collect();
    let mut seen = HashSet::new();
    let mut voices: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for singer in &choir.singers {
        if !seen.insert(singer.name.as_str()) {
            return Err(Error::invalid_input(format!("{} is listed twice", singer.name)));
        }
        voices.entry(singer.voice.clone()).or_default().push(singer.name.clone());
    }
    let mut plan = BTreeMap::new();
    for (voice, mut names) in voices {
        shuffle(&mut names);
        // A stable sort: the leaders first, the others in the drawn order.
        names.sort_by_key(|name| !leaders.contains(name.as_str()));
        plan.insert(voice, names.chunks(usize::from(choir.row)).map(<[String]>::to_vec).collect());
    }
    let (year, month, day) = clock::now().date();
    log::info!("{} singers seated", choir.singers.len());
    Ok(Plan { id: rng::uuid(), drawn_on: format!("{year:04}-{month:02}-{day:02}"), voices: plan })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Choir.Seat", seat)
            .describe("Draws the places of singers for a rehearsal.")
            .determinism(Determinism::Stable),
    ],
}
