use latchwork_guest::{Determinism, Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Raffle {
    raffle: String,
    winners: usize,
    names: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Draw {
    seed: String,
    winners: Vec<String>,
}

/// FNV-1a over all texts, with a separator.
fn seed_of<'t>(texts: impl Iterator<Item = &'t str>) -> u64 {
    texts
        .flat_map(|text| text.bytes().chain([0]))
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The generator SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

fn draw(raffle: Raffle, _: &step::Context) -> Result<Draw, Error> {
    let mut names = raffle.names;
    names.sort();
    names.dedup();
    let seed = seed_of(std::iter::once(raffle.raffle.as_str()).chain(names.iter().map(String::as_str)));
    let mut random = Random(seed);
    for last in (1..names.len()).rev() {
        names.swap(last, (random.next() % (last as u64 + 1)) as usize);
    }
    names.truncate(raffle.winners);
    Ok(Draw { seed: format!("{seed:016x}"), winners: names })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Raffle.Draw", draw)
            .describe("Draws the winners of a raffle, repeatably for the same names.")
            .determinism(Determinism::Pure),
    ],
}
