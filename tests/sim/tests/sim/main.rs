//! Deterministic simulation: the workers that ship, several of them, over the model of the store, in one
//! thread and under simulated time. Processes die at every statement, are paused past their lease and
//! come back; requests and answers get lost, and come in another order; tools fail in every way there is;
//! people cancel, signal, approve and decide. A seed says all of it.
//!
//! `LATCH_TEST_SEED` repeats one seed and shows what happened in it, `LATCH_TEST_SEEDS` says how many are
//! run. `docs/simulation.md` says more.

#![expect(clippy::print_stdout, reason = "what repeats a run is told")]

mod cases;
mod check;
mod dice;
mod floor;
mod link;
mod operators;
mod people;
mod plans;
mod plugins;
mod process;
mod record;
mod run;
mod scene;
mod shapes;
mod snapshot;
mod tally;
mod tamper;
mod tools;
mod traces;
mod weather;
mod workers;
mod world;
mod writer;

use std::sync::atomic::{AtomicU64, Ordering};

use tally::Tally;

/// How many seeds are run where nobody says otherwise.
const SEEDS: u64 = 3_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// What is wrong with a seed; its first run is counted.
fn problem(seed: u64, tally: &Tally) -> Option<String> {
    let (ran, again) = (run::seed(seed), run::seed(seed));
    if ran.hash() != again.hash() {
        return Some(format!("seed {seed} is not one run: {}", run::difference(&ran.trace, &again.trace)));
    }
    tally.add(&ran.tally);
    let wrong = ran.wrong.map(|wrong| format!("seed {seed}, {wrong}"));
    if let Some(wrong) = &wrong {
        println!("{wrong}");
    }
    wrong
}

/// The problems of so many seeds, found by as many threads as there are processors.
fn of_all(seeds: u64, problem: impl Fn(u64) -> Option<String> + Sync) -> Vec<String> {
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mine = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed < seeds));
        mine.filter_map(&problem).collect::<Vec<String>>()
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a run does not panic")).collect()
    })
}

/// I101, I102, I103, I106: a seed is one run; in each, the world and the stores hold what is promised; and each
/// fault and each way out of it was seen.
#[test]
fn workers_under_every_fault() {
    if let Some(seed) = number("LATCH_TEST_SEED") {
        let ran = run::seed(seed);
        println!("{}{}", ran.trace, ran.tally.lines());
        assert_eq!(problem(seed, &Tally::default()), None);
        return;
    }
    let (seeds, tally) = (number("LATCH_TEST_SEEDS").unwrap_or(SEEDS), Tally::default());
    let problems = of_all(seeds, |seed| problem(seed, &tally));
    println!("{}", tally.lines());
    assert!(problems.is_empty(), "{} of {seeds} seeds (LATCH_TEST_SEED): {problems:#?}", problems.len());
    if seeds >= SEEDS {
        let missing = floor::missing(&tally);
        assert!(missing.is_empty(), "in {seeds} seeds there was none of {missing:?}");
    }
}
