//! `Street.Walks`: counts the shortest walks through a grid of streets in which some crossings are closed.

use std::cell::RefCell;
use std::collections::HashMap;

use latchwork_guest::{Determinism, Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most blocks in one direction.
const BLOCKS_MAX: u32 = 60;
/// Most closed crossings.
const CLOSED_MAX: usize = 300;

thread_local! {
    /// Ways to choose `k` of `n` blocks, by `n` and `k`.
    static CHOICES: RefCell<HashMap<(u32, u32), u128>> = RefCell::new(HashMap::new());
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Grid {
    /// Blocks from the start to the end, to the east.
    east: u32,
    /// Blocks from the start to the end, to the north.
    north: u32,
    /// Closed crossings, as blocks to the east and to the north of the start.
    #[serde(default)]
    closed: Vec<(u32, u32)>,
}

#[derive(Serialize, JsonSchema)]
struct Walks {
    /// Number of shortest walks, in decimal digits.
    walks: String,
    /// Closed crossings between the start and the end, in order, with the walks that reach them without meeting another
    /// closed crossing before.
    lost: Vec<Lost>,
}

#[derive(Serialize, JsonSchema)]
struct Lost {
    east: u32,
    north: u32,
    walks: String,
}

fn count(grid: Grid, _: &step::Context) -> Result<Walks, Error> {
    if grid.east > BLOCKS_MAX || grid.north > BLOCKS_MAX {
        return Err(Error::invalid_input(format!("a side has at most {BLOCKS_MAX} blocks")));
    }
    if grid.closed.len() > CLOSED_MAX {
        return Err(Error::invalid_input(format!("closed: more than {CLOSED_MAX} crossings")));
    }
    let end = (grid.east, grid.north);
    let mut closed = grid.closed;
    closed.retain(|(east, north)| *east <= end.0 && *north <= end.1);
    closed.sort_unstable();
    closed.dedup();
    if closed.contains(&(0, 0)) || closed.contains(&end) {
        return Err(Error::invalid_input("closed: the start and the end have to be open"));
    }
    // Walks that reach each closed crossing without a closed crossing before it.
    let mut first: Vec<u128> = Vec::with_capacity(closed.len());
    for (index, &crossing) in closed.iter().enumerate() {
        let met: u128 = (0..index).map(|earlier| first[earlier] * between(closed[earlier], crossing)).sum();
        first.push(between((0, 0), crossing) - met);
    }
    let met: u128 = closed.iter().zip(&first).map(|(&crossing, &walks)| walks * between(crossing, end)).sum();
    let lost = closed.iter().zip(&first).map(|(&(east, north), &walks)| Lost { east, north, walks: walks.to_string() });
    Ok(Walks { walks: (between((0, 0), end) - met).to_string(), lost: lost.collect() })
}

/// Number of shortest walks between two crossings of the open grid. 0 if the second is not to the north-east.
fn between(from: (u32, u32), to: (u32, u32)) -> u128 {
    match (to.0.checked_sub(from.0), to.1.checked_sub(from.1)) {
        (Some(east), Some(north)) => choices(east + north, east),
        _ => 0,
    }
}

/// Number of ways to choose `k` of `n`.
fn choices(n: u32, k: u32) -> u128 {
    if k == 0 || k == n {
        return 1;
    }
    if let Some(known) = CHOICES.with_borrow(|known| known.get(&(n, k)).copied()) {
        return known;
    }
    let number = choices(n - 1, k - 1) + choices(n - 1, k);
    CHOICES.with_borrow_mut(|known| known.insert((n, k), number));
    number
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Street.Walks", count)
            .describe("Counts the shortest walks through a grid of streets.")
            .determinism(Determinism::Pure),
    ],
}
