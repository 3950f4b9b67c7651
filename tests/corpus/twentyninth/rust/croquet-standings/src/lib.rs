//! Standings of a croquet league, with a rating of each player.

use std::cell::RefCell;
use std::collections::HashMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const RATING_START: f64 = 1500.0;
const RATING_STEP: f64 = 24.0;

thread_local! {
    /// Expected score by difference of ratings. Many games have the same difference, and a power is slow.
    static EXPECTED: RefCell<HashMap<i64, f64>> = RefCell::new(HashMap::new());
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct League {
    /// Games in the order of play.
    #[schemars(length(min = 1, max = 500))]
    games: Vec<Game>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Game {
    #[schemars(length(min = 1, max = 60))]
    first: String,
    #[schemars(length(min = 1, max = 60))]
    second: String,
    /// Hoops of the first player, from 0 to 26.
    #[schemars(range(max = 26))]
    first_hoops: u8,
    /// Hoops of the second player, from 0 to 26.
    #[schemars(range(max = 26))]
    second_hoops: u8,
}

#[derive(Serialize, JsonSchema)]
struct Standings {
    rows: Vec<Row>,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    /// Equal rows have equal places.
    place: u32,
    player: String,
    games: u32,
    wins: u32,
    hoops: i32,
    /// Rating in tenths.
    rating: i64,
}

struct Player {
    games: u32,
    wins: u32,
    hoops: i32,
    rating: f64,
}

fn expected(difference: f64) -> f64 {
    let whole = difference.round() as i64;
    EXPECTED.with(|table| {
        *table.borrow_mut().entry(whole).or_insert_with(|| 1.0 / (1.0 + 10f64.powf(-(whole as f64) / 400.0)))
    })
}

fn standings(league: League, _: &step::Context) -> Result<Standings, Error> {
    let mut players: HashMap<&str, Player> = HashMap::new();
    for (game, number) in league.games.iter().zip(1..) {
        let (first, second) = (game.first.trim(), game.second.trim());
        if first.is_empty() || second.is_empty() {
            return Err(Error::invalid_input(format!("game {number} lacks a player")));
        }
        if first == second {
            return Err(Error::invalid_input(format!("game {number} has one player twice")));
        }
        if game.first_hoops == game.second_hoops {
            return Err(Error::invalid_input(format!("game {number} has no winner")));
        }
        let rating = |name: &str| players.get(name).map_or(RATING_START, |player| player.rating);
        let won = game.first_hoops > game.second_hoops;
        let gain = RATING_STEP * (f64::from(u8::from(won)) - expected(rating(first) - rating(second)));
        let margin = i32::from(game.first_hoops) - i32::from(game.second_hoops);
        for (name, won, margin, gain) in [(first, won, margin, gain), (second, !won, -margin, -gain)] {
            let player = players.entry(name).or_insert(Player { games: 0, wins: 0, hoops: 0, rating: RATING_START });
            player.games += 1;
            player.wins += u32::from(won);
            player.hoops += margin;
            player.rating += gain;
        }
    }
    let mut rows: Vec<Row> = players
        .into_iter()
        .map(|(name, player)| Row {
            place: 0,
            player: name.to_owned(),
            games: player.games,
            wins: player.wins,
            hoops: player.hoops,
            rating: (player.rating * 10.0).round() as i64,
        })
        .collect();
    // A name occurs once, so no two rows compare as equal.
    rows.sort_unstable_by(|a, b| b.wins.cmp(&a.wins).then(b.hoops.cmp(&a.hoops)).then_with(|| a.player.cmp(&b.player)));
    for index in 0..rows.len() {
        let tied = index > 0 && (rows[index].wins, rows[index].hoops) == (rows[index - 1].wins, rows[index - 1].hoops);
        rows[index].place = if tied { rows[index - 1].place } else { index as u32 + 1 };
    }
    Ok(Standings { rows })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Croquet.Standings", standings).describe("Works out the standings of a croquet league."),
    ],
}
