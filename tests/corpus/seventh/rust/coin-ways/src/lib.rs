//! Counts the ways to pay amounts with the coins of a currency.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Question {
    coins: Vec<u32>,
    amounts: Vec<u32>,
}

#[derive(Serialize, JsonSchema)]
struct Ways {
    amount: u32,
    /// The number as a text, because it can be large.
    ways: String,
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    coins: Vec<u32>,
    answers: Vec<Ways>,
}

const LARGEST: u32 = 5_000;
const KINDS: usize = 8;

thread_local! {
    /// Tables by the sorted coins that they belong to.
    static TABLES: RefCell<HashMap<Vec<u32>, Rc<[u128]>>> = RefCell::default();
}

/// Number of ways for each amount up to the largest.
fn table(coins: &[u32]) -> Rc<[u128]> {
    TABLES.with_borrow_mut(|tables| {
        let known = tables.entry(coins.to_vec()).or_insert_with(|| {
            let mut ways = vec![0_u128; LARGEST as usize + 1];
            ways[0] = 1;
            for &coin in coins {
                for amount in coin as usize..ways.len() {
                    ways[amount] += ways[amount - coin as usize];
                }
            }
            ways.into()
        });
        Rc::clone(known)
    })
}

fn count(question: Question, _: &step::Context) -> Result<Answer, Error> {
    let kinds: HashSet<u32> = question.coins.into_iter().collect();
    if kinds.is_empty() || kinds.len() > KINDS || kinds.contains(&0) {
        return Err(Error::invalid_input(format!("give 1 to {KINDS} kinds of coins above 0")));
    }
    if let Some(amount) = question.amounts.iter().find(|amount| **amount > LARGEST) {
        return Err(Error::invalid_input(format!("{amount} is more than {LARGEST}")));
    }
    let mut coins: Vec<u32> = kinds.into_iter().collect();
    coins.sort_unstable();
    let answers = question
        .amounts
        .into_iter()
        .map(|amount| Ways { amount, ways: table(&coins)[amount as usize].to_string() })
        .collect();
    Ok(Answer { coins, answers })
}

latchwork_guest::export_step! {
    version: "0.1.0",
    operators: [
        step::operator("Coin.Count", count).describe("Counts the ways to pay amounts with coins."),
    ],
}
