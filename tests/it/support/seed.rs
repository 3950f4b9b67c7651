//! Random choices derived from `LATCH_TEST_SEED`, or from a fixed default. With `LATCH_TEST_SWEEP`, tests
//! that draw a sample use every element instead.

use latchwork_core::encoding::rng::StepRng;

/// Both commit modes.
pub(crate) const COMMITS: [&str; 2] = ["atomic", "staged"];

/// Returns the random generator for this seed.
pub(crate) fn seeded_rng(seed: u64) -> StepRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    StepRng::new(bytes)
}

/// Returns a number from the environment, or the default.
pub(crate) fn number_from_env(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// Returns and prints the seed of this run. Without `LATCH_TEST_SEED`, the seed is constant.
#[expect(clippy::print_stdout, reason = "the seed is printed")]
pub(crate) fn run_seed() -> u64 {
    let seed = number_from_env("LATCH_TEST_SEED", 1);
    println!("LATCH_TEST_SEED={seed}");
    seed
}

/// Returns and prints the commit mode that the seed selects.
#[expect(clippy::print_stdout, reason = "the commit mode is printed")]
pub(crate) fn commit_of_seed(seed: u64) -> &'static str {
    let commit = COMMITS[seeded_rng(seed).below(2) as usize];
    println!("commit = {commit:?}");
    commit
}

/// Returns true if a test must use every element instead of a sample.
pub(crate) fn is_sweep() -> bool {
    std::env::var_os("LATCH_TEST_SWEEP").is_some()
}

/// Returns the elements in random order.
pub(crate) fn shuffled<T>(mut things: Vec<T>, dice: &mut StepRng) -> Vec<T> {
    for at in (1..things.len()).rev() {
        things.swap(at, dice.below(at as u32 + 1) as usize);
    }
    things
}

/// Halves of a list. The seed divides the list, and every element is in exactly one half.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Half {
    First,
    Second,
}

/// Returns one half of the elements, or in a sweep all of them. Two similar tests use one half each.
pub(crate) fn half_of<T>(things: impl IntoIterator<Item = T>, half: Half) -> Vec<T> {
    let all: Vec<T> = things.into_iter().collect();
    if is_sweep() {
        return all;
    }
    let middle = all.len() / 2;
    let mut first = shuffled(all, &mut seeded_rng(run_seed()));
    let second = first.split_off(middle);
    if half == Half::First { first } else { second }
}
