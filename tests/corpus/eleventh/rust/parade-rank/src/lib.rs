use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Parade {
    /// Names of the floats, in their order of start.
    floats: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Rank {
    floats: usize,
    /// Number of this order in the list of all orders, from 0. The stewards restore the order from it.
    rank: u64,
    last: u64,
}

/// 20! is the largest factorial that fits into 64 bits.
const MOST_FLOATS: usize = 20;

fn factorial(n: usize) -> u64 {
    (1..=n as u64).product()
}

fn rank(parade: Parade, _: &step::Context) -> Result<Rank, Error> {
    let count = parade.floats.len();
    if count == 0 || count > MOST_FLOATS {
        return Err(Error::invalid_input(format!("a parade has 1 to {MOST_FLOATS} floats")));
    }
    let mut left = parade.floats.clone();
    left.sort();
    left.dedup();
    if left.len() != count {
        return Err(Error::invalid_input("two floats have the same name"));
    }
    let mut rank = 0;
    for float in &parade.floats {
        let Some(at) = left.iter().position(|name| name == float) else { continue };
        left.remove(at);
        rank += at as u64 * factorial(left.len());
    }
    Ok(Rank { floats: count, rank, last: factorial(count) - 1 })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("ParadeRank.Compute", rank).describe("Computes the number of the order of the floats of a parade."),
    ],
}
