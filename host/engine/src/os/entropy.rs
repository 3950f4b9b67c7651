//! The only module that reads random bytes from the operating system.

/// Source of random bytes.
pub trait Entropy: Send + Sync {
    /// Fills `bytes` with random bytes.
    fn fill(&self, bytes: &mut [u8]);
}

/// Random generator of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        fill(bytes);
    }
}

/// Fills `bytes` from the random generator of the operating system.
///
/// # Panics
/// The system has no random generator, so seeds and ids cannot be created.
#[expect(clippy::disallowed_methods, reason = "this is the place that draws it")]
pub fn fill(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the operating system has a random number generator");
}

/// Returns `N` random bytes for a seed or a nonce.
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    fill(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_bytes_differ() {
        assert_ne!(bytes::<32>(), bytes::<32>());
    }
}
