//! Random bytes of the operating system.

/// Source of random bytes.
pub trait Entropy: Send + Sync {
    /// Fills `bytes` with random bytes.
    fn fill(&self, bytes: &mut [u8]);
}

/// Random generator of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    /// # Panics
    /// The system has no random generator. Without a random generator, no seed and no id can be created.
    #[expect(clippy::disallowed_methods, reason = "this is the place that draws it")]
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system has a random number generator");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_bytes_differ() {
        let draw = || {
            let mut bytes = [0; 32];
            SystemEntropy.fill(&mut bytes);
            bytes
        };
        assert_ne!(draw(), draw());
    }
}
