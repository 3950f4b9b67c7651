//! What a step finds: the same in every try of it.

use latchwork_core::rng::StepRng;

use super::StepContext;

/// A step's own conditions: whose it is, its clock and its random numbers. Whoever answers a step's
/// calls ([`StepCalls`](super::StepCalls)) has one.
#[derive(Clone, Debug)]
pub struct StepSources {
    /// Who asks, and for which job.
    pub context: StepContext,
    /// The step's clock, microseconds since 1970 UTC.
    pub now_us: i64,
    rng: StepRng,
}

impl StepSources {
    /// The sources of a step that started at `now_us`; the seed is
    /// [`step_seed`](latchwork_core::keys::step_seed).
    pub fn new(context: StepContext, seed: [u8; 32], now_us: i64) -> Self {
        Self { context, now_us, rng: StepRng::new(seed) }
    }

    /// An answer that was recorded at this time has reached the step.
    pub fn hear(&mut self, recorded_us: i64) {
        self.now_us = self.now_us.max(recorded_us);
    }

    /// The next random bytes.
    pub fn random(&mut self, buf: &mut [u8]) {
        buf.copy_from_slice(&self.rng.bytes(buf.len()));
    }

    /// The next random number.
    pub fn next_u32(&mut self) -> u32 {
        self.rng.next_u32()
    }

    /// A random number below `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.rng.below(bound)
    }
}
