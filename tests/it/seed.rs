//! Random choices that follow from a number: `LATCH_TEST_SEED`, else always the same one.
//! With `LATCH_TEST_SWEEP` nothing is left to chance: tests that draw a sample take everything.

use latchwork_core::rng::StepRng;

/// Both commit modes.
pub(crate) const COMMITS: [&str; 2] = ["atomic", "staged"];

/// The generator of a seed.
pub(crate) fn dice(seed: u64) -> StepRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    StepRng::new(bytes)
}

/// A number from the environment.
pub(crate) fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// The seed of this run: the same each time, unless the environment gives one.
#[expect(clippy::print_stdout, reason = "what repeats a run is told")]
pub(crate) fn seed() -> u64 {
    let seed = number("LATCH_TEST_SEED", 1);
    println!("LATCH_TEST_SEED={seed}");
    seed
}

/// The commit mode that a seed draws.
#[expect(clippy::print_stdout, reason = "what a run was is told")]
pub(crate) fn commit(seed: u64) -> &'static str {
    let commit = COMMITS[dice(seed).below(2) as usize];
    println!("commit = {commit:?}");
    commit
}

/// Whether everything is to be tried that a test would take a sample of.
pub(crate) fn sweeps() -> bool {
    std::env::var_os("LATCH_TEST_SWEEP").is_some()
}

/// In an order of chance.
pub(crate) fn shuffled<T>(mut things: Vec<T>, dice: &mut StepRng) -> Vec<T> {
    for at in (1..things.len()).rev() {
        things.swap(at, dice.below(at as u32 + 1) as usize);
    }
    things
}
