//! A message authentication code. Only a holder of the secret can create a valid code for given bytes.

use sha2::{Digest as _, Sha256};

/// Block size of SHA-256.
const BLOCK_BYTES: usize = 64;

/// HMAC-SHA-256 (RFC 2104) over the concatenated parts. If parts have variable lengths, the caller must make
/// sure that the concatenation is unambiguous.
pub(super) fn hmac_sha256(secret: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let pad = |byte: u8| {
        let mut block = [byte; BLOCK_BYTES];
        block.iter_mut().zip(secret).for_each(|(pad, secret)| *pad ^= secret);
        block
    };
    let inner = parts.iter().fold(Sha256::new_with_prefix(pad(0x36)), Sha256::chain_update).finalize();
    Sha256::new_with_prefix(pad(0x5c)).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_matches_rfc_4231() {
        // RFC 4231, test case 1. HMAC pads a shorter secret with zeros.
        let mut secret = [0; 32];
        secret[..20].fill(0x0b);
        let known = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
        assert_eq!(hex::encode(hmac_sha256(&secret, &[b"Hi ", b"There"])), known);
    }
}
