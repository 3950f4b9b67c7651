//! Random numbers of steps. Each step has one stream of bytes, which is the same in every try and replay.
//!
//! The mapping from seed to values is part of the determinism contract. A library computes ChaCha20 with 20 rounds,
//! the seed as key, block counter 0 and nonce 0. This module computes everything else.
//!
//! Every method takes the next bytes of the step's stream, and no byte is skipped. For example, `bytes(1)` followed by
//! `bytes(3)` returns the same bytes as `bytes(4)`.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Stream of random bytes of one step.
#[derive(Clone, Debug)]
pub struct StepRng {
    words: ChaCha20Rng,
    word: [u8; 4],
    /// Number of bytes at the end of `word` that are not yet used.
    left: usize,
}

impl StepRng {
    /// Creates the stream of `seed`, which is [`crate::model::keys::step_seed`].
    pub fn new(seed: [u8; 32]) -> Self {
        Self { words: ChaCha20Rng::from_seed(seed), word: [0; 4], left: 0 }
    }

    /// Returns the next `len` bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next_byte()).collect()
    }

    /// Returns the next four bytes as a little-endian number.
    pub fn next_u32(&mut self) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|_| self.next_byte()))
    }

    /// Returns a uniform number in `0..bound`. If `bound` is 0, returns 0 and takes nothing from the stream.
    ///
    /// Draws `x = next_u32()` until `x` is at least `2^32 mod bound`, and returns `x mod bound`. All results are
    /// equally likely, because the number of accepted values of `x` is a multiple of `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        if bound == 0 {
            return 0;
        }
        loop {
            if let Some(answer) = reduce(self.next_u32(), bound) {
                return answer;
            }
        }
    }

    fn next_byte(&mut self) -> u8 {
        if self.left == 0 {
            self.word = self.words.next_u32().to_le_bytes();
            self.left = 4;
        }
        self.left -= 1;
        self.word[3 - self.left]
    }
}

/// Returns `x mod bound`, or `None` if `x` is below `2^32 mod bound`. Accepting these small values would make some
/// results more likely.
fn reduce(x: u32, bound: u32) -> Option<u32> {
    let surplus = bound.wrapping_neg() % bound;
    (x >= surplus).then_some(x % bound)
}

#[cfg(test)]
mod tests;
