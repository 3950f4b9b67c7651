//! The random numbers of steps: one stream of bytes per step, the same for every try and replay.
//!
//! The mapping from seed to values is part of the determinism contract, so nothing here is left
//! to a library's choice but ChaCha20 itself: 20 rounds, key = seed, block counter and nonce 0.
//! Every method takes the next bytes of that one stream, and no byte is ever skipped:
//! `bytes(1)` then `bytes(3)` gives what `bytes(4)` gives.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// A step's stream of random bytes.
#[derive(Clone, Debug)]
pub struct StepRng {
    words: ChaCha20Rng,
    word: [u8; 4],
    /// How many bytes at the end of `word` are not taken yet.
    left: usize,
}

impl StepRng {
    /// The stream of `seed`, which is [`crate::keys::step_seed`].
    pub fn new(seed: [u8; 32]) -> Self {
        Self { words: ChaCha20Rng::from_seed(seed), word: [0; 4], left: 0 }
    }

    /// The next `len` bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next_byte()).collect()
    }

    /// The next four bytes, little endian.
    pub fn next_u32(&mut self) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|_| self.next_byte()))
    }

    /// Uniform in `0..bound`; 0 where `bound` is 0, which takes nothing from the stream.
    ///
    /// `x = next_u32()` is drawn until it is at least `2^32 mod bound`, and `x mod bound` is the
    /// answer: what is left of the range is a multiple of `bound`, so every answer is as likely.
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

/// `x mod bound`, unless `x` is one of the `2^32 mod bound` values that would favour some answers.
fn reduce(x: u32, bound: u32) -> Option<u32> {
    let surplus = bound.wrapping_neg() % bound;
    (x >= surplus).then_some(x % bound)
}

#[cfg(test)]
mod tests;
