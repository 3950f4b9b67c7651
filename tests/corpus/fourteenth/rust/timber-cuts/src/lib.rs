//! `Timber.Cut`: finds the cuts of a beam that give the most valuable boards.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

thread_local! {
    /// The table has numbers of patterns by rest of the beam and index of the first board. Each run clears the table first.
    static PATTERNS: RefCell<HashMap<(u32, usize), u128>> = RefCell::default();
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Beam {
    /// The beam has at most 6000 mm.
    beam_mm: u32,
    /// The saw takes at most 20 mm for each cut.
    kerf_mm: u32,
    boards: Vec<Board>,
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Board {
    /// The board has at least 50 mm.
    length_mm: u32,
    price_cents: u32,
}

#[derive(Serialize, JsonSchema)]
struct Plan {
    price_cents: u64,
    /// The number of boards that are cut is given for each length in mm.
    cuts: BTreeMap<u32, u32>,
    /// The number of different patterns counts the empty one too. It can be large and is therefore a text.
    patterns: String,
}

fn cut(input: Beam, _: &step::Context) -> Result<Plan, Error> {
    let lengths: BTreeSet<u32> = input.boards.iter().map(|board| board.length_mm).collect();
    if input.beam_mm > 6000 || input.kerf_mm > 20 || input.boards.is_empty() || input.boards.len() > 12 {
        return Err(Error::invalid_input("beam at most 6000 mm, kerf at most 20 mm, 1 to 12 boards"));
    }
    if lengths.len() != input.boards.len() {
        return Err(Error::invalid_input("a length of board is listed twice"));
    }
    if input.boards.iter().any(|board| !(50..=6000).contains(&board.length_mm) || board.price_cents > 1_000_000) {
        return Err(Error::invalid_input("a board has 50 to 6000 mm and costs at most 1000000 cents"));
    }
    let mut boards = input.boards;
    boards.sort_by_key(|board| board.length_mm);
    // The last board of a beam needs no cut, so the beam counts as longer by one kerf.
    let beam = input.beam_mm + input.kerf_mm;
    let needs: Vec<u32> = boards.iter().map(|board| board.length_mm + input.kerf_mm).collect();

    let (price_cents, cuts) = most_valuable(beam, &needs, &boards);
    PATTERNS.with_borrow_mut(HashMap::clear);
    Ok(Plan { price_cents, cuts, patterns: patterns(beam, &needs, 0).to_string() })
}

/// Finds the best price and the board that is cut last for each length of the beam. The shortest board wins a tie.
fn most_valuable(beam: u32, needs: &[u32], boards: &[Board]) -> (u64, BTreeMap<u32, u32>) {
    let mut best: Vec<(u64, Option<usize>)> = vec![(0, None); beam as usize + 1];
    for length in 1..best.len() {
        for (index, need) in needs.iter().enumerate() {
            let Some(rest) = length.checked_sub(*need as usize) else { break };
            let price = best[rest].0 + u64::from(boards[index].price_cents);
            if price > best[length].0 {
                best[length] = (price, Some(index));
            }
        }
    }
    let mut cuts = BTreeMap::new();
    let mut length = beam as usize;
    while let Some(index) = best[length].1 {
        *cuts.entry(boards[index].length_mm).or_insert(0) += 1;
        length -= needs[index] as usize;
    }
    (best[beam as usize].0, cuts)
}

/// Counts the patterns. The depth is at most 120 boards and 12 steps of the index, because a board has 50 mm.
fn patterns(rest: u32, needs: &[u32], first: usize) -> u128 {
    if first == needs.len() {
        return 1;
    }
    if let Some(known) = PATTERNS.with_borrow(|table| table.get(&(rest, first)).copied()) {
        return known;
    }
    let mut count = patterns(rest, needs, first + 1);
    if let Some(shorter) = rest.checked_sub(needs[first]) {
        count += patterns(shorter, needs, first);
    }
    PATTERNS.with_borrow_mut(|table| table.insert((rest, first), count));
    count
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [step::operator("Timber.Cut", cut).describe("Finds the most valuable cuts of a beam.")],
}
