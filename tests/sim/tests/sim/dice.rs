//! Random numbers that are determined by a seed.

use std::sync::Mutex;

use latchwork_core::encoding::rng::StepRng;

/// One random stream. All parts of the simulation draw from it in the order in which things happen.
pub(crate) struct Dice(Mutex<StepRng>);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(Mutex::new(StepRng::new(bytes)))
    }

    /// Returns a uniformly distributed number in `0..bound`.
    pub(crate) fn below(&self, bound: u32) -> u32 {
        self.0.lock().expect("no holder panics").below(bound)
    }

    /// Returns true one time in `n`, and never if `n` is 0.
    pub(crate) fn one_in(&self, n: u32) -> bool {
        n > 0 && self.below(n) == 0
    }

    /// Returns a uniformly distributed number in `from..to`.
    pub(crate) fn between(&self, from: u32, to: u32) -> u32 {
        from + self.below(to - from)
    }

    pub(crate) fn pick<'a, T>(&self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u32) as usize]
    }

    pub(crate) fn number(&self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    pub(crate) fn bytes<const N: usize>(&self) -> [u8; N] {
        let drawn = self.0.lock().expect("no holder panics").bytes(N);
        drawn.try_into().expect("as many as were asked for")
    }
}
