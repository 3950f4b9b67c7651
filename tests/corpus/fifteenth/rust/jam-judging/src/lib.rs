//! Ranks the jars of a jam competition by the points of the judges.

use std::collections::BTreeSet;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Highest points for taste, set and look. The sum of the three is 100.
const TASTE_MAX: u32 = 40;
const SET_MAX: u32 = 30;
const LOOK_MAX: u32 = 30;

/// Points for jam from fruit of the maker's own garden.
const OWN_FRUIT: u32 = 5;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Table {
    class: String,
    jars: Vec<Jar>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Jar {
    number: u32,
    maker: String,
    taste: u32,
    set: u32,
    look: u32,
    #[serde(default)]
    own_fruit: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Medal {
    Gold,
    Silver,
    Bronze,
    None,
}

#[derive(Serialize, JsonSchema)]
struct Place {
    number: u32,
    maker: String,
    /// Score of the jar, from 0 to 100.
    #[schemars(range(min = 0, max = 100))]
    score: u32,
    medal: Medal,
}

#[derive(Serialize, JsonSchema)]
struct Ranking {
    class: String,
    places: Vec<Place>,
}

fn score(jar: &Jar) -> Result<u32, Error> {
    for (what, points, max) in
        [("taste", jar.taste, TASTE_MAX), ("set", jar.set, SET_MAX), ("look", jar.look, LOOK_MAX)]
    {
        if points > max {
            return Err(Error::invalid_input(format!("jar {}: {what} has {points} of {max} points", jar.number)));
        }
    }
    let bonus = if jar.own_fruit { OWN_FRUIT } else { 0 };
    Ok(jar.taste + jar.set + jar.look + bonus)
}

fn medal(score: u32) -> Medal {
    match score {
        90.. => Medal::Gold,
        80..90 => Medal::Silver,
        70..80 => Medal::Bronze,
        _ => Medal::None,
    }
}

fn rank(table: Table, _: &step::Context) -> Result<Ranking, Error> {
    let mut places = Vec::with_capacity(table.jars.len());
    let mut numbers = BTreeSet::new();
    for jar in table.jars {
        if !numbers.insert(jar.number) {
            return Err(Error::invalid_input(format!("jar {} is listed twice", jar.number)));
        }
        let score = score(&jar)?;
        places.push(Place { number: jar.number, maker: jar.maker, score, medal: medal(score) });
    }
    // Jars with equal scores share a place and are listed by their numbers.
    places.sort_by(|a, b| b.score.cmp(&a.score).then(a.number.cmp(&b.number)));
    Ok(Ranking { class: table.class, places })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Jam.Rank", rank)
            .describe("Ranks the jars of a class and awards medals.")
            .outcome("Review.Jam", "draft"),
    ],
}
