//! `Tandem.Pair`: pairs the riders of a tandem tour by chance, each with a rider of the same level.

use std::collections::{HashMap, HashSet};

use latchwork_guest::{Determinism, Error, log, rng, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest name on the tag of a tandem, in characters.
const TAG_CHARS: usize = 12;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tour {
    riders: Vec<Rider>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Rider {
    name: String,
    /// Level, such as `gentle` or `sporty`.
    level: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Tandem {
    level: String,
    front: String,
    back: String,
    /// Text of the tag at the handlebar.
    tag: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Pairs {
    tandems: Vec<Tandem>,
    /// Riders who have no partner of their level.
    alone: Vec<String>,
    /// Ticket of the draw, as 16 hexadecimal digits.
    ticket: String,
}

/// Cuts a name for a tag.
fn short(name: &str) -> String {
    name.chars().take(TAG_CHARS).collect()
}

fn pair(tour: Tour, _: &step::Context) -> Result<Pairs, Error> {
    let mut names = HashSet::new();
    for rider in &tour.riders {
        if rider.name.trim().is_empty() || !names.insert(rider.name.as_str()) {
            return Err(Error::invalid_input(format!("the name {:?} is empty or occurs twice", rider.name)));
        }
    }
    let mut ticket: u64 = 0xcbf2_9ce4_8422_2325;
    let lots = rng::bytes(tour.riders.len() * 4);
    for byte in &lots {
        ticket = (ticket ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }

    let mut levels: HashMap<&str, Vec<(&[u8], &str)>> = HashMap::new();
    for (rider, lot) in tour.riders.iter().zip(lots.chunks_exact(4)) {
        levels.entry(rider.level.as_str()).or_default().push((lot, rider.name.as_str()));
    }
    let mut levels: Vec<_> = levels.into_iter().collect();
    levels.sort_unstable_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(b.0)));

    let (mut tandems, mut alone) = (Vec::new(), Vec::new());
    for (level, mut riders) in levels {
        riders.sort_unstable();
        for two in riders.chunks(2) {
            match two {
                [(_, front), (_, back)] => tandems.push(Tandem {
                    level: level.to_owned(),
                    tag: format!("{} + {}", short(front), short(back)),
                    front: (*front).to_owned(),
                    back: (*back).to_owned(),
                }),
                rest => alone.extend(rest.iter().map(|(_, name)| (*name).to_owned())),
            }
        }
    }
    log::info!("{} tandems, {} riders alone", tandems.len(), alone.len());
    Ok(Pairs { tandems, alone, ticket: format!("{ticket:016x}") })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Tandem.Pair", pair)
            .describe("Pairs the riders of a tandem tour by chance within their levels.")
            .determinism(Determinism::Stable),
    ],
}
