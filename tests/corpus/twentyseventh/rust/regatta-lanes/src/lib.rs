//! Draws the lanes of a regatta's heats. The draw is public: its numbers follow from the words that the umpire reads out
//! before it, so every club can repeat it at home.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Entries {
    /// Words of the umpire.
    words: String,
    lanes: usize,
    crews: Vec<Crew>,
}

#[derive(Clone, Deserialize, JsonSchema)]
struct Crew {
    name: String,
    club: String,
    /// Best time of the season over 1000 m. None for a crew without one.
    seconds: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
struct Draw {
    /// Number of the draw, as text, because it has 64 bits.
    number: String,
    heats: Vec<Vec<Place>>,
    /// Numbers of crews by club.
    clubs: BTreeMap<String, usize>,
}

#[derive(Serialize, JsonSchema)]
struct Place {
    lane: usize,
    crew: String,
    handicap_seconds: f64,
}

thread_local! {
    /// Handicaps by time. Many crews share one, and the series is long.
    static HANDICAPS: RefCell<HashMap<u64, f64>> = RefCell::default();
}

/// Handicap of a crew that is this much slower than the fastest: a decreasing share of each further second.
fn handicap(behind: f64) -> f64 {
    HANDICAPS.with_borrow_mut(|known| {
        *known.entry(behind.to_bits()).or_insert_with(|| {
            let series: f64 = (1..=200).map(|n| (-0.1 * f64::from(n)).exp() * (behind / f64::from(n)).min(1.0)).sum();
            (series * 100.0).round() / 100.0
        })
    })
}

/// FNV-1a, 64 bits.
fn number(words: &str) -> u64 {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    words.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// SplitMix64 by Sebastiano Vigna.
struct Lots(u64);

impl Lots {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = (u128::from(self.next()) * (last as u128 + 1) >> 64) as usize;
            items.swap(last, other);
        }
    }
}

fn draw(entries: Entries, _: &step::Context) -> Result<Draw, Error> {
    if !(2..=12).contains(&entries.lanes) || entries.crews.is_empty() || entries.words.trim().is_empty() {
        return Err(Error::invalid_input("a draw has words, crews, and 2 to 12 lanes"));
    }
    let mut names = HashSet::new();
    for crew in &entries.crews {
        if !names.insert(crew.name.as_str()) {
            return Err(Error::invalid_input(format!("the crew {} is entered twice", crew.name)));
        }
        if crew.seconds.is_some_and(|seconds| !(120.0..=900.0).contains(&seconds)) {
            return Err(Error::invalid_input(format!("the time of {} is no time over 1000 m", crew.name)));
        }
    }
    let mut clubs: HashMap<&str, usize> = HashMap::new();
    for crew in &entries.crews {
        *clubs.entry(crew.club.as_str()).or_default() += 1;
    }
    let number = number(&entries.words);
    let mut lots = Lots(number);

    // The fastest crews are spread over the heats. Crews with equal times, or without one, go by lot.
    let mut crews = entries.crews.clone();
    lots.shuffle(&mut crews);
    let time = |crew: &Crew| crew.seconds.unwrap_or(f64::INFINITY);
    crews.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let fastest = crews.iter().find_map(|crew| crew.seconds);
    let count = crews.len().div_ceil(entries.lanes);
    let mut heats: Vec<Vec<Crew>> = vec![Vec::new(); count];
    for (at, crew) in crews.into_iter().enumerate() {
        let (round, place) = (at / count, at % count);
        heats[if round % 2 == 0 { place } else { count - 1 - place }].push(crew);
    }
    let heats = heats.into_iter().map(|mut heat| {
        lots.shuffle(&mut heat);
        let places = heat.into_iter().enumerate().map(|(at, crew)| Place {
            lane: at + 1,
            handicap_seconds: crew.seconds.zip(fastest).map_or(0.0, |(own, best)| handicap(own - best)),
            crew: crew.name,
        });
        places.collect()
    });
    Ok(Draw {
        number: number.to_string(),
        heats: heats.collect(),
        clubs: clubs.into_iter().map(|(club, crews)| (club.to_owned(), crews)).collect(),
    })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [step::operator("Regatta.Draw", draw).describe("Draws the lanes of a regatta's heats.")],
}
