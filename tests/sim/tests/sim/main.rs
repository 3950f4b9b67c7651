//! Deterministic simulation of several production workers that use the in-memory store, in one thread and under
//! simulated time.
//!
//! Processes die at every statement, or are paused past their lease and continue. Requests and answers are
//! lost and reordered. Tools fail in every possible way. People cancel, signal, approve and decide. A seed
//! determines the whole run.
//!
//! `LATCH_TEST_SEED` repeats one seed and prints its trace. `LATCH_TEST_SEEDS` sets the number of seeds. See
//! `docs/internals/simulation.md`.

#![expect(clippy::print_stdout, reason = "the output shows how to repeat a run")]

mod cases;
mod check;
mod dice;
mod event_counts;
mod faults;
mod plans;
mod run;
mod simulation;
mod traces;
mod workers;
mod world;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::event_counts::EventCounts;

/// Default number of seeds.
const SEEDS: u64 = 1_500;

/// One of the default seeds in this many is run twice.
const RUN_TWICE_ONE_IN: u64 = 10;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Runs the simulation of a seed and returns its problem, if any. If `is_run_twice`, a second run must be identical.
/// Adds the tally of the first run to `tally`.
fn problem(seed: u64, is_run_twice: bool, tally: &EventCounts) -> Option<String> {
    let ran = run::run_seed(seed);
    if is_run_twice {
        let again = run::run_seed(seed);
        if ran.hash() != again.hash() {
            return Some(format!("two runs of seed {seed} differ: {}", run::difference(&ran.trace, &again.trace)));
        }
    }
    tally.add(&ran.tally);
    let wrong = ran.violation.map(|wrong| format!("seed {seed}, {wrong}"));
    if let Some(wrong) = &wrong {
        println!("{wrong}");
    }
    wrong
}

/// Returns the problems of the first `seeds` seeds. Uses as many threads as there are processors.
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

/// I1, I2, I14, I101, I102, I103, I104, I106, I171, I192: two runs of a seed are identical. No run violates a guarantee
/// in its world or its stores. Each fault and each recovery occurs at least once over all seeds.
#[test]
fn simulated_workers_keep_all_promises_under_faults() {
    if let Some(seed) = number("LATCH_TEST_SEED") {
        let ran = run::run_seed(seed);
        println!("{}{}", ran.trace, ran.tally.lines());
        assert_eq!(problem(seed, true, &EventCounts::default()), None);
        return;
    }
    let (chosen, tally) = (number("LATCH_TEST_SEEDS"), EventCounts::default());
    let seeds = chosen.unwrap_or(SEEDS);
    let is_run_twice = |seed: u64| chosen.is_some() || seed.is_multiple_of(RUN_TWICE_ONE_IN);
    let problems = of_all(seeds, |seed| problem(seed, is_run_twice(seed), &tally));
    println!("{}", tally.lines());
    assert!(problems.is_empty(), "{} of {seeds} seeds (LATCH_TEST_SEED): {problems:#?}", problems.len());
    if seeds >= SEEDS {
        let missing = check::coverage::uncovered(&tally);
        assert!(missing.is_empty(), "{seeds} seeds did not reach {missing:?}");
    }
}
