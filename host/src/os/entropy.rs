//! The one place that draws entropy.

/// Fill `bytes` from the operating system's generator.
///
/// # Panics
/// Where the system has no generator: nothing that needs a seed or an id can be made then.
#[expect(clippy::disallowed_methods, reason = "this is the place that draws it")]
pub fn fill(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the operating system has a random number generator");
}

/// `N` random bytes: a seed, a nonce.
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    fill(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_differ() {
        assert_ne!(bytes::<32>(), bytes::<32>());
    }
}
